import Coral
import GraphDocuments

/// Validates every object of a store, and groups the errors by property and reason.
struct ValueCheck {
    private let check: StoreCheck

    init(_ check: StoreCheck) { self.check = check }

    func problems(in context: NSManagedObjectContext, _ progress: Progress?) throws -> [StoreProblem] {
        try context.performAndWait {
            let model = context.persistentStoreCoordinator?.managedObjectModel ?? check.model
            let entities = model.entities.filter { !$0.isAbstract }
                .sorted { ($0.name ?? "") < ($1.name ?? "") }
            progress?.begin(try entities.reduce(0) { try $0 + count(of: $1, in: context) })
            // One plan describes the whole model and is used for all entities.
            let loader = try ObjectLoader(reading: model, in: context, batchSize: check.batchSize)
            var problems: [StoreProblem] = []
            for entity in entities { problems += try self.problems(of: entity, loader, progress) }
            return problems
        }
    }

    private func count(of entity: NSEntityDescription, in context: NSManagedObjectContext) throws -> Int {
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: entity.name ?? "")
        request.includesSubentities = false
        return try context.count(for: request)
    }

    private func problems(
        of entity: NSEntityDescription, _ loader: ObjectLoader, _ progress: Progress?
    ) throws -> [StoreProblem] {
        let ids = try loader.ids(of: entity)
        var found: [Reason: [String]] = [:]
        var counts: [Reason: Int] = [:]
        for start in stride(from: 0, to: ids.count, by: check.batchSize) {
            try autoreleasing {
                try progress?.checkCancelled()
                let batch = Array(ids[start..<min(start + check.batchSize, ids.count)])
                for object in try loader.objects(with: batch).compactMap({ $0 }) {
                    for reason in reasons(object) {
                        counts[reason, default: 0] += 1
                        if counts[reason, default: 0] <= 5 {
                            let name = "\(entity.name ?? "")/\(object.objectID.uriRepresentation().lastPathComponent)"
                            found[reason, default: []].append(name)
                        }
                    }
                    progress?.completedUnitCount += 1
                }
            }
            try loader.context.resetKeepingState()
        }
        return counts.sorted { ($0.key.property, $0.key.message) < ($1.key.property, $1.key.message) }.map {
            StoreProblem(
                code: .forbiddenValue, entity: entity.name ?? "",
                property: $0.key.property.isEmpty ? nil : $0.key.property, count: $0.value,
                examples: found[$0.key] ?? [], message: $0.key.message, isRepairable: false)
        }
    }

    private struct Reason: Hashable {
        var property: String
        var message: String
    }

    private func reasons(_ object: NSManagedObject) -> [Reason] {
        do {
            try object.validateForUpdate()
            return []
        } catch {
            let error = error as NSError
            let details = error.userInfo[NSDetailedErrorsKey] as? [any Error] ?? [error]
            return details.map { detail in
                let detail = detail as NSError
                let property = detail.userInfo[NSValidationKeyErrorKey] as? String ?? ""
                // The engine's messages name the object, which is removed so that equal errors are counted together.
                let name = "\(object.entity.name ?? "") \(object.objectID.uriRepresentation().absoluteString): "
                let message = detail.localizedDescription.replacingOccurrences(of: name, with: "")
                return Reason(property: property, message: message)
            }
        }
    }
}

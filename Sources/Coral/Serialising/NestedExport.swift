import CoreData
import GraphDocuments

/// Writes objects in the nested layout: each in full at its first occurrence, and as a reference afterwards.
///
/// Memory grows with the number of ids, not with the objects' values.
struct NestedExport {
    private let session: ExportSession
    private let loader: ObjectLoader
    private let state = State()

    /// The object IDs of the ids in records, and the ids that are written.
    private final class State {
        var ids: [RecordID: NSManagedObjectID] = [:]
        var written: Set<RecordID> = []
    }

    init(_ session: ExportSession, loader: ObjectLoader) {
        self.session = session
        self.loader = loader
    }

    /// Writes the roots that are not written yet, and the objects that they embed.
    mutating func write(_ roots: [NSManagedObjectID], to writer: inout any GraphWriter) throws {
        let names = session.recorder.names
        let plan = session.plan
        let walk = NestedWalk(
            depthLimit: plan.shape.depthLimit,
            embeds: { record, relationship in
                guard let entity = plan.model.entitiesByName[record.entity] else { return false }
                return (try? plan.plan(for: entity))?.relationships
                    .contains { $0.name == relationship.name && $0.isEmbedded } ?? false
            },
            willWrite: { [session] _ in try session.checkCancelled() })
        for start in stride(from: 0, to: roots.count, by: loader.batchSize) {
            let batch = Array(roots[start..<min(start + loader.batchSize, roots.count)])
            // Retains the objects while the walk uses them.
            let objects = try loader.objects(with: batch)
            for index in objects.indices where objects[index] == nil { try session.didMiss(batch[index]) }
            for id in batch { state.ids[names.name(of: id)] = id }
            _ = try walk.write(batch.map(names.name(of:)), schema: plan.schema, to: &writer, record: record)
            withExtendedLifetime(objects) {}
        }
    }

    /// The record of an id; nil if it is written already or the object does not exist.
    private func record(_ name: RecordID) throws -> GraphRecord? {
        guard !state.written.contains(name), let id = state.ids[name] else { return nil }
        guard let object = try loader.objects(with: [id]).first ?? nil else { return nil }
        let draft = try session.recorder.draft(of: object)
        var embedded: [NSManagedObjectID] = []
        for (relationship, targets) in zip(draft.entity.relationships, draft.targets) where relationship.isEmbedded {
            embedded += targets
        }
        // Loads all embedded objects with one fetch; the walk requests them one by one.
        let held = try loader.objects(with: embedded)
        defer { withExtendedLifetime(held) {} }
        guard let record = try session.records(of: [draft], with: loader).first else { return nil }
        for target in embedded { state.ids[session.recorder.names.name(of: target)] = target }
        state.ids[name] = nil
        state.written.insert(name)
        session.recorder.names.outside?.addMembers([id])
        session.didWrite(record)
        return record
    }
}

/// The order of the entities in a document.
struct EntityOrder {
    let plan: ShapePlan
    /// Nil for documents of other layouts.
    let plainLayout: PlainLayout?

    /// Whether the records of an entity precede those of another one: by name; in the plain layout, in the order of the layout.
    func comesBefore(_ left: String, _ right: String) -> Bool {
        guard let plainLayout else { return left < right }
        func position(_ name: String) -> Int { plainLayout.entities.firstIndex { $0.name == name } ?? .max }
        return (position(left), left) < (position(right), right)
    }

    /// The entities of a model that have rows of their own, in the order of their records.
    func storedEntities(of model: NSManagedObjectModel) -> [NSEntityDescription] {
        model.entities.filter { !$0.isAbstract && plan.includes($0) }
            .sorted { comesBefore($0.name ?? "", $1.name ?? "") }
    }

    /// Entities that no relationship embeds come first, so that embedded objects are nested inside their owners.
    func ownersFirst(_ entities: [NSEntityDescription]) throws -> [NSEntityDescription] {
        var owned: Set<String> = []
        for entity in entities {
            for relationship in try plan.plan(for: entity).relationships where relationship.isEmbedded {
                var pending = [entity.relationshipsByName[relationship.name]?.destinationEntity].compactMap { $0 }
                while let destination = pending.popLast() {
                    if destination !== entity { owned.insert(destination.name ?? "") }
                    pending += destination.subentities
                }
            }
        }
        return entities.filter { !owned.contains($0.name ?? "") } + entities.filter { owned.contains($0.name ?? "") }
    }
}

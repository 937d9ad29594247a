import CoreDataErrors
import Foundation
import FoundationAdditions

// Requests, which the store receives whole, and their results.

extension IncrementalStoreRows {
    /// The objects of a fetch, which the store creates in the requesting context.
    func objects(matching query: RowQuery) throws -> [NSManagedObject] {
        let context = try context()
        return try results(query, .managedObjectResultType).map { result in
            guard let object = result as? NSManagedObject, object.managedObjectContext === context else {
                throw unexpected(result, "objects of the requesting context")
            }
            return object
        }
    }

    func keys(matching query: RowQuery, generation: StoreGeneration?) throws -> [ObjectKey] {
        try results(query, .managedObjectIDResultType).map { result in
            guard let id = result as? NSManagedObjectID else { throw unexpected(result, "object IDs") }
            guard let key = store.key(of: id) else { throw wrongID(id) }
            return key
        }
    }

    func count(matching query: RowQuery, generation: StoreGeneration?) throws -> Int {
        let results = try results(query, .countResultType)
        switch results.first {
        case let number as NSNumber where results.count == 1: return number.intValue
        case let number as Int where results.count == 1: return number
        default: throw unexpected(results, "one number")
        }
    }

    func dictionaries(matching query: ValueQuery, generation: StoreGeneration?) throws -> [NSDictionary] {
        var dictionaries = RowDictionaries(of: query)
        for result in try results(query.query, .dictionaryResultType) {
            switch result {
            case let dictionary as [String: Any]: dictionaries.append(query.columns.map { dictionary[$0.name] })
            case let dictionary as NSDictionary: dictionaries.append(query.columns.map { dictionary[$0.name] })
            default: throw unexpected(result, "dictionaries")
            }
        }
        return dictionaries.dictionaries
    }

    private func results(_ query: RowQuery, _ type: NSFetchRequestResultType) throws -> [Any] {
        var specification = query.request ?? FetchSpecification()
        specification.entity = query.entity
        specification.entityName = query.entity.name
        specification.includesSubentities = query.includesSubentities
        specification.predicate = query.predicate
        specification.sortDescriptors = query.sortDescriptors
        specification.fetchOffset = query.offset
        specification.fetchLimit = query.limit
        specification.resultType = type
        let answer = try store.execute(
            NSFetchRequest<any NSFetchRequestResult>(specification: specification), with: context())
        switch answer {
        case let results as [Any]: return results
        case let results as NSArray: return results.map { $0 }
        default: throw unexpected(answer, "an array")
        }
    }

    private func unexpected(_ answer: Any, _ expectation: String) -> CocoaError {
        CocoaError(
            .coreData, "The store returned a \(type(of: answer)) for a fetch; expected: \(expectation).",
            url: store.url)
    }

    // MARK: - Saving

    func reserveKeys(for objects: [NSManagedObject]) throws -> [Int64] {
        let ids = try store.obtainPermanentIDs(for: objects)
        guard ids.count == objects.count else {
            throw CocoaError(
                .persistentStoreSave, "The store gave \(ids.count) IDs for \(objects.count) objects.", url: store.url)
        }
        return try zip(ids, objects).map { id, object in
            guard !id.isTemporaryID, let key = store.key(of: id), key.entity == object.key.entity else {
                throw wrongID(id)
            }
            return key.number
        }
    }

    func adopt(_ objects: [NSManagedObject]) throws {
        let numbers = try reserveKeys(for: objects)
        store.references?.renumber(
            zip(objects, numbers).map { (entity: $0.entity, from: $1, to: $0.key.number) })
    }

    func write(_ changes: StoreChanges, in context: NSManagedObjectContext) throws {
        _ = try store.execute(changes.request, with: context)
        store.didSaveMetadata()
        let coordinator = try coordinator()
        register(changes.inserted.map(\.key), coordinator)
        unregister(changes.deleted.map(\.key))
    }

    // MARK: - Other requests

    func executeBatch(
        _ request: NSPersistentStoreRequest, for context: NSManagedObjectContext
    ) throws -> NSPersistentStoreResult? {
        do {
            return try store.execute(request, with: context) as? NSPersistentStoreResult
        } catch let error as CocoaError where error.code == .persistentStoreUnsupportedRequestType {
            return nil
        }
    }
}

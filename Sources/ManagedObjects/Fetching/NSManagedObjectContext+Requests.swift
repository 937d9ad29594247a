import CoreDataErrors
import Foundation
import FoundationAdditions
import PredicateLanguage

extension NSPersistentStoreResult {
    /// The results of several stores for one batch request, combined into one.
    fileprivate static func joined(_ results: [NSPersistentStoreResult]) -> NSPersistentStoreResult? {
        guard results.count > 1 else { return results.first }
        func joined(_ answers: [Any?]) -> Any {
            if let counts = answers as? [Int] { return counts.reduce(0, +) }
            if let ids = answers as? [[NSManagedObjectID]] { return ids.flatMap { $0 } }
            return true
        }
        if let results = results as? [NSBatchUpdateResult] {
            return NSBatchUpdateResult(joined(results.map(\.result)), type: results[0].resultType)
        }
        if let results = results as? [NSBatchDeleteResult] {
            return NSBatchDeleteResult(joined(results.map(\.result)), type: results[0].resultType)
        }
        return results.first
    }
}

extension NSManagedObjectContext {
    /// Executes a request other than a plain fetch; see ``execute(_:)``.
    final func executeRequest(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        checkQueue()
        if let request = request.asynchronousFetch {
            let result = request.begin(in: self)
            // Unsafe because the result is completed on the context's queue, which also calls its block.
            nonisolated(unsafe) let completing = result
            perform { completing.complete() }
            return result
        }
        if let parentContext {
            return try parentContext.queue.sync { () throws in try parentContext.executeRequest(request) }
        }
        guard let coordinator else {
            throw CocoaError(
                .coreData,
                userInfo: [NSLocalizedDescriptionKey: "The context has no persistent store coordinator."])
        }
        if let request = request as? NSPersistentHistoryChangeRequest { return try coordinator.execute(request) }
        var results: [NSPersistentStoreResult] = []
        for store in rowStores {
            guard let result = try store.batchStore?.executeBatch(request, for: self) else { continue }
            results.append(result)
            // New rows are inserted into one store.
            if request is NSBatchInsertRequest { break }
        }
        if let result = NSPersistentStoreResult.joined(results) { return result }
        throw CocoaError(
            .persistentStoreUnsupportedRequestType,
            userInfo: [NSLocalizedDescriptionKey: "No store supports a \(type(of: request))."])
    }

    /// The results of any fetch request, whatever their type.
    final func results(of request: any FetchRequesting) throws -> [Any] {
        try fetchResults(request.specification)
    }
}

// MARK: - Dictionaries

// Fetches with dictionaries as results.

extension NSManagedObjectContext {
    final func dictionaries(
        _ specification: FetchSpecification, entity: NSEntityDescription
    ) throws -> [NSDictionary] {
        if let parentContext {
            return try parentContext.queue.sync { () throws in
                try parentContext.fetchResults(specification).compactMap { $0 as? NSDictionary }
            }
        }
        let query = try specification.valueQuery(entity: entity)
        return try dictionaries(query, from: fetchedStores(specification, entity: entity))
    }

    /// One store evaluates the query itself; the values of several stores are grouped, counted and sorted here.
    private func dictionaries(_ query: ValueQuery, from stores: [any RowStore]) throws -> [NSDictionary] {
        if stores.count == 1 {
            return try stores[0].dictionaries(matching: query, generation: pinnedGenerations?.generation(of: stores[0]))
        }
        guard let coordinator, !stores.isEmpty else { return [] }
        let matching = RowQuery(
            entity: query.query.entity, includesSubentities: query.query.includesSubentities,
            predicate: query.query.predicate)
        var graphs: [StoreRowGraph] = []
        var rows: [RowSubject] = []
        for store in stores {
            let generation = try pinnedGenerations?.generation(of: store) ?? store.pinGeneration()
            let graph = StoreRowGraph(store: store, coordinator: coordinator, generation: generation)
            rows += graph.subjects(of: try store.rows(matching: matching, generation: generation))
            graphs.append(graph)
        }
        var selection = query
        selection.query.predicate = nil
        return try withExtendedLifetime(graphs) { try ValueSelection(selection).dictionaries(of: rows) }
    }
}

// MARK: - Fetched properties

// Fetched properties.

extension NSManagedObjectContext {
    /// The objects of a fetched property, fetched again each time. A property's value cannot throw: see `noteFailedRead`.
    final func fetchedValue(of property: NSFetchedPropertyDescription, source: NSManagedObject) -> [Any] {
        guard let request = property.fetchRequest else { return [] }
        do {
            var specification = request.specification
            let variables: [String: Any] = ["FETCH_SOURCE": source, "FETCHED_PROPERTY": property]
            if let node = specification.predicate?.withSubstitutionVariables(variables).node {
                // Key paths of the source and of the property are evaluated now: a store evaluates rows only.
                let read = try node.mapExpressions { expression in
                    guard case .keyPath(.constant, _) = expression else { return expression }
                    return .constant(value: try ExpressionEvaluator(expression).value(for: nil))
                }
                specification.predicate = NSPredicate.predicate(stating: read)
            }
            return try fetchResults(specification)
        } catch {
            noteFailedRead(error, "could not fetch \(source.entity.name ?? "").\(property.name)")
            return []
        }
    }
}

// `FETCH(…)` in a predicate.
extension NSManagedObjectContext: FetchingContext {
    package func predicateValue(ofRequest request: Any?, countOnly: Bool) throws -> Any? {
        guard let request = request as? NSFetchRequest<any NSFetchRequestResult> else {
            throw PredicateEvaluationError(.typeMismatch, "A fetch expression needs a fetch request.")
        }
        return countOnly ? try count(for: request) : try fetch(request)
    }
}

import Foundation

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
        return try values(query, from: fetchedStores(specification, entity: entity)).map { row in
            let dictionary = NSMutableDictionary()
            for (column, value) in zip(query.columns, row) {
                if let key = value as? ObjectKey {
                    dictionary[column.name] = objectID(for: key)
                } else if let value {
                    dictionary[column.name] = value
                }
            }
            return dictionary
        }
    }

    /// One store evaluates the query itself; the values of several stores are grouped, counted and sorted here.
    private func values(_ query: ValueQuery, from stores: [any RowStore]) throws -> [[Any?]] {
        if stores.count == 1 {
            return try stores[0].values(matching: query, generation: pinnedGenerations?.generation(of: stores[0]))
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
        return try withExtendedLifetime(graphs) { try ValueSelection(selection).values(of: rows) }
    }
}

import Foundation

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

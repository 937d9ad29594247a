import Foundation

extension NSManagedObjectContext {
    /// Carries out a request other than a plain fetch: an asynchronous fetch, or a batch request, which changes the
    /// store without making objects. Objects that the context has are not told: merge or refresh them.
    ///
    /// - Throws: `NSPersistentStoreUnsupportedRequestTypeError` (134091) where no store can carry the request out.
    @discardableResult
    public func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        if let request = request as? any AsynchronousFetching {
            let result = request.begin(in: self)
            // Unsafe because the result is completed on the context's queue, where its block is called too.
            nonisolated(unsafe) let completing = result
            perform { completing.complete() }
            return result
        }
        if let parentContext {
            return try parentContext.queue.sync { () throws in try parentContext.execute(request) }
        }
        guard let coordinator else {
            throw CocoaError(
                .coreData,
                userInfo: [NSLocalizedDescriptionKey: "The context has no persistent store coordinator."])
        }
        for case let store as any BatchStore in coordinator.rowStores {
            if let result = try store.executeBatch(request, for: self) { return result }
        }
        throw CocoaError(
            .persistentStoreUnsupportedRequestType,
            userInfo: [NSLocalizedDescriptionKey: "No store carries out a \(type(of: request))."])
    }

    /// The results of any fetch request, whatever their type.
    final func results(of request: any FetchRequesting) throws -> [Any] {
        try fetchResults(request.specification)
    }
}

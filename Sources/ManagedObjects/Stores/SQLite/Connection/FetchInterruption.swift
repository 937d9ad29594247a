/// Cancels fetches while SQLite executes their statements.
package enum FetchInterruption {
    /// Whether fetches that begin while this is set are to end, with `CocoaError.userCancelled`. Called about every
    /// millisecond, on the thread of the fetch.
    @TaskLocal static var isRequested: (@Sendable () -> Bool)?

    /// Runs work whose fetches end when a closure, which is called about every millisecond, returns true.
    package static func interrupting<Result>(
        when isRequested: @escaping @Sendable () -> Bool, _ body: () throws -> Result
    ) rethrows -> Result {
        try $isRequested.withValue(isRequested, operation: body)
    }
}

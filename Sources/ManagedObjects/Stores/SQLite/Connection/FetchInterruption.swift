/// Cancels fetches while SQLite executes their statements.
package enum FetchInterruption {
    /// Whether fetches that begin while this is set are to end, with `CocoaError.userCancelled`. Called about every
    /// millisecond, on the thread of the fetch.
    @TaskLocal package static var isRequested: (@Sendable () -> Bool)?
}

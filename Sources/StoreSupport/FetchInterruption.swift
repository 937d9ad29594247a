import Foundation

/// Cancels fetches while their statements are executed.
package enum FetchInterruption {
    /// Whether fetches that begin while this is set are to end, with `CocoaError.userCancelled`. Called about every
    /// millisecond, on the thread of the fetch.
    @TaskLocal package static var isRequested: (@Sendable () -> Bool)?

    /// Runs work whose fetches end when a closure, which is called about every millisecond, returns true.
    package static func interrupting<Result>(
        when isRequested: @escaping @Sendable () -> Bool, _ body: () throws -> Result
    ) rethrows -> Result {
        try $isRequested.withValue(isRequested, operation: body)
    }

    /// Runs work whose statements must not end halfway: a save that has been committed must not fail because of a later read.
    ///
    /// - Throws: `CocoaError.userCancelled` if the end of the work around it is already requested.
    package static func completing<Result>(_ body: () throws -> Result) throws -> Result {
        guard let isRequested else { return try body() }
        if isRequested() { throw CocoaError(.userCancelled) }
        return try $isRequested.withValue(nil, operation: body)
    }
}

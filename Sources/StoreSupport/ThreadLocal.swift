import Foundation

/// A reference that work on a thread passes to the functions that it calls. Tasks that the work starts do not inherit it, as they
/// would inherit a task-local value: they may outlive the work.
package struct ThreadLocal<Value: AnyObject>: Sendable {
    private let key: pthread_key_t

    package init() {
        var key = pthread_key_t()
        // Not retained by the thread, so nothing is released at its end.
        let error = pthread_key_create(&key, nil)
        precondition(error == 0, "The process has no more keys of thread-specific values.")
        self.key = key
    }

    /// The value that is set for the work on this thread.
    package var value: Value? {
        pthread_getspecific(key).map { Unmanaged<Value>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs work with a value.
    package func withValue<Result, Failure: Error>(
        _ value: Value, _ work: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let outer = pthread_getspecific(key)
        pthread_setspecific(key, Unmanaged.passUnretained(value).toOpaque())
        // The value is retained until the work has ended.
        defer { withExtendedLifetime(value) { _ = pthread_setspecific(key, outer) } }
        return try work()
    }
}

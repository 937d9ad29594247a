import Foundation

/// Whether contexts and objects check that they are used on their queue.
///
/// Off unless the program is started with the argument `-com.apple.CoreData.ConcurrencyDebug 1`, or has an environment variable
/// of that name before Core Data is used first. Use on another queue then stops the program with a message. Cost: one comparison
/// with a constant in each method of a context, each access to an object by key, and at an object's first change.
enum ConcurrencyDebug {
    static let name = "com.apple.CoreData.ConcurrencyDebug"

    static let isEnabled: Bool = {
        let arguments = ProcessInfo.processInfo.arguments
        if let position = arguments.firstIndex(of: "-" + name) {
            return position + 1 == arguments.count || isOn(arguments[position + 1])
        }
        return getenv(name).map { isOn(String(cString: $0)) } ?? false
    }()

    /// Called on a violation. Stops the program, except in the test that calls all methods.
    // Unsafe because only that test sets it, before any context is used.
    nonisolated(unsafe) static var violation: (String) -> Void = { sentence in preconditionFailure(sentence) }

    private static func isOn(_ value: String) -> Bool { !["0", "no", "false"].contains(value.lowercased()) }
}

extension NSManagedObjectContext {
    /// Stops the program if the context is used on a wrong queue, if checking is enabled.
    @inline(__always)
    final func checkQueue() {
        if ConcurrencyDebug.isEnabled { requireQueue() }
    }

    private func requireQueue() {
        guard !queue.isCurrent else { return }
        ConcurrencyDebug.violation(
            "Core Data concurrency violation: \(name.map { "the context “\($0)”" } ?? "a context") of the "
                + "\(queue.type == .mainQueueConcurrencyType ? "main" : "private") queue was used on another one. Use "
                + "perform(_:) or performAndWait(_:).")
    }
}

extension NSManagedObject {
    /// Stops the program if the object's context is used on a wrong queue, if checking is enabled. The context is not retained
    /// otherwise, because every access to a value calls this.
    @inline(__always)
    final func checkQueue() {
        if ConcurrencyDebug.isEnabled { context?.checkQueue() }
    }
}

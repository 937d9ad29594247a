import Foundation

/// The methods of a program that `FUNCTION(receiver, "selector", …)` and custom selectors call: without Objective-C's runtime a
/// method cannot be found by its selector.
package enum RegisteredMethods {
    /// Receives the receiver and the arguments.
    package typealias Method = @Sendable (_ receiver: Any, _ arguments: [Any?]) throws -> Any?

    private static let methods = LockedMethods()

    /// Sets the method of a selector, for receivers of all types.
    package static func register(_ selector: String, _ method: @escaping Method) { methods[selector] = method }

    static subscript(_ selector: String) -> Method? { methods[selector] }
}

private final class LockedMethods: @unchecked Sendable {  // because a lock guards the dictionary
    private let lock = NSLock()
    private var methods: [String: RegisteredMethods.Method] = [:]

    subscript(_ selector: String) -> RegisteredMethods.Method? {
        get { lock.withLock { methods[selector] } }
        set { lock.withLock { methods[selector] = newValue } }
    }
}

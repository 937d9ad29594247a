import Foundation

/// How the value of a property of the destination entity is computed.
open class NSPropertyMapping: NSObject {
    /// The name of the property of the destination entity.
    open var name: String?
    /// The value; with nil the property keeps the value that it has after the insertion. For the variables see
    /// ``NSMigrationManagerKey`` and the constants beside it.
    open var valueExpression: NSExpression?
    /// The developer's own key-value pairs.
    open var userInfo: [AnyHashable: Any]?

    /// Creates a mapping without name and expression.
    public override init() {}

    /// Two mappings are equal if name, expression and user info are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPropertyMapping else { return false }
        return name == other.name && valueExpression == other.valueExpression
            && NSDictionary(dictionary: userInfo ?? [:]) == NSDictionary(dictionary: other.userInfo ?? [:])
    }

    open override var hash: Int { name.hashValue }

    /// Name and expression, for messages.
    open override var description: String {
        "\(name ?? "nil") = \(valueExpression?.description ?? "nil")"
    }
}

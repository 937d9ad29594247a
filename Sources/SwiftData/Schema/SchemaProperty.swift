/// A property of an entity in a ``Schema``: an attribute, a relationship, or a statement about several of them.
public protocol SchemaProperty: Decodable, Encodable, Hashable {
    /// The name of the Swift property, which is the name in the store.
    var name: String { get set }
    /// The name in an earlier version of the schema; the same as ``name`` if it has not changed.
    var originalName: String { get set }
    /// The Swift type of the value.
    var valueType: any Any.Type { get set }
    var isAttribute: Bool { get }
    var isRelationship: Bool { get }
    var isTransient: Bool { get }
    var isOptional: Bool { get }
    var isUnique: Bool { get }
}

extension SchemaProperty {
    public var isAttribute: Bool { false }
    public var isRelationship: Bool { false }
    public var isTransient: Bool { false }
    public var isOptional: Bool { valueType is any OptionalType.Type }
}

/// Recognises optional types, and what they wrap.
protocol OptionalType {
    static var wrappedType: any Any.Type { get }
    static var none: Self { get }
    var wrappedValue: Any? { get }
}

extension Optional: OptionalType {
    static var wrappedType: any Any.Type { Wrapped.self }
    var wrappedValue: Any? { self }
}

/// The type without its optionality.
func unwrappedType(_ type: any Any.Type) -> any Any.Type { (type as? any OptionalType.Type)?.wrappedType ?? type }

/// The value without optionals around it; nil if one of them is empty.
func unwrapped(_ value: Any?) -> Any? {
    guard let value else { return nil }
    guard let optional = value as? any OptionalType else { return value }
    return unwrapped(optional.wrappedValue)
}

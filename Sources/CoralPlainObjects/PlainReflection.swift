import Coral
import CoreData
import GraphDocuments

/// The parts of one value, found by reflection or its `MappedProperty` list.
enum PlainParts {
    case scalar(GraphValue)
    case tree(ReadableValue)
    case elements([Any], isOrdered: Bool)
    /// The properties of a mapped class.
    case properties(any Mapped, [MappedProperty])
    /// The properties of any other value.
    case members([(key: String, value: Any)])
    /// The keys and values of a dictionary.
    case entries([(key: String, value: Any)])
    /// A function, or another value that documents cannot represent.
    case nothing

    init(_ value: Any) throws {
        if let scalar = GraphValue(foundationObject: value) {
            self = .scalar(scalar)
        } else if let number = value as? UInt64 {
            self = .scalar(.decimal(Decimal(number)))
        } else if let object = value as? NSManagedObject {
            self = .tree(try PlainEncoder.tree(ManagedObjectReference(object)))
        } else if let mapped = value as? any Mapped {
            self = .properties(mapped, type(of: mapped).mappedProperties)
        } else {
            self = try PlainParts(reflecting: value)
        }
    }

    private init(reflecting value: Any) throws {
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional:
            self = try mirror.children.first.map { try PlainParts($0.value) } ?? .scalar(.null)
        case .collection:
            self = .elements(mirror.children.map(\.value), isOrdered: true)
        case .set:
            self = .elements(mirror.children.map(\.value), isOrdered: false)
        case .dictionary:
            let members = mirror.children.map { child -> (key: String, value: Any) in
                let pair = Mirror(reflecting: child.value).children.map(\.value)
                return (pair.first.map { "\($0)" } ?? "", pair.last ?? ())
            }
            self = .entries(members.sorted { $0.key < $1.key })
        case .enum: self = try PlainParts(enumeration: value, mirror)
        case .tuple where mirror.children.isEmpty: self = .nothing
        case .tuple where mirror.children.allSatisfy({ $0.label?.hasPrefix(".") ?? true }):
            self = .elements(mirror.children.map(\.value), isOrdered: true)
        case .struct, .class, .tuple: self = .members(PlainParts.members(of: mirror))
        default: self = .nothing
        }
    }

    private init(enumeration value: Any, _ mirror: Mirror) throws {
        if let raw = value as? any RawRepresentable {
            self = try PlainParts(raw.rawValue)
        } else if let encodable = value as? any Encodable {
            self = .tree(try PlainEncoder.tree(encodable))
        } else if let payload = mirror.children.first {
            self = .members([(payload.label ?? "", payload.value)])
        } else {
            self = .scalar(.string("\(value)"))
        }
    }

    /// The stored properties, those of superclasses first.
    private static func members(of mirror: Mirror) -> [(key: String, value: Any)] {
        sequence(first: mirror, next: \.superclassMirror).reversed().flatMap(\.children).compactMap { label, value in
            guard let label, !label.hasPrefix("_$") else { return nil }
            let lazyPrefix = "$__lazy_storage_$_"
            return (label.hasPrefix(lazyPrefix) ? String(label.dropFirst(lazyPrefix.count)) : label, value)
        }
    }
}

/// One part of an entity that its version hash covers, and in which two models differ.
public struct HashReason: Sendable, Hashable {
    /// What differs. A struct, so that adding one does not break a `switch`.
    public struct Aspect: RawRepresentable, Sendable, Hashable {
        /// The name of the aspect, such as `optional`.
        public let rawValue: String
        /// The aspect with a name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Only the older model has the property, or only there is it stored.
        public static let removed = Self(rawValue: "removed")
        /// Only the newer model has the property, or only there is it stored.
        public static let added = Self(rawValue: "added")
        /// The name, of a property or entity that a renaming identifier relates to the other one.
        public static let name = Self(rawValue: "name")
        /// An attribute is a relationship in the other model.
        public static let kind = Self(rawValue: "kind")
        /// Whether the property may be nil.
        public static let optional = Self(rawValue: "optional")
        /// The type of an attribute.
        public static let type = Self(rawValue: "type")
        /// The hash modifier of a property or entity.
        public static let modifier = Self(rawValue: "hash modifier")
        /// Whether large values may be in files beside the store.
        public static let externalStorage = Self(rawValue: "external storage")
        /// Whether the history preserves the value of a deleted object.
        public static let preservation = Self(rawValue: "kept in history")
        /// The expression of a derived attribute, with its filter.
        public static let derivation = Self(rawValue: "derivation")
        /// The destination of a relationship.
        public static let destination = Self(rawValue: "destination")
        /// The inverse of a relationship.
        public static let inverse = Self(rawValue: "inverse")
        /// The maximum number of objects of a relationship: 1 for to-one.
        public static let maximumCount = Self(rawValue: "maximum count")
        /// The minimum number of objects of a relationship.
        public static let minimumCount = Self(rawValue: "minimum count")
        /// Whether the objects of a relationship have an order.
        public static let ordered = Self(rawValue: "ordered")
        /// Whether the entity has no objects of its own.
        public static let abstract = Self(rawValue: "abstract")
        /// The entity inherits from another one.
        public static let parent = Self(rawValue: "parent")
        /// The hash of the entity that it inherits from.
        public static let inheritance = Self(rawValue: "hash of the parent")
        /// The uniqueness constraints. An order of constraints makes no difference, one of their properties does.
        public static let uniqueness = Self(rawValue: "uniqueness constraints")
    }

    /// The property, by its name in the newer model, unless only the older one has it; that of an element of a composite is a
    /// path: `place.city`. Nil if the entity itself differs.
    public var property: String?
    /// What differs.
    public var aspect: Aspect
    /// The value in the older model as text; empty if there is none.
    public var old: String
    /// The value in the newer model as text; empty if there is none.
    public var new: String

    /// A difference of one aspect of a property, or of the entity itself.
    public init(property: String?, aspect: Aspect, old: String, new: String) {
        self.property = property
        self.aspect = aspect
        self.old = old
        self.new = new
    }

    /// The reason as a part of a sentence, with names for the two models: `title: type, string in the store, integer64 in the
    /// model`.
    public func text(old oldModel: String, new newModel: String) -> String {
        let subject = property.map { "\($0): " } ?? ""
        switch aspect {
        case .removed: return "\(subject)only in \(oldModel) (\(old))"
        case .added: return "\(subject)only in \(newModel) (\(new))"
        case .inheritance: return "its parent \(new) differs"
        default:
            func shown(_ text: String) -> String { text.isEmpty ? "none" : text }
            return "\(subject)\(aspect.rawValue) is \(shown(old)) in \(oldModel), \(shown(new)) in \(newModel)"
        }
    }
}

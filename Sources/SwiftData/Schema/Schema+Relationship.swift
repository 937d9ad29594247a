extension Schema {
    /// A relationship: a property whose value is another model, or several.
    public final class Relationship: SchemaProperty, CustomDebugStringConvertible,
        @unchecked Sendable  // because it is not changed once a container uses its schema
    {
        public var name: String
        public var originalName: String
        public var options: [Option]
        public var valueType: any Any.Type
        /// The name of the entity that the relationship leads to.
        public var destination: String
        public var inverseName: String?
        public var inverseKeyPath: AnyKeyPath?
        public var keypath: AnyKeyPath?
        public var deleteRule: DeleteRule
        public var minimumModelCount: Int?
        public var maximumModelCount: Int?
        public var hashModifier: String?

        /// What `@Relationship(…)` states; the name and the type are added when the schema is made.
        public init(
            _ options: Option..., deleteRule: DeleteRule = .nullify, minimumModelCount: Int? = 0,
            maximumModelCount: Int? = 0, originalName: String? = nil, inverse: AnyKeyPath? = nil,
            hashModifier: String? = nil
        ) {
            (name, self.originalName, self.options, valueType) = ("", originalName ?? "", options, Any.self)
            (destination, inverseKeyPath, self.deleteRule) = ("", inverse, deleteRule)
            (self.minimumModelCount, self.maximumModelCount) = (minimumModelCount, maximumModelCount)
            self.hashModifier = hashModifier
        }

        public var isAttribute: Bool { false }
        public var isRelationship: Bool { true }
        public var isOptional: Bool { isOptionalAsDecoded ?? (valueType is any OptionalType.Type) }
        public var isTransient: Bool { false }
        public var isUnique: Bool { options.contains(.unique) }
        /// Whether the value is one model.
        public var isToOneRelationship: Bool {
            isToOneAsDecoded ?? (unwrappedType(valueType) is any PersistentModel.Type)
        }
        private var isOptionalAsDecoded: Bool?
        private var isToOneAsDecoded: Bool?

        private enum CodingKeys: String, CodingKey {
            case name, originalName, options, destination, inverseName, deleteRule, minimumModelCount, maximumModelCount
            case hashModifier, isOptional, isToOne
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            originalName = try container.decode(String.self, forKey: .originalName)
            options = try container.decode([Option].self, forKey: .options)
            destination = try container.decode(String.self, forKey: .destination)
            inverseName = try container.decodeIfPresent(String.self, forKey: .inverseName)
            deleteRule = try container.decode(DeleteRule.self, forKey: .deleteRule)
            minimumModelCount = try container.decodeIfPresent(Int.self, forKey: .minimumModelCount)
            maximumModelCount = try container.decodeIfPresent(Int.self, forKey: .maximumModelCount)
            hashModifier = try container.decodeIfPresent(String.self, forKey: .hashModifier)
            isOptionalAsDecoded = try container.decode(Bool.self, forKey: .isOptional)
            isToOneAsDecoded = try container.decode(Bool.self, forKey: .isToOne)
            valueType = Any.self
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode(originalName, forKey: .originalName)
            try container.encode(options, forKey: .options)
            try container.encode(destination, forKey: .destination)
            try container.encodeIfPresent(inverseName, forKey: .inverseName)
            try container.encode(deleteRule, forKey: .deleteRule)
            try container.encodeIfPresent(minimumModelCount, forKey: .minimumModelCount)
            try container.encodeIfPresent(maximumModelCount, forKey: .maximumModelCount)
            try container.encodeIfPresent(hashModifier, forKey: .hashModifier)
            try container.encode(isOptional, forKey: .isOptional)
            try container.encode(isToOneRelationship, forKey: .isToOne)
        }

        public static func == (lhs: Relationship, rhs: Relationship) -> Bool {
            lhs === rhs
                || lhs.name == rhs.name && lhs.originalName == rhs.originalName && lhs.destination == rhs.destination
                    && lhs.inverseName == rhs.inverseName && lhs.deleteRule == rhs.deleteRule
                    && lhs.minimumModelCount == rhs.minimumModelCount && lhs.maximumModelCount == rhs.maximumModelCount
                    && lhs.isOptional == rhs.isOptional && lhs.isToOneRelationship == rhs.isToOneRelationship
                    && lhs.options == rhs.options && lhs.hashModifier == rhs.hashModifier
        }

        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        public var debugDescription: String {
            "\(name): \(isToOneRelationship ? destination : "[\(destination)]"), inverse \(inverseName ?? "none")"
        }

        /// What the deletion of an object does to the objects that it refers to.
        public enum DeleteRule: String, Codable, Hashable, Sendable {
            case noAction
            case nullify
            case cascade
            case deny
        }

        /// How a relationship is stored.
        public struct Option: Codable, Hashable, CustomDebugStringConvertible, Sendable {
            private let name: String

            /// No two objects refer to the same object.
            public static var unique: Option { Option(name: "unique") }

            public var debugDescription: String { name }
        }
    }
}

import CoreData

extension Schema {
    /// An attribute: a property whose value is stored in the row itself.
    public class Attribute: SchemaProperty, CustomDebugStringConvertible,
        @unchecked Sendable  // because it is not changed once a container uses its schema
    {
        public var name: String
        public var originalName: String
        public var options: [Option]
        public var valueType: any Any.Type
        public var defaultValue: Any?
        public var hashModifier: String?

        /// What `@Attribute(…)` states; the name and the type are added when the schema is made.
        public init(_ options: Option..., originalName: String? = nil, hashModifier: String? = nil) {
            (name, self.originalName, self.options) = ("", originalName ?? "", options)
            (valueType, self.hashModifier) = (Any.self, hashModifier)
        }

        public init(
            name: String, originalName: String? = nil, options: [Option] = [], valueType: any Any.Type,
            defaultValue: Any? = nil, hashModifier: String? = nil
        ) {
            (self.name, self.originalName, self.options) = (name, originalName ?? name, options)
            (self.valueType, self.defaultValue, self.hashModifier) = (valueType, defaultValue, hashModifier)
        }

        public var isAttribute: Bool { true }
        public var isRelationship: Bool { false }
        public var isOptional: Bool {
            valueType is any OptionalType.Type || (valueType == Any.self && isOptionalAsDecoded)
        }
        public var isUnique: Bool { options.contains(.unique) }
        public var isTransient: Bool { options.contains(.ephemeral) }
        public var isTransformable: Bool { options.contains { $0.transformerName != nil } }
        /// Whether the value is stored by its `Codable` representation.
        public var isCodable: Bool { options.contains(.codable) }
        private var isOptionalAsDecoded = false
        /// The name of the type of a decoded attribute, which is `Any` where the type is not known.
        private var typeNameAsDecoded: String?
        private var typeName: String {
            valueType == Any.self ? typeNameAsDecoded ?? "Any" : NamedType.name(of: valueType)
        }

        private enum CodingKeys: String, CodingKey { case name, originalName, options, type, isOptional, hashModifier }

        public required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            originalName = try container.decode(String.self, forKey: .originalName)
            options = try container.decode([Option].self, forKey: .options)
            let typeName = try container.decode(String.self, forKey: .type)
            (valueType, typeNameAsDecoded) = (NamedType.type(named: typeName), typeName)
            isOptionalAsDecoded = try container.decode(Bool.self, forKey: .isOptional)
            hashModifier = try container.decodeIfPresent(String.self, forKey: .hashModifier)
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode(originalName, forKey: .originalName)
            try container.encode(options, forKey: .options)
            try container.encode(typeName, forKey: .type)
            try container.encode(isOptional, forKey: .isOptional)
            try container.encodeIfPresent(hashModifier, forKey: .hashModifier)
        }

        public static func == (lhs: Attribute, rhs: Attribute) -> Bool {
            lhs === rhs
                || type(of: lhs) == type(of: rhs) && lhs.name == rhs.name && lhs.originalName == rhs.originalName
                    && lhs.options == rhs.options && lhs.typeName == rhs.typeName
                    && lhs.hashModifier == rhs.hashModifier
                    // Here, because entities compare composites as attributes.
                    && (lhs as? CompositeAttribute)?.properties == (rhs as? CompositeAttribute)?.properties
        }

        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        public var debugDescription: String { "\(name): \(valueType)" }

        /// How an attribute is stored.
        public struct Option: Codable, Hashable, CustomDebugStringConvertible, Sendable {
            let name: String
            /// The name of the transformer of ``transformable(by:)-(String)``.
            var transformerName: String?

            private init(_ name: String, transformerName: String? = nil) {
                (self.name, self.transformerName) = (name, transformerName)
            }

            /// No two objects have the same value. Inserting an object with a value that exists updates the existing one.
            public static var unique: Option { Option("unique") }
            /// A large value is stored in a file beside the store.
            public static var externalStorage: Option { Option("externalStorage") }
            /// Changes are tracked, and never saved.
            public static var ephemeral: Option { Option("ephemeral") }
            /// Noted in the model, without effect on this platform.
            public static var spotlight: Option { Option("spotlight") }
            /// Noted in the model, without effect on this platform.
            public static var allowsCloudEncryption: Option { Option("allowsCloudEncryption") }
            /// The history keeps the value of a deleted object.
            public static var preserveValueOnDeletion: Option { Option("preserveValueOnDeletion") }
            /// The value is stored by its `Codable` representation.
            public static var codable: Option { Option("codable") }
            /// A registered `ValueTransformer` converts the value to data.
            public static func transformable(by transformerName: String) -> Option {
                Option("transformable", transformerName: transformerName)
            }
            /// A `ValueTransformer` converts the value to data. It is registered under the name of its class, unless there is
            /// a transformer with that name.
            public static func transformable(by transformerType: ValueTransformer.Type) -> Option {
                let name = String(describing: transformerType)
                if ValueTransformer(forName: NSValueTransformerName(name)) == nil {
                    ValueTransformer.setValueTransformer(transformerType.init(), forName: NSValueTransformerName(name))
                }
                return Option("transformable", transformerName: name)
            }

            public var debugDescription: String { transformerName.map { "\(name)(by: \($0))" } ?? name }
        }
    }

    /// An attribute with columns of its own for the parts of its value: a `Codable` structure or enumeration.
    public final class CompositeAttribute: Attribute, @unchecked Sendable {  // because its superclass is
        /// The elements, in the order of the declaration.
        public var properties: [Attribute] = []

        public override init(
            name: String, originalName: String? = nil, options: [Option] = [], valueType: any Any.Type,
            defaultValue: Any? = nil, hashModifier: String? = nil
        ) {
            super.init(
                name: name, originalName: originalName, options: options, valueType: valueType,
                defaultValue: defaultValue, hashModifier: hashModifier)
        }

        private enum CodingKeys: String, CodingKey { case properties }

        public required init(from decoder: any Decoder) throws {
            try super.init(from: decoder)
            properties = try decoder.container(keyedBy: CodingKeys.self).decode([Element].self, forKey: .properties)
                .map(\.attribute)
        }

        /// An element in a file, which may be a composite itself.
        private struct Element: Decodable {
            let attribute: Attribute

            init(from decoder: any Decoder) throws {
                let isComposite = try decoder.container(keyedBy: CodingKeys.self).contains(.properties)
                attribute = isComposite ? try CompositeAttribute(from: decoder) : try Attribute(from: decoder)
            }
        }

        public override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(properties, forKey: .properties)
        }

        public override var debugDescription: String {
            "\(super.debugDescription) (\(properties.map(\.name).joined(separator: ", ")))"
        }

        public static func == (lhs: CompositeAttribute, rhs: CompositeAttribute) -> Bool {
            (lhs as Attribute) == (rhs as Attribute)
        }
    }
}

/// The types whose names a written schema knows again; every other type is read as `Any`.
enum NamedType {
    private static let known: [any Any.Type] = [
        String.self, Bool.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt8.self, UInt16.self,
        UInt32.self,
        UInt64.self, UInt.self, Float.self, Double.self, Decimal.self, Date.self, UUID.self, URL.self, Data.self,
    ]

    static func name(of type: any Any.Type) -> String { String(reflecting: type) }

    static func type(named name: String) -> any Any.Type {
        for type in known {
            if String(reflecting: type) == name { return type }
            func optional<T>(_: T.Type) -> any Any.Type { T?.self }
            if "Swift.Optional<\(String(reflecting: type))>" == name { return _openExistential(type, do: optional) }
        }
        return Any.self
    }
}

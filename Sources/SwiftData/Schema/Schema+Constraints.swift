/// A ``Schema/Unique`` or ``Schema/Index`` of any model.
protocol PropertyGroups {
    /// Constraints or binary indexes.
    var groups: [[AnyKeyPath]] { get }
    /// R-tree indexes.
    var treeGroups: [[AnyKeyPath]] { get }
    var isConstraint: Bool { get }
}

extension Schema {
    /// What `#Unique` states: each array of properties is one constraint.
    public final class Unique<T: PersistentModel>: SchemaProperty, PropertyGroups, CustomDebugStringConvertible,
        @unchecked Sendable  // because it is not changed once a container uses its schema
    {
        public let constraints: [[PartialKeyPath<T>]]
        public var name = "unique"
        public var originalName = "unique"
        public var valueType: any Any.Type = Any.self

        public init(_ constraints: [PartialKeyPath<T>]...) { self.constraints = constraints }

        public var isUnique: Bool { true }
        public var isAttribute: Bool { false }
        public var isRelationship: Bool { false }
        public var isTransient: Bool { false }
        public var isOptional: Bool { false }
        var groups: [[AnyKeyPath]] { constraints }
        var treeGroups: [[AnyKeyPath]] { [] }
        var isConstraint: Bool { true }

        public enum CodingKeys: String, CodingKey { case constraints }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let names = try container.decode([[String]].self, forKey: .constraints)
            constraints = try names.map { try KeyPathNames.keyPaths(named: $0, of: T.self, container, .constraints) }
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(constraints.map { KeyPathNames.names(of: $0, in: T.self) }, forKey: .constraints)
        }

        public static func == (lhs: Unique<T>, rhs: Unique<T>) -> Bool { lhs.constraints == rhs.constraints }
        public func hash(into hasher: inout Hasher) { hasher.combine(constraints) }
        public var debugDescription: String {
            "unique \(constraints.map { KeyPathNames.names(of: $0, in: T.self).joined(separator: " and ") })"
        }
    }

    /// What `#Index` states: each array of properties is one index.
    public final class Index<T: PersistentModel>: SchemaProperty, PropertyGroups, CustomDebugStringConvertible,
        @unchecked Sendable  // because it is not changed once a container uses its schema
    {
        public let indices: [Types<T>]
        public var name = "index"
        public var originalName = "index"
        public var valueType: any Any.Type = Any.self

        public init(_ indices: Types<T>...) { self.indices = indices }
        public init(_ binaryIndices: [PartialKeyPath<T>]...) { indices = binaryIndices.map { .binary($0) } }

        /// An index, and its kind.
        public enum Types<P: PersistentModel>: Hashable,
            @unchecked Sendable  // because key paths of models are immutable
        {
            case binary([PartialKeyPath<P>])
            case rtree([PartialKeyPath<P>])
        }

        public var isUnique: Bool { false }
        public var isAttribute: Bool { false }
        public var isRelationship: Bool { false }
        public var isTransient: Bool { false }
        public var isOptional: Bool { false }
        var groups: [[AnyKeyPath]] { indices.compactMap { if case .binary(let paths) = $0 { paths } else { nil } } }
        var treeGroups: [[AnyKeyPath]] { indices.compactMap { if case .rtree(let paths) = $0 { paths } else { nil } } }
        var isConstraint: Bool { false }

        public enum CodingKeys: String, CodingKey { case indices }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            indices = try container.decode([[String]].self, forKey: .indices).map { names in
                let paths = try KeyPathNames.keyPaths(named: Array(names.dropFirst()), of: T.self, container, .indices)
                return names.first == "rtree" ? .rtree(paths) : .binary(paths)
            }
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            let names = indices.map { index in
                switch index {
                case .binary(let paths): ["binary"] + KeyPathNames.names(of: paths, in: T.self)
                case .rtree(let paths): ["rtree"] + KeyPathNames.names(of: paths, in: T.self)
                }
            }
            try container.encode(names, forKey: .indices)
        }

        public static func == (lhs: Index<T>, rhs: Index<T>) -> Bool { lhs.indices == rhs.indices }
        public func hash(into hasher: inout Hasher) { hasher.combine(indices) }
        public var debugDescription: String { "index of \(T.self)" }
    }
}

/// Converts between the key paths of a model and the names of its properties.
private enum KeyPathNames {
    static func names<T: PersistentModel>(of paths: [PartialKeyPath<T>], in type: T.Type) -> [String] {
        paths.compactMap { ModelClass.of(type).property($0)?.name }
    }

    static func keyPaths<T: PersistentModel, Key: CodingKey>(
        named names: [String], of type: T.Type, _ container: KeyedDecodingContainer<Key>, _ key: Key
    ) throws -> [PartialKeyPath<T>] {
        try names.map { name in
            guard let path = ModelClass.of(type).properties.first(where: { $0.name == name })?.keyPath,
                let partial = path as? PartialKeyPath<T>
            else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container, debugDescription: "\(T.self) has no property \(name).")
            }
            return partial
        }
    }
}

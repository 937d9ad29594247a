import Coral
import Foundation
import GraphDocuments

/// Creates the tree of any value by reflection. A class instance that occurs more than once is written once and then
/// referred to.
struct PlainWriting {
    private let style: PlainStyle
    /// The class instances visited so far; those visited more than once; and the ids of the latter. The instances are retained,
    /// because a computed property may return one that only the visit uses, whose identifier another one would get after it.
    private var met: [ObjectIdentifier: AnyObject] = [:]
    private var shared: Set<ObjectIdentifier> = []
    private var numbers: [ObjectIdentifier: Int] = [:]
    /// Whether trees are written without ids, to order the elements of a set.
    private var isOrdering = false

    private init(style: PlainStyle) { self.style = style }

    /// The tree of a value. Throws `PlainObjectError` beyond the depth limit of documents.
    static func tree(_ value: Any, style: PlainStyle = PlainStyle()) throws -> ReadableValue {
        var writing = PlainWriting(style: style)
        try writing.findShared(value)
        return try writing.tree(value, level: 0, at: PlainPath()) ?? .value(.null)
    }

    /// Visits everything that the value contains, level by level, so that a cycle ends. What is deeper than the limit is not
    /// visited: no shorter way leads to it, so that writing it is an error.
    private mutating func findShared(_ value: Any) throws {
        var values = [value]
        for _ in 0..<TreeDocument.depthLimit where !values.isEmpty {
            var parts: [Any] = []
            for value in values { parts += try visit(value) }
            values = parts
        }
    }

    /// Visits one value and returns its parts; none if it was visited before.
    private mutating func visit(_ value: Any) throws -> [Any] {
        if let object = PlainWriting.instance(value) {
            let identifier = ObjectIdentifier(object)
            guard met.updateValue(object, forKey: identifier) == nil else {
                shared.insert(identifier)
                return []
            }
        }
        switch try PlainParts(value) {
        case .elements(let values, _): return values
        case .members(let members), .entries(let members): return members.map(\.value)
        case .properties(let object, let properties):
            return properties.filter(\.mapping.direction.isWritten).map { $0.value(object) }
        case .scalar, .tree, .nothing: return []
        }
    }

    /// The class instance; nil for a value, and for an object that is written as a value.
    private static func instance(_ value: Any) -> AnyObject? {
        // An optional may contain another one.
        var value = value
        while case let mirror = Mirror(reflecting: value), mirror.displayStyle == .optional {
            guard let wrapped = mirror.children.first?.value else { return nil }
            value = wrapped
        }
        // A cast to AnyObject boxes any value, so the type is checked.
        guard type(of: value) is AnyClass, GraphValue(foundationObject: value) == nil else { return nil }
        return value as AnyObject
    }

    /// Nil for values that documents cannot represent, which are omitted.
    private mutating func tree(_ value: Any, level: Int, at path: PlainPath) throws -> ReadableValue? {
        guard level < TreeDocument.depthLimit else {
            throw PlainObjectError(
                .limit, "The objects nest deeper than \(TreeDocument.depthLimit) levels.",
                at: PlainPath(Array(path.keys.prefix(8))))
        }
        var members: [ReadableValue.Member] = []
        if !isOrdering, let identifier = PlainWriting.instance(value).map(ObjectIdentifier.init),
            shared.contains(identifier)
        {
            if let number = numbers[identifier] {
                return .dictionary([.init(name: PlainMember.reference, value: .value(.integer(Int64(number))))])
            }
            let number = numbers.count + 1
            numbers[identifier] = number
            members = [.init(name: PlainMember.id, value: .value(.integer(Int64(number))))]
        }
        switch try PlainParts(value) {
        case .nothing: return nil
        case .scalar(let value): return style.scalar(value)
        case .tree(let tree): return tree
        case .elements(let values, let isOrdered):
            // The order of a set is not deterministic, so its trees are sorted. Ids are numbered in the order of the document, so
            // where there are some, the elements are sorted before.
            let isSorted = isOrdered || isOrdering || shared.isEmpty
            let values = isSorted ? values : try sorted(values, level: level + 1, at: path)
            var trees: [ReadableValue] = []
            for (index, value) in values.enumerated() {
                trees.append(try part(value, level: level + 1, at: path + index) ?? .value(.null))
            }
            guard !isOrdered, isSorted else { return .array(trees) }
            return .array(trees.map { ("\($0)", $0) }.sorted { $0.0 < $1.0 }.map(\.1))
        case .members(let parts):
            for (key, value) in parts {
                guard let tree = try part(value, level: level + 1, at: path + key) else { continue }
                members.append(.init(name: TreeDocument.escapedKey(style.key(key)), value: tree))
            }
            return .dictionary(members)
        case .entries(let entries):
            // The keys of a dictionary are data, not names of properties.
            for (key, value) in entries {
                guard let tree = try part(value, level: level + 1, at: path + key) else { continue }
                members.append(.init(name: TreeDocument.escapedKey(key), value: tree))
            }
            return .dictionary(members)
        case .properties(let object, let properties):
            for property in properties {
                let mapping = try style.mapping(property, of: type(of: object))
                guard mapping.isWritten,
                    let tree = try valueTree(of: property, object, level: level + 1, at: path + property.name)
                else { continue }
                try mapping.put(tree, into: &members)
            }
            return .dictionary(members)
        }
    }

    /// The elements of a set in the order of their trees without ids. Elements that differ only in what shared objects refer to
    /// have any order.
    private func sorted(_ elements: [Any], level: Int, at path: PlainPath) throws -> [Any] {
        var ordering = self
        ordering.isOrdering = true
        return try elements.enumerated()
            .map { ("\(try ordering.tree($1, level: level, at: path + $0) ?? .value(.null))", $1) }
            .sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// The tree of a part. To order a set, a shared object in an element is written with its scalars only, so that a cycle
    /// ends and nothing is written many times.
    private mutating func part(_ value: Any, level: Int, at path: PlainPath) throws -> ReadableValue? {
        guard isOrdering, let object = PlainWriting.instance(value), shared.contains(ObjectIdentifier(object)) else {
            return try tree(value, level: level, at: path)
        }
        let parts: [(key: String, value: Any)] =
            switch try PlainParts(value) {
            case .members(let members), .entries(let members): members.map { ($0.key, $0.value) }
            case .properties(let object, let properties):
                properties.filter(\.mapping.direction.isWritten).map { ($0.name, $0.value(object)) }
            case .elements, .scalar, .tree, .nothing: []
            }
        return .dictionary(
            try parts.compactMap { key, value in
                guard case .scalar(let scalar) = try PlainParts(value) else { return nil }
                return .init(name: key, value: style.scalar(scalar))
            })
    }

    /// A property's value. Its mapping writes dates.
    private mutating func valueTree(
        of property: MappedProperty, _ object: any Mapped, level: Int, at path: PlainPath
    ) throws -> ReadableValue? {
        guard property.isDate else { return try part(property.value(object), level: level, at: path) }
        return try PlainWriting.tree(property.value(object))
    }
}

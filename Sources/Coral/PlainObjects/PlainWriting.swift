import Foundation
import GraphDocuments

/// Makes a tree of any value, by reflection. An instance of a class that is met twice is written once and referred to after.
struct PlainWriting {
    /// Class instances in the order in which they are met; those that are met again.
    private var met: Set<ObjectIdentifier> = []
    private var shared: Set<ObjectIdentifier> = []
    private var numbers: [ObjectIdentifier: Int] = [:]

    /// The tree of a value. Throws `PlainObjectError` for what nests deeper than a document may.
    static func tree(_ value: Any) throws -> ReadableValue {
        var writing = PlainWriting()
        try writing.findShared(value)
        return try writing.tree(value, level: 0, at: PlainPath()) ?? .value(.null)
    }

    /// Walks all that the value holds, by a list instead of by recursion, so that a circle ends.
    private mutating func findShared(_ value: Any) throws {
        var pending = [value]
        while let next = pending.popLast() {
            if let identifier = PlainWriting.identifier(next), !met.insert(identifier).inserted {
                shared.insert(identifier)
                continue
            }
            switch try PlainParts(next) {
            case .elements(let values, _): pending += values
            case .members(let members, _): pending += members.map(\.value)
            case .scalar, .nothing: break
            }
        }
    }

    /// Who an instance of a class is; nil for a value, and for an object that is written as a value.
    private static func identifier(_ value: Any) -> ObjectIdentifier? {
        // An optional may hold another one.
        var value = value
        while case let mirror = Mirror(reflecting: value), mirror.displayStyle == .optional {
            guard let wrapped = mirror.children.first?.value else { return nil }
            value = wrapped
        }
        // A cast to AnyObject makes an object of any value, so the type is asked.
        guard type(of: value) is AnyClass, GraphValue(foundationObject: value) == nil else { return nil }
        return ObjectIdentifier(value as AnyObject)
    }

    /// Nil for what no document can hold, which is left out.
    private mutating func tree(_ value: Any, level: Int, at path: PlainPath) throws -> ReadableValue? {
        guard level < TreeDocument.depthLimit else {
            throw PlainObjectError(
                .limit, "The objects nest deeper than \(TreeDocument.depthLimit) levels.",
                at: PlainPath(Array(path.keys.prefix(8))))
        }
        var members: [ReadableValue.Member] = []
        if let identifier = PlainWriting.identifier(value), shared.contains(identifier) {
            if let number = numbers[identifier] {
                return .dictionary([.init(name: PlainMember.reference, value: .value(.integer(Int64(number))))])
            }
            let number = numbers.count + 1
            numbers[identifier] = number
            members = [.init(name: PlainMember.id, value: .value(.integer(Int64(number))))]
        }
        switch try PlainParts(value) {
        case .nothing: return nil
        case .scalar(let tree): return tree
        case .elements(let values, let isOrdered):
            var trees: [ReadableValue] = []
            for (index, value) in values.enumerated() {
                trees.append(try tree(value, level: level + 1, at: path + index) ?? .value(.null))
            }
            // A set has no order that is the same twice.
            return .array(isOrdered ? trees : trees.map { ("\($0)", $0) }.sorted { $0.0 < $1.0 }.map(\.1))
        case .members(let parts, let arePaths):
            for (key, value) in parts {
                guard let tree = try tree(value, level: level + 1, at: path + key) else { continue }
                PlainWriting.set(arePaths ? key.split(separator: ".").map(String.init) : [key], tree, in: &members)
            }
            return .dictionary(members)
        }
    }

    /// Puts a tree where a path of keys leads, making dictionaries on the way.
    private static func set(_ path: [String], _ tree: ReadableValue, in members: inout [ReadableValue.Member]) {
        guard let first = path.first.map(TreeDocument.escapedKey) else { return }
        let index = members.firstIndex { $0.name == first }
        guard path.count > 1 else {
            if let index { members[index].value = tree } else { members.append(.init(name: first, value: tree)) }
            return
        }
        var inner: [ReadableValue.Member] = []
        if let index, case .dictionary(let known) = members[index].value { inner = known }
        set(Array(path.dropFirst()), tree, in: &inner)
        if let index {
            members[index].value = .dictionary(inner)
        } else {
            members.append(.init(name: first, value: .dictionary(inner)))
        }
    }
}

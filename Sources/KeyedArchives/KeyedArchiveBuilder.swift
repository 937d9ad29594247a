import Foundation

/// Builds a keyed archive from plain values, as `NSKeyedArchiver` would write it: objects with class chains, shared
/// references and cycles.
///
/// To let other objects refer to an object whose fields are not yet known, reserve its index first.
public struct KeyedArchiveBuilder {
    /// The object table so far.
    private var objects: [PropertyListValue] = [.string("$null")]
    private var strings: [[UInt8]: Int] = [:]
    private var classes: [[String]: Int] = [:]

    /// The reference that represents nil.
    public static let null = PropertyListValue.uid(0)

    /// Creates an archive without objects.
    public init() {}

    /// A reference to an object that is filled in later with ``fill(_:classChain:fields:)``.
    public mutating func reserve() -> PropertyListValue {
        objects.append(.string("$null"))
        return .uid(objects.count - 1)
    }

    /// Adds an object. Fields contain references, or inline numbers and booleans.
    public mutating func add(classChain: [String], fields: PropertyListDictionary) -> PropertyListValue {
        let reference = reserve()
        fill(reference, classChain: classChain, fields: fields)
        return reference
    }

    /// Fills in a reserved object. Does nothing for a reference that is not from ``reserve()``.
    public mutating func fill(_ reference: PropertyListValue, classChain: [String], fields: PropertyListDictionary) {
        guard let number = reference.uid, objects.indices.contains(number), number > 0 else { return }
        var fields = fields
        fields["$class"] = add(class: classChain)
        objects[number] = .dictionary(fields)
    }

    /// Adds a string; equal ones share an object. Nil gives ``null``.
    public mutating func add(string: String?) -> PropertyListValue {
        guard let string else { return Self.null }
        let key = Array(string.utf8)
        if let number = strings[key] { return .uid(number) }
        objects.append(.string(string))
        strings[key] = objects.count - 1
        return .uid(objects.count - 1)
    }

    /// Adds a value that is stored in the table unchanged: a number, a boolean, data.
    public mutating func add(value: PropertyListValue) -> PropertyListValue {
        if case .string(let string) = value { return add(string: string) }
        objects.append(value)
        return .uid(objects.count - 1)
    }

    /// Adds an array of references.
    public mutating func add(array elements: [PropertyListValue], isMutable: Bool = false) -> PropertyListValue {
        let chain = isMutable ? ["NSMutableArray", "NSArray", "NSObject"] : ["NSArray", "NSObject"]
        return add(classChain: chain, fields: PropertyListDictionary([("NS.objects", .array(elements))]))
    }

    /// Adds a set of references.
    public mutating func add(set elements: [PropertyListValue]) -> PropertyListValue {
        add(classChain: ["NSSet", "NSObject"], fields: PropertyListDictionary([("NS.objects", .array(elements))]))
    }

    /// Adds a dictionary of references.
    public mutating func add(
        dictionary pairs: [(key: PropertyListValue, value: PropertyListValue)], isMutable: Bool = false
    ) -> PropertyListValue {
        let reference = reserve()
        fill(reference, dictionary: pairs, isMutable: isMutable)
        return reference
    }

    /// Fills in a reserved object as a dictionary.
    public mutating func fill(
        _ reference: PropertyListValue, dictionary pairs: [(key: PropertyListValue, value: PropertyListValue)],
        isMutable: Bool = false
    ) {
        let chain = isMutable ? ["NSMutableDictionary", "NSDictionary", "NSObject"] : ["NSDictionary", "NSObject"]
        fill(
            reference, classChain: chain,
            fields: PropertyListDictionary([
                ("NS.keys", .array(pairs.map(\.key))), ("NS.objects", .array(pairs.map(\.value))),
            ]))
    }

    private mutating func add(class chain: [String]) -> PropertyListValue {
        if let number = classes[chain] { return .uid(number) }
        objects.append(
            .dictionary(
                PropertyListDictionary([
                    ("$classname", .string(chain.first ?? "NSObject")),
                    ("$classes", .array(chain.map { .string($0) })),
                ])))
        classes[chain] = objects.count - 1
        return .uid(objects.count - 1)
    }

    /// The archive with one root as a binary property list. Throws ``ArchiveError`` when it nests deeper than the
    /// limit.
    public func archive(root: PropertyListValue) throws -> Data {
        try BinaryPropertyList.write(propertyList(root: root))
    }

    /// The archive with one root as a property list.
    public func propertyList(root: PropertyListValue) -> PropertyListValue {
        KeyedArchive.propertyList(of: objects, top: PropertyListDictionary([(KeyedArchive.rootKey, root)]))
    }
}

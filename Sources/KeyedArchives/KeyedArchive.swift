import Foundation

/// An archive of `NSKeyedArchiver` as plain values: a table of objects that refer to each other by number.
///
/// No class is looked up or instantiated, so an archive from an untrusted source can be read.
public struct KeyedArchive: Sendable, Hashable {
    /// One object, because each ``ArchivedObject`` refers to it.
    private final class Content: @unchecked Sendable {  // because a lock is held when the chains are used
        let objects: [PropertyListValue]
        let top: PropertyListDictionary
        let archiver: String
        /// The class and its ancestors by the number of the class's description, which many objects have. Filled when asked for.
        private var chains: [Int: [String]] = [:]
        private let lock = NSLock()

        init(_ objects: [PropertyListValue], _ top: PropertyListDictionary, _ archiver: String) {
            (self.objects, self.top, self.archiver) = (objects, top, archiver)
        }

        /// The class that the description with a number describes, and its ancestors, the class first.
        func classChain(_ number: Int) -> [String] {
            lock.lock()
            defer { lock.unlock() }
            if let known = chains[number] { return known }
            let chain = objects.indices.contains(number) ? Self.classChain(in: objects[number]) : []
            chains[number] = chain
            return chain
        }

        private static func classChain(in description: PropertyListValue) -> [String] {
            let name = description["$classname"]?.string
            let chain = description["$classes"]?.elements?.compactMap(\.string) ?? []
            guard let name, chain.first != name else { return chain }
            return [name] + chain.filter { $0 != name }
        }
    }

    private let content: Content

    /// The object table. Index 0 is the text `$null`, which represents nil.
    public var objects: [PropertyListValue] { content.objects }
    /// The archive's named roots: references into the table, and inline values.
    public var top: PropertyListDictionary { content.top }
    /// The class that wrote the archive.
    public var archiver: String { content.archiver }

    /// The key of the only root of most archives.
    public static let rootKey = "root"

    /// Reads the binary property list of an archive. Cost: one pass over the data; objects are resolved on access.
    ///
    /// Throws ``ArchiveError`` when the data is damaged or not an archive.
    public init(data: Data) throws {
        try self.init(propertyList: try BinaryPropertyList.read(data))
    }

    /// Reads a property list as an archive. Throws ``ArchiveError`` when it has no object table or no root.
    public init(propertyList: PropertyListValue) throws {
        guard let objects = propertyList["$objects"]?.elements, !objects.isEmpty,
            let top = propertyList["$top"]?.dictionary
        else {
            throw ArchiveError(.notAnArchive, "The property list is not a keyed archive.")
        }
        content = Content(objects, top, propertyList["$archiver"]?.string ?? "NSKeyedArchiver")
    }

    public static func == (left: KeyedArchive, right: KeyedArchive) -> Bool {
        left.objects == right.objects && left.top == right.top && left.archiver == right.archiver
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(objects) }

    /// The root object. Nil when the archive has none under ``rootKey``, or when it is nil.
    public var root: ArchivedObject? {
        get throws { try top[Self.rootKey].flatMap { try object($0) } }
    }

    /// The class that the description at a reference describes, and its ancestors, the class first.
    fileprivate func classChain(_ reference: PropertyListValue) -> [String] {
        reference.uid.map(content.classChain) ?? []
    }

    /// The object that a value refers to; an object with the value itself when it is not a reference; nil for `$null`.
    ///
    /// Throws ``ArchiveError`` when the reference is dangling.
    public func object(_ value: PropertyListValue) throws -> ArchivedObject? {
        guard case .uid(let number) = value else {
            if case .null = value { return nil }
            return ArchivedObject(archive: self, number: nil, value: value)
        }
        guard number >= 0, number < content.objects.count else {
            throw ArchiveError(.danglingReference, "A reference is dangling.", at: .object(number))
        }
        let entry = content.objects[number]
        if number == 0 { return nil }
        if case .string("$null") = entry { return nil }
        return ArchivedObject(archive: self, number: number, value: entry)
    }
}

/// An object of a keyed archive: a scalar, or a class with fields.
public struct ArchivedObject: Sendable {
    /// The archive that fields are resolved in.
    public let archive: KeyedArchive
    /// The object's index in the table. Two objects with the same index are identical. Nil for an inline value.
    public let number: Int?
    /// The entry of the table.
    public let value: PropertyListValue

    /// The class and its ancestors, the class first. Empty for scalars and if the archive has no class description.
    public var classChain: [String] {
        guard case .dictionary(let fields) = value, let reference = fields["$class"] else { return [] }
        return archive.classChain(reference)
    }

    /// The name of the class. Nil for scalars.
    public var className: String? {
        classChain.first
    }

    /// Whether the object is of a class or of one that inherits from it.
    public func isKind(of className: String) -> Bool {
        // Written out, as in `object(_:)`.
        for name in classChain where name == className { return true }
        return false
    }

    /// The names of the object's fields, sorted, without the archiver's own, which begin with `$`.
    public var fieldNames: [String] {
        (value.dictionary?.keys ?? []).filter { !$0.hasPrefix("$") }.sorted()
    }

    /// The object in a field. Nil when the field is absent or nil. Throws when the reference is dangling.
    public func object(_ field: String) throws -> ArchivedObject? {
        // Written out: the reading of a model asks for fields some ten thousand times, and closures are slow in a debug build.
        guard case .dictionary(let fields) = value, let member = fields[field] else { return nil }
        return try archive.object(member)
    }

    /// The elements in a field of an object, such as `NS.objects` of an array; empty when the field is absent.
    public func objects(_ field: String) throws -> [ArchivedObject?] {
        try (value[field]?.elements ?? []).map { try archive.object($0) }
    }

    /// The integer in a field, inline or as an object.
    public func integer(_ field: String) throws -> Int? {
        try object(field)?.value.integer.flatMap { Int(exactly: $0) }
    }

    /// The boolean in a field, inline or as an object; false when absent.
    public func flag(_ field: String) throws -> Bool {
        try object(field)?.value.boolean ?? false
    }

    /// The string in a field: plain, mutable or attributed.
    public func string(_ field: String) throws -> String? {
        try object(field)?.string
    }

    /// The string value of the object, if it is a string.
    public var string: String? {
        get throws {
            if let string = value.string { return string }
            if let string = value["NS.string"] { return try archive.object(string)?.value.string }
            if let bytes = value["NS.bytes"]?.data { return String(decoding: bytes, as: UTF8.self) }
            guard isKind(of: "NSAttributedString"), let string = try object("NSString") else { return nil }
            return string.value.string ?? string.value["NS.string"]?.string
        }
    }

    /// The members of an array or set; nil for anything else.
    public var members: [ArchivedObject?]? {
        get throws {
            guard value["NS.objects"] != nil, value["NS.keys"] == nil else {
                return try numberedMembers
            }
            return try objects("NS.objects")
        }
    }

    /// The pairs of a dictionary; nil for anything else.
    public var pairs: [(key: ArchivedObject?, value: ArchivedObject?)]? {
        get throws {
            if value["NS.keys"] != nil {
                let (keys, values) = (try objects("NS.keys"), try objects("NS.objects"))
                var pairs: [(key: ArchivedObject?, value: ArchivedObject?)] = []
                for index in 0..<min(keys.count, values.count) { pairs.append((keys[index], values[index])) }
                return pairs
            }
            return try knownKeysPairs
        }
    }
}

extension ArchivedObject {
    /// The marker of an unused slot of a known-keys dictionary.
    static let emptySlotToken = "__empty_slot_token_4c24_98dc_ac1e_b773__"

    /// The members of an ordered set, which are numbered fields.
    private var numberedMembers: [ArchivedObject?]? {
        get throws {
            guard isKind(of: "NSOrderedSet") || value["NS.object.0"] != nil else { return nil }
            var members: [ArchivedObject?] = []
            while let member = value["NS.object.\(members.count)"] { members.append(try archive.object(member)) }
            return members
        }
    }

    /// The pairs of Core Data's dictionary with fixed keys: the keys are in a strategy object, the values parallel to
    /// them.
    private var knownKeysPairs: [(key: ArchivedObject?, value: ArchivedObject?)]? {
        get throws {
            guard let strategy = try object("searchMapping"), let keys = try strategy.object("keys")?.members,
                let values = try object("values")?.members
            else { return nil }
            let empty = try string("emptyToken") ?? Self.emptySlotToken
            return zip(keys, values).filter { $1?.value.string != empty }.map { (key: $0, value: $1) }
        }
    }
}

import Foundation

/// An archived value as a tree of plain values, independent of the classes that the archive names.
public indirect enum ReadableValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case unsignedInteger(UInt64)
    case real(Double)
    case decimal(Decimal)
    case string(String)
    case data(Data)
    case date(Date)
    case uuid(UUID)
    /// The absolute text of a URL.
    case url(String)
    case array([ReadableValue])
    /// The members of a set, in the archive's order.
    case set([ReadableValue])
    case orderedSet([ReadableValue])
    /// The pairs of a dictionary, in the archive's order. Keys may be of any kind.
    case dictionary([Pair])
    /// An object of any other class.
    case object(classChain: [String], fields: [Field])
    /// A container of the value, as the number of levels up; 1 is the direct container. It represents a cycle of the
    /// archive, which a tree cannot contain.
    case ancestor(Int)

    /// A key of a dictionary and its value.
    public struct Pair: Sendable, Hashable {
        public var key: ReadableValue
        public var value: ReadableValue

        /// Creates a pair.
        public init(_ key: ReadableValue, _ value: ReadableValue) {
            self.key = key
            self.value = value
        }
    }

    /// A named field of an object.
    public struct Field: Sendable, Hashable {
        public var name: String
        public var value: ReadableValue

        /// Creates a field.
        public init(_ name: String, _ value: ReadableValue) {
            self.name = name
            self.value = value
        }
    }
}

extension ReadableValue {
    /// Limits of a tree. A tree repeats the objects that an archive shares, so a small archive can become a large tree.
    public struct Limits: Sendable {
        /// The maximum nesting depth.
        public var depth = 128
        /// The maximum number of values.
        public var valueCount = 1_000_000

        /// Creates the default limits.
        public init() {}
    }

    /// Reads the root of an archive. Cost: one step for each value of the tree.
    ///
    /// Throws ``ArchiveError`` when the data is not an archive, a reference is dangling, or the tree exceeds the
    /// limits.
    public init(archive data: Data, limits: Limits = Limits()) throws {
        self = try Self.init(try KeyedArchive(data: data).root, limits: limits)
    }

    /// Reads an object of an archive; nil gives ``null``.
    public init(_ object: ArchivedObject?, limits: Limits = Limits()) throws {
        var reader = ReadableValueReader(limits: limits)
        self = try reader.read(object)
    }
}

/// Converts archived objects to trees. Recursive, no deeper than the limit.
private struct ReadableValueReader {
    let limits: ReadableValue.Limits
    var valueCount = 0
    /// The indexes of the containers of the value being read, outermost first; -1 for one without index.
    var ancestors: [Int] = []

    init(limits: ReadableValue.Limits) {
        self.limits = limits
    }

    mutating func read(_ object: ArchivedObject?) throws -> ReadableValue {
        valueCount += 1
        guard valueCount <= limits.valueCount else {
            throw ArchiveError(.tooLarge, "The archive represents more than \(limits.valueCount) values.")
        }
        guard let object else { return .null }
        if let number = object.number, let position = ancestors.lastIndex(of: number) {
            return .ancestor(ancestors.count - position)
        }
        if let scalar = try Self.scalar(object) { return scalar }
        guard ancestors.count < limits.depth else {
            throw ArchiveError(
                .tooLarge, "The archive nests deeper than \(limits.depth) levels.",
                at: object.number.map(ArchivePlace.object))
        }
        ancestors.append(object.number ?? -1)
        defer { ancestors.removeLast() }
        return try container(object)
    }

    private mutating func container(_ object: ArchivedObject) throws -> ReadableValue {
        if let members = try object.members {
            var values: [ReadableValue] = []
            for member in members { values.append(try read(member)) }
            if object.isKind(of: "NSOrderedSet") { return .orderedSet(values) }
            return object.isKind(of: "NSSet") ? .set(values) : .array(values)
        }
        if let pairs = try object.pairs {
            var values: [ReadableValue.Pair] = []
            for pair in pairs { values.append(.init(try read(pair.key), try read(pair.value))) }
            return .dictionary(values)
        }
        switch object.value {
        case .array(let elements), .set(let elements):
            var values: [ReadableValue] = []
            for element in elements { values.append(try read(try object.archive.object(element))) }
            return .array(values)
        case .dictionary(let dictionary):
            var fields: [ReadableValue.Field] = []
            for name in object.fieldNames {
                guard let value = dictionary[name] else { continue }
                fields.append(.init(name, try read(try object.archive.object(value))))
            }
            return .object(classChain: object.classChain, fields: fields)
        default:
            return .null
        }
    }

    /// The value of an object that contains no other objects.
    private static func scalar(_ object: ArchivedObject) throws -> ReadableValue? {
        switch object.value {
        case .null: return .null
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .unsignedInteger(let value): return .unsignedInteger(value)
        case .real(let value): return .real(value)
        case .string(let value): return .string(value)
        case .data(let value): return .data(value)
        case .date(let value): return .date(value)
        case .uid(let value): return .integer(Int64(value))
        case .array, .set: return nil
        case .dictionary(let fields): return try scalar(object, fields)
        }
    }

    private static func scalar(_ object: ArchivedObject, _ fields: PropertyListDictionary) throws -> ReadableValue? {
        if object.isKind(of: "NSNull") { return .null }
        if object.isKind(of: "NSString") || object.isKind(of: "NSAttributedString") {
            return try object.string.map { .string($0) }
        }
        if object.isKind(of: "NSData"), let data = try object.object("NS.data")?.value.data { return .data(data) }
        if object.isKind(of: "NSDate"), let time = fields["NS.time"]?.real {
            return .date(Date(timeIntervalSinceReferenceDate: time))
        }
        if object.isKind(of: "NSUUID"), let bytes = fields["NS.uuidbytes"]?.data, bytes.count == 16 {
            return .uuid(ArchivedScalars.uuid(bytes))
        }
        if object.isKind(of: "NSURL"), let text = try object.string("NS.relative") {
            let base = try object.object("NS.base")?.string("NS.relative")
            return .url(base.flatMap { URL(string: text, relativeTo: URL(string: $0))?.absoluteString } ?? text)
        }
        if fields["NS.mantissa"] != nil, let decimal = ArchivedScalars.decimal(fields) { return .decimal(decimal) }
        return nil
    }
}

extension ReadableValue {
    /// Whether two values are equal without regard to the order of pairs, of fields and of a set's members. Cost: a
    /// step for each value. Recursive to the nesting depth of the values, which their reader has limited.
    public func isSame(as other: ReadableValue) -> Bool {
        switch (self, other) {
        case (.array(let one), .array(let two)), (.orderedSet(let one), .orderedSet(let two)):
            return one.count == two.count && zip(one, two).allSatisfy { $0.isSame(as: $1) }
        case (.set(let one), .set(let two)):
            return ReadableValue.counted(one) == ReadableValue.counted(two)
        case (.dictionary(let one), .dictionary(let two)):
            guard one.count == two.count else { return false }
            let values = Dictionary(two.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
            return one.allSatisfy { pair in values[pair.key].map { pair.value.isSame(as: $0) } ?? false }
        case (.object(let chain, let one), .object(let otherChain, let two)):
            guard chain == otherChain, one.count == two.count else { return false }
            let values = Dictionary(two.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
            return one.allSatisfy { field in values[field.name].map { field.value.isSame(as: $0) } ?? false }
        default: return self == other
        }
    }

    private static func counted(_ members: [ReadableValue]) -> [ReadableValue: Int] {
        Dictionary(members.map { ($0, 1) }, uniquingKeysWith: +)
    }
}

import Foundation

/// The typed value of one attribute, as plain data.
///
/// Two values are equal when their documents are equal: `-0.0` differs from `0.0`, all NaNs are equal, and strings
/// compare by their UTF-8 bytes, not by canonical equivalence.
public enum GraphValue: Sendable {
    /// No value.
    case null
    /// A boolean.
    case bool(Bool)
    /// Any integer type; the declared type determines the width.
    case integer(Int64)
    /// A number of double precision.
    case double(Double)
    /// A number of single precision.
    case float(Float)
    /// A decimal number with all its digits.
    case decimal(Decimal)
    /// Text.
    case string(String)
    /// Seconds since 2001-01-01 00:00:00 UTC, Core Data's reference date. Not a `Date`, because Core Data stores this
    /// number.
    case date(Double)
    /// Bytes.
    case data(Data)
    /// A UUID.
    case uuid(UUID)
    /// The text of a URI, unchanged.
    case uri(String)
    /// The elements of a composite attribute, in the order the model declares them.
    case composite([GraphAttribute])
    /// The value of a transformable attribute.
    case transformable(TransformableValue)
    /// Data in a file beside the document.
    case file(ExternalFile)

    /// Whether the value is `null`.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

/// A named value: one attribute of a record, or one element of a composite.
public struct GraphAttribute: Sendable, Hashable {
    /// The attribute's or element's name.
    public var name: String
    /// The value.
    public var value: GraphValue

    /// Creates a named value.
    public init(name: String, value: GraphValue) {
        self.name = name
        self.value = value
    }
}

/// The value of a transformable attribute: the archive, and its readable content, if it could be decoded.
public struct TransformableValue: Sendable {
    /// The output of the attribute's transformer. Nil only in a document that was written by hand.
    public var archive: Data?
    /// The archive's content as plain values, for human readers. Ignored if there is an archive.
    public var readable: ReadableValue?

    /// Creates a value.
    public init(archive: Data?, readable: ReadableValue? = nil) {
        self.archive = archive
        self.readable = readable
    }
}

/// A tree of plain values, as found in an archive.
public indirect enum ReadableValue: Sendable, Hashable {
    /// A single value.
    case value(GraphValue)
    /// An array of trees.
    case array([ReadableValue])
    /// Members in the order they are written.
    case dictionary([Member])

    /// A key and its value.
    public struct Member: Sendable, Hashable {
        /// The key.
        public var name: String
        /// The value.
        public var value: ReadableValue

        /// Creates a member.
        package init(name: String, value: ReadableValue) {
            self.name = name
            self.value = value
        }
    }

    /// The key for the class in a dictionary that represents an archived object. It is not escaped.
    package static let classKey = "$class"

    /// Whether the tree contains a dictionary that represents an object. Such a tree is for reading only: it cannot be
    /// archived.
    package var showsObjects: Bool {
        switch self {
        case .value: false
        case .array(let values): values.contains(where: \.showsObjects)
        case .dictionary(let members):
            members.contains { $0.name == ReadableValue.classKey || $0.value.showsObjects }
        }
    }
}

/// A reference to a file beside the document with a large binary value, or to a file that did not exist when the
/// document was written.
public struct ExternalFile: Sendable, Hashable {
    /// The path, relative to the document's folder, with `/` as separator. For a missing file, its name in the store.
    public var path: String
    /// The file's size in bytes, if known.
    public var byteCount: Int64?
    /// Whether the store refers to the file but the file did not exist: the value is lost, the reference is kept.
    public var isMissing = false

    /// Creates a reference to a file.
    package init(path: String, byteCount: Int64? = nil) {
        self.path = path
        self.byteCount = byteCount
    }

    /// Creates a reference to a file that the store refers to and that does not exist.
    package init(missing name: String) {
        path = name
        isMissing = true
    }
}

// MARK: - Equality

extension GraphValue: Hashable {
    public static func == (left: GraphValue, right: GraphValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.double(let a), .double(let b)), (.date(let a), .date(let b)):
            a.bitPattern == b.bitPattern || (a.isNaN && b.isNaN)
        case (.float(let a), .float(let b)): a.bitPattern == b.bitPattern || (a.isNaN && b.isNaN)
        case (.decimal(let a), .decimal(let b)): a == b || (a.isNaN && b.isNaN)
        case (.string(let a), .string(let b)), (.uri(let a), .uri(let b)): a.hasSameUTF8(as: b)
        case (.data(let a), .data(let b)): a == b
        case (.uuid(let a), .uuid(let b)): a == b
        case (.composite(let a), .composite(let b)): a == b
        case (.transformable(let a), .transformable(let b)): a == b
        case (.file(let a), .file(let b)): a == b
        default: false
        }
    }

    /// Covers all that `==` compares. Foundation's `Data` adds only its first 80 bytes, `Decimal` its value as a double, and `String`
    /// a normalised text: comparisons of states by hashes would miss changes.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0 as UInt8)
        case .bool(let value): hasher.combine(value ? 2 : 1 as UInt8)
        case .integer(let value):
            hasher.combine(3 as UInt8)
            hasher.combine(value)
        case .double(let value):
            hasher.combine(4 as UInt8)
            hasher.combine(value.isNaN ? Double.nan.bitPattern : value.bitPattern)
        case .date(let value):
            hasher.combine(5 as UInt8)
            hasher.combine(value.isNaN ? Double.nan.bitPattern : value.bitPattern)
        case .float(let value):
            hasher.combine(6 as UInt8)
            hasher.combine(value.isNaN ? Float.nan.bitPattern : value.bitPattern)
        case .decimal(let value):
            hasher.combine(7 as UInt8)
            hasher.combine(utf8: DecimalText.text(value))
        case .string(let value):
            hasher.combine(8 as UInt8)
            hasher.combine(utf8: value)
        case .data(let value):
            hasher.combine(9 as UInt8)
            hasher.combine(bytes: value)
        case .uuid(let value):
            hasher.combine(10 as UInt8)
            hasher.combine(value)
        case .uri(let value):
            hasher.combine(11 as UInt8)
            hasher.combine(utf8: value)
        case .composite(let value):
            hasher.combine(12 as UInt8)
            hasher.combine(value)
        case .transformable(let value):
            hasher.combine(13 as UInt8)
            hasher.combine(value)
        case .file(let value):
            hasher.combine(14 as UInt8)
            hasher.combine(value)
        }
    }
}

extension Hasher {
    /// Adds all bytes of a text, and their number.
    mutating func combine(utf8 text: String) {
        var text = text
        text.withUTF8 { bytes in
            combine(bytes.count)
            combine(bytes: UnsafeRawBufferPointer(bytes))
        }
    }

    /// Adds all bytes of a value, and their number.
    fileprivate mutating func combine(bytes data: Data) {
        data.withUnsafeBytes { bytes in
            combine(bytes.count)
            combine(bytes: bytes)
        }
    }
}

extension TransformableValue: Hashable {
    /// Compared by the archive; by the readable content only if neither has one.
    public static func == (left: TransformableValue, right: TransformableValue) -> Bool {
        if left.archive == nil, right.archive == nil { return left.readable == right.readable }
        return left.archive == right.archive
    }

    public func hash(into hasher: inout Hasher) {
        if let archive { hasher.combine(bytes: archive) } else { hasher.combine(readable) }
    }
}

@_exported import CodedErrors  // because the errors of this module have its type

extension GraphFormat: ErrorDomain {
    /// The position in a document.
    public typealias Place = DocumentPlace
}

/// The reason why a document cannot be read or written, and the position.
public typealias DocumentError = CodedError<GraphFormat>

extension DocumentError.Code {
    /// The text does not follow the format's grammar.
    public static let syntax = Self(rawValue: "syntax")
    /// The document is truncated.
    public static let truncated = Self(rawValue: "truncated")
    /// Invalid UTF-8, or an unpaired surrogate.
    public static let invalidText = Self(rawValue: "invalidText")
    /// A duplicate key in one object.
    public static let duplicateKey = Self(rawValue: "duplicateKey")
    /// A limit of `DocumentLimits` is exceeded.
    public static let limit = Self(rawValue: "limit")
    /// A number outside the range of the declared type.
    public static let outOfRange = Self(rawValue: "outOfRange")
    /// A value that does not fit the declared type.
    public static let wrongType = Self(rawValue: "wrongType")
    /// An entity that the schema does not have.
    public static let unknownEntity = Self(rawValue: "unknownEntity")
    /// The format, layout, version or encoding of the document is not supported.
    public static let unsupported = Self(rawValue: "unsupported")
    /// A value that the format cannot represent.
    public static let notRepresentable = Self(rawValue: "notRepresentable")
    /// The file could not be read or written.
    public static let file = Self(rawValue: "file")
    /// The writer or reader was used in the wrong order.
    public static let misuse = Self(rawValue: "misuse")
}

/// A position in a document, for messages and for editors.
public struct DocumentPlace: Sendable, Hashable {
    /// The byte offset.
    public var offset: Int
    /// The line, starting at 1; 0 if the document has no lines (a binary property list, a dictionary).
    public var line: Int
    /// The column in bytes, starting at 1; 0 if the document has no lines.
    public var column: Int
    /// The JSON pointer of the enclosing array or object.
    var container: String
    /// The index of the element in the container, or -1.
    var index: Int
    /// The member of that element, or of the container without an index.
    var member: String?

    /// Creates a position; without line and column if there are none.
    package init(offset: Int, line: Int = 0, column: Int = 0, pointer: String = "") {
        self.init(offset: offset, line: line, column: column, container: pointer, index: -1, member: nil)
    }

    init(offset: Int, line: Int, column: Int, container: String, index: Int, member: String?) {
        self.offset = offset
        self.line = line
        self.column = column
        self.container = container
        self.index = index
        self.member = member
    }

    /// The path of the position as a JSON pointer (RFC 6901) such as `/Note/3/title`; empty for the whole document. In
    /// a path longer than 512 bytes, `…` replaces the first steps.
    public var pointer: String {
        var text = container
        if index >= 0 { text += "/\(index)" }
        if let member { text += "/" + DocumentPlace.escaped(member) }
        guard text.utf8.count > 512 else { return text }
        // Half of the path is cut at once, so that a growing path is not cut at every step.
        let bytes = text.utf8
        let middle = bytes.index(bytes.startIndex, offsetBy: bytes.count / 2)
        guard let slash = bytes[middle...].firstIndex(of: UInt8(ascii: "/")) else { return text }
        return "…" + text[slash...]
    }

    /// The pointer of the array whose element is at the position; nil if it is not an element of an array.
    package var array: String? { index >= 0 && member == nil ? container : nil }

    /// The position of a member of the value here.
    func member(_ name: String) -> DocumentPlace {
        DocumentPlace(offset: offset, line: line, column: column, container: pointer, index: -1, member: name)
    }

    /// The position of an element of the value here.
    func element(_ name: String) -> DocumentPlace { member(name) }

    /// A name escaped as a step of a JSON pointer.
    static func escaped(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return name }
        return name.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
    }
}

extension DocumentPlace: CustomStringConvertible {
    public var description: String {
        let path = pointer
        let spot = line > 0 ? "line \(line), column \(column)" : "byte \(offset)"
        // The members of a dictionary have no bytes.
        if line == 0, offset == 0 { return path.isEmpty ? "the top" : path }
        return path.isEmpty ? spot : "\(spot), \(path)"
    }
}

/// Limits beyond which a reader rejects a document, for documents from untrusted sources.
public struct DocumentLimits: Sendable, Hashable {
    /// The nesting depth of arrays and objects. 1,024 by default.
    public var depth: Int
    /// The number of records. A thousand million by default.
    public var recordCount: Int
    /// The bytes of one string, as read. 1 GiB by default.
    public var stringLength: Int
    /// The bytes of one key, as read. 4,096 by default.
    package var keyLength: Int
    /// The bytes of the document. No limit by default; a property list, which must be held in memory, is also limited
    /// to 1 GiB.
    public var documentSize: Int

    /// Creates limits; those not given have their default.
    public init(
        depth: Int = 1024, recordCount: Int = 1_000_000_000, stringLength: Int = 1 << 30, keyLength: Int = 4096,
        documentSize: Int = .max
    ) {
        self.depth = depth
        self.recordCount = recordCount
        self.stringLength = stringLength
        self.keyLength = keyLength
        self.documentSize = documentSize
    }

    /// The default limits.
    public static let standard = DocumentLimits()
}

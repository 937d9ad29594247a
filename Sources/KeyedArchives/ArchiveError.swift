/// An error in a property list or a keyed archive, and its position.
public struct ArchiveError: Error, Sendable, Hashable {
    /// The kind of error.
    public var code: Code
    /// A description of the error, in one sentence.
    public var message: String
    /// The position in the file, as a byte offset from its beginning, if known.
    public var byteOffset: Int?
    /// The index of the object in the archive's object table, if the error concerns one object.
    public var objectNumber: Int?

    /// Creates an error.
    public init(_ code: Code, _ message: String, byteOffset: Int? = nil, objectNumber: Int? = nil) {
        self.code = code
        self.message = message
        self.byteOffset = byteOffset
        self.objectNumber = objectNumber
    }

    /// The kinds of errors. More may be added, so a switch needs a default.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The bytes are not in the expected format.
        public static let unknownFormat = Code(rawValue: "unknownFormat")
        /// The file is truncated, or an offset points outside it.
        public static let outOfRange = Code(rawValue: "outOfRange")
        /// A marker or value that the format does not define.
        public static let malformed = Code(rawValue: "malformed")
        /// A container contains itself.
        public static let cycle = Code(rawValue: "cycle")
        /// The contents exceed the size or depth limit.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// The property list is not a keyed archive.
        public static let notAnArchive = Code(rawValue: "notAnArchive")
        /// A reference to an object that does not exist.
        public static let danglingReference = Code(rawValue: "danglingReference")
    }
}

extension ArchiveError: CustomStringConvertible {
    public var description: String {
        if let byteOffset { return "\(message) (at byte \(byteOffset))" }
        if let objectNumber { return "\(message) (object \(objectNumber))" }
        return message
    }
}

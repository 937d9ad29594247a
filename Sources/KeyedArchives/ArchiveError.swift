/// What is wrong with a property list or a keyed archive, and where.
public struct ArchiveError: Error, Sendable, Hashable {
    /// What kind of thing is wrong.
    public var code: Code
    /// What is wrong, as a sentence.
    public var message: String
    /// The place in the file, in bytes from its beginning, where known.
    public var byteOffset: Int?
    /// The number of the object in the archive's object table, where it is about one.
    public var objectNumber: Int?

    /// An error.
    public init(_ code: Code, _ message: String, byteOffset: Int? = nil, objectNumber: Int? = nil) {
        self.code = code
        self.message = message
        self.byteOffset = byteOffset
        self.objectNumber = objectNumber
    }

    /// The kinds of mistakes. More may come, so a switch needs a default.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The bytes are not of the format at all.
        public static let unknownFormat = Code(rawValue: "unknownFormat")
        /// The file ends, or points, outside itself.
        public static let outOfRange = Code(rawValue: "outOfRange")
        /// A marker or value that the format does not know.
        public static let malformed = Code(rawValue: "malformed")
        /// A container holds itself.
        public static let cycle = Code(rawValue: "cycle")
        /// The contents are larger or nested deeper than anything sensible.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// The property list is no keyed archive.
        public static let notAnArchive = Code(rawValue: "notAnArchive")
        /// A reference leads nowhere.
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

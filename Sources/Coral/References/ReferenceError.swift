/// Why a reference cannot be made, or an archive of objects not be written or read.
public struct ReferenceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of reasons. A struct, so that a new kind breaks no `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The object belongs to no context, or was deleted.
        public static let noContext = Code(rawValue: "noContext")
        /// The URI is none of a managed object.
        public static let wrongURI = Code(rawValue: "wrongURI")
        /// The coder has no context: see `CodingUserInfoKey.managedObjectContext`.
        public static let noContextInCoder = Code(rawValue: "noContextInCoder")
        /// The archive cannot be read, or holds a class that is not allowed.
        public static let unreadable = Code(rawValue: "unreadable")
        /// A value cannot be archived.
        public static let unwritable = Code(rawValue: "unwritable")
    }

    /// The kind of reason.
    public var code: Code
    /// What is wrong, as a sentence.
    public var message: String

    /// An error of a kind, with a sentence.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}

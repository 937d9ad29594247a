/// The reason why a reference cannot be created, or an archive of objects not be written or read.
public struct ReferenceError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors. A struct, so that adding one does not break a `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The object has no context, or was deleted.
        public static let noContext = Code(rawValue: "noContext")
        /// The URI is not that of a managed object.
        public static let wrongURI = Code(rawValue: "wrongURI")
        /// The coder has no context: see `CodingUserInfoKey.managedObjectContext`.
        public static let noContextInCoder = Code(rawValue: "noContextInCoder")
        /// The archive cannot be read, or contains a class that is not allowed.
        public static let unreadable = Code(rawValue: "unreadable")
        /// A value cannot be archived.
        public static let unwritable = Code(rawValue: "unwritable")
    }

    /// The kind of error.
    public var code: Code
    /// A description of the error, in one sentence.
    public var message: String

    /// Creates an error of a kind, with a description.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}

/// The reason why objects cannot be copied. No copies were created, or they were removed again.
public struct CopyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors. A struct, so that adding one does not break a `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An invalid directive in the model's user info, or an invalid rule in code.
        public static let wrongDirective = Code(rawValue: "wrongDirective")
        /// An object has no context, or the objects belong to several.
        public static let noContext = Code(rawValue: "noContext")
        /// An object to copy does not exist or was deleted.
        public static let missingObject = Code(rawValue: "missingObject")
        /// The model of the copies does not have an entity, or has an attribute of another type.
        public static let modelMismatch = Code(rawValue: "modelMismatch")
        /// A value that must be unique cannot be made unique.
        public static let notUnique = Code(rawValue: "notUnique")
        /// A closure returned a value that the attribute does not accept.
        public static let wrongValue = Code(rawValue: "wrongValue")
    }

    /// The kind of error.
    public var code: Code
    /// A description of the error, in one sentence with the entity and property.
    public var message: String
    /// The entity or `Entity.property` of the error; empty if it concerns the objects.
    public var place: String

    /// Creates an error of a kind, with a description and the place in the model or graph.
    public init(_ code: Code, _ message: String, at place: String = "") {
        self.code = code
        self.message = message
        self.place = place
    }

    public var description: String { message }
}

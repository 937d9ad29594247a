/// Why objects cannot be copied. Nothing was made, or what was made is gone again.
public struct CopyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of reasons. A struct, so that a new kind breaks no `switch`.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A directive in the model's user info, or a rule in code, that cannot be followed.
        public static let wrongDirective = Code(rawValue: "wrongDirective")
        /// An object belongs to no context, or the objects belong to several.
        public static let noContext = Code(rawValue: "noContext")
        /// An object to copy does not exist (any more).
        public static let missingObject = Code(rawValue: "missingObject")
        /// The model of the copies lacks an entity, or has an attribute of another type.
        public static let modelMismatch = Code(rawValue: "modelMismatch")
        /// A value that no two objects may share cannot be made unique.
        public static let notUnique = Code(rawValue: "notUnique")
        /// A closure gave a value that the attribute does not take.
        public static let wrongValue = Code(rawValue: "wrongValue")
    }

    /// The kind of reason.
    public var code: Code
    /// What is wrong, as a sentence that names the entity and property.
    public var message: String
    /// The entity, or `Entity.property`, at fault; empty where the objects themselves are.
    public var place: String

    /// An error of a kind, with a sentence, and the place in the model or graph that it is about.
    public init(_ code: Code, _ message: String, at place: String = "") {
        self.code = code
        self.message = message
        self.place = place
    }

    public var description: String { message }
}

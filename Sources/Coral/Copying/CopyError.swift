import CodedErrors
import CoreData

extension GraphCopier: ErrorDomain {
    /// The message alone, because it contains the place, which is the entity or `Entity.property` of the error.
    public static func _description(of message: String, at place: String?) -> String { message }
}

/// The reason why objects cannot be copied. No copies were created, or they were removed again.
public typealias CopyError = CodedError<GraphCopier>

extension CopyError.Code {
    /// An invalid directive in the model's user info, or an invalid rule in code.
    public static let wrongDirective = Self(rawValue: "wrongDirective")
    /// An object has no context, or the objects belong to several.
    public static let noContext = Self(rawValue: "noContext")
    /// An object to copy does not exist or was deleted.
    public static let missingObject = Self(rawValue: "missingObject")
    /// The model of the copies does not have an entity, or has an attribute of another type.
    public static let modelMismatch = Self(rawValue: "modelMismatch")
    /// A value that must be unique cannot be made unique.
    public static let notUnique = Self(rawValue: "notUnique")
    /// A closure returned a value that the attribute does not accept.
    public static let wrongValue = Self(rawValue: "wrongValue")
}

/// A reference or a value of an original that its copy does not have, although no rule requires the omission.
public struct CopyOmission: Sendable, Hashable, CustomStringConvertible {
    /// The reason. A struct, so that adding one does not break a `switch`.
    public struct Reason: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The object is not copied, and the inverse is to-one: a link would remove the object from the original.
        public static let exclusive = Reason(rawValue: "exclusive")
        /// The object is not copied, and a link would change it, which the rules do not allow.
        public static let untouched = Reason(rawValue: "untouched")
        /// The object does not exist: the store contains a dangling reference.
        public static let dangling = Reason(rawValue: "dangling")
        /// The object is in another store without a counterpart in that of the copies; or it is unsaved, and the copies
        /// are in another context.
        public static let unreachable = Reason(rawValue: "unreachable")
        /// The object is not in the subset; see `GraphSubset`.
        public static let outside = Reason(rawValue: "outside")
        /// The file beside the store that holds the attribute's value does not exist.
        public static let missingFile = Reason(rawValue: "missingFile")
    }

    /// The original that has the relationship or the attribute.
    public var original: NSManagedObjectID
    /// The relationship, or the attribute of a missing file, as `Entity.name`.
    public var relationship: String
    /// The object that the copy does not refer to; for a missing file, the original.
    public var object: NSManagedObjectID
    /// The reason for the omission.
    public var reason: Reason

    public var description: String {
        if reason == .missingFile {
            return
                "\(relationship) of \(original.uriRepresentation().absoluteString) is not copied: the file that holds the "
                + "value does not exist."
        }
        let what =
            switch reason {
            case .exclusive: "is not copied, and a link would remove it from the original"
            case .untouched: "is not copied, and a link would change it"
            case .dangling: "does not exist"
            case .outside: "is not in the subset"
            default: "has no counterpart where the copies are"
            }
        return "\(relationship) of \(original.uriRepresentation().absoluteString) refers to "
            + "\(object.uriRepresentation().absoluteString), which \(what)."
    }
}

import CodedErrors

/// The errors of this module; those of the toolkit are the toolkit's own.
public enum ModelToolkitErrorDomain: ErrorDomain {}
/// An error in the rules of models, or in their use with the toolkit. The place is a class, or a property of one.
public typealias ModelToolkitError = CodedError<ModelToolkitErrorDomain>

extension ModelToolkitError.Code {
    /// A model that is in no context.
    public static let noContext = Self(rawValue: "noContext")
    /// A rule that does not fit the class.
    public static let wrongRule = Self(rawValue: "wrongRule")
}

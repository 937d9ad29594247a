import CodedErrors

extension ManagedObjectReference: ErrorDomain {}

/// The reason why a reference cannot be created, or an archive of objects not be written or read.
public typealias ReferenceError = CodedError<ManagedObjectReference>

extension ReferenceError.Code {
    /// The object has no context or was deleted, or a decoder has none (`CodingUserInfoKey.managedObjectContext`).
    public static let noContext = Self(rawValue: "noContext")
    /// The URI is not that of a managed object.
    public static let wrongURI = Self(rawValue: "wrongURI")
    /// The archive cannot be read, or contains a class that is not allowed.
    public static let unreadable = Self(rawValue: "unreadable")
    /// A value cannot be archived.
    public static let unwritable = Self(rawValue: "unwritable")
}

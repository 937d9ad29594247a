@_exported import CodedErrors  // because the errors of this module have its type

/// The domain of ``ArchiveError``.
public enum ArchiveErrorDomain: ErrorDomain {
    /// The position in the file, or the object of the archive.
    public typealias Place = ArchivePlace
}

/// An error in a property list or a keyed archive, and its position.
public typealias ArchiveError = CodedError<ArchiveErrorDomain>

extension ArchiveError.Code {
    /// The bytes are not in the expected format.
    public static let unknownFormat = Self(rawValue: "unknownFormat")
    /// The file is truncated, or an offset points outside it.
    public static let outOfRange = Self(rawValue: "outOfRange")
    /// A marker or value that the format does not define.
    public static let malformed = Self(rawValue: "malformed")
    /// A container contains itself.
    public static let cycle = Self(rawValue: "cycle")
    /// The contents exceed the size or depth limit.
    public static let tooLarge = Self(rawValue: "tooLarge")
    /// The property list is not a keyed archive.
    public static let notAnArchive = Self(rawValue: "notAnArchive")
    /// A reference to an object that does not exist.
    public static let danglingReference = Self(rawValue: "danglingReference")
}

/// Where an error in a property list or a keyed archive is.
public enum ArchivePlace: Sendable, Hashable, CustomStringConvertible {
    /// A byte, by its offset from the beginning of the file.
    case byte(Int)
    /// An object, by its index in the archive's object table.
    case object(Int)

    public var description: String {
        switch self {
        case .byte(let offset): "at byte \(offset)"
        case .object(let number): "object \(number)"
        }
    }
}

import Foundation

/// An error of writing a file or of moving it to its destination.
public struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of the error.
    public enum Code: String, Sendable, Hashable {
        /// A file exists that must not be replaced.
        case exists
        /// A system call failed; `systemCode` has the reason.
        case system
    }

    /// The kind of the error.
    public let code: Code
    /// The path of the file.
    public let path: String
    /// The value of `errno`; 0 if no system call failed.
    public let systemCode: Int32

    init(_ code: Code, path: String, systemCode: Int32 = 0) {
        self.code = code
        self.path = path
        self.systemCode = systemCode
    }

    /// The error of the last system call.
    static func system(path: String) -> FileError { FileError(.system, path: path, systemCode: errno) }

    /// The error for a file at a path where none may exist.
    package static func existing(_ path: String) -> FileError { FileError(.exists, path: path) }

    /// The system's description of the error, without the path.
    public var reason: String {
        code == .exists ? "there is a file already" : String(cString: strerror(systemCode))
    }

    public var description: String { "Cannot write \(path): \(reason)." }
}

import Foundation

/// Why a file could not be made, or could not take its place.
public struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What has failed.
    public enum Code: String, Sendable, Hashable {
        /// There is a file already, which must not be replaced.
        case exists
        /// The system has refused an operation; `systemCode` says why.
        case system
    }

    /// What has failed.
    public let code: Code
    /// The path of the file.
    public let path: String
    /// The value of `errno`; 0 where the system has refused nothing.
    public let systemCode: Int32

    init(_ code: Code, path: String, systemCode: Int32 = 0) {
        self.code = code
        self.path = path
        self.systemCode = systemCode
    }

    /// The error that the system has just reported.
    static func system(path: String) -> FileError { FileError(.system, path: path, systemCode: errno) }

    /// There is a file at a path where none may be.
    package static func existing(_ path: String) -> FileError { FileError(.exists, path: path) }

    /// What the system says about the error, without the path.
    public var reason: String {
        code == .exists ? "there is a file already" : String(cString: strerror(systemCode))
    }

    public var description: String { "Cannot write \(path): \(reason)." }
}

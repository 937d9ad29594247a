import Foundation

/// File operations of the system that throw `FileError`.
package enum FileSystem {
    /// Flushes a file's content, or a folder's entries, to disk. Does nothing on file systems that do not support this.
    package static func synchronize(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError.system(path: path) }
        defer { close(descriptor) }
        try synchronize(descriptor, path: path)
    }

    /// Flushes the content of an open file to disk. On Apple's platforms `fsync` would leave it in the disk's cache.
    package static func synchronize(_ descriptor: Int32, path: String) throws {
        #if canImport(Darwin)
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else { throw FileError.system(path: path) }
    }

    /// Flushes a folder and everything below it to disk.
    package static func synchronizeTree(_ folder: String) throws {
        for path in FileManager.default.subpaths(atPath: folder) ?? [] {
            let full = (folder as NSString).appendingPathComponent(path)
            guard let status = FileStatus(full, followingLinks: false), status.isRegular || status.isFolder else {
                continue
            }
            try synchronize(full)
        }
        try synchronize(folder)
    }

    /// Renames a file, replacing an existing file of the new name.
    package static func rename(_ old: String, to new: String) throws {
        guard systemRename(old, new) == 0 else { throw FileError.system(path: new) }
    }

    /// Renames a file. Throws `FileError` with the code `exists` if there is a file of the new name.
    package static func renameWithoutReplacing(_ old: String, to new: String) throws {
        // A hard link is created atomically, and fails if the name exists.
        if link(old, new) == 0 {
            // The file has its new name. The old one is in a folder that is removed later.
            unlink(old)
            return
        }
        if errno == EEXIST { throw FileError(.exists, path: new) }
        // For folders, and for file systems without hard links.
        guard [EPERM, ENOTSUP, EMLINK, ENOSYS].contains(errno) else { throw FileError.system(path: new) }
        guard FileStatus(new, followingLinks: false) == nil else { throw FileError(.exists, path: new) }
        try rename(old, to: new)
    }

    /// Creates a hard link to a file. Returns false if the file system has no hard links; throws if the name is in use.
    package static func addName(_ new: String, to old: String) throws -> Bool {
        if link(old, new) == 0 { return true }
        if [EPERM, ENOTSUP, EMLINK, ENOSYS, EXDEV].contains(errno) { return false }
        if errno == EEXIST { throw FileError(.exists, path: new) }
        throw FileError.system(path: new)
    }

    /// Removes a file; a missing file is not an error.
    package static func remove(_ path: String) throws {
        guard unlink(path) == 0 || errno == ENOENT else { throw FileError.system(path: path) }
    }

    /// Copies the permissions of a file, and its owner if this process is allowed to set it.
    package static func copyPermissions(of old: String, to new: String) throws {
        guard let status = FileStatus(old) else { return }
        _ = chown(new, status.owner.user, status.owner.group)
        guard chmod(new, status.permissions) == 0 else { throw FileError.system(path: new) }
    }
}

/// `rename` of the C library, which cannot be called inside a type with a method of that name.
private func systemRename(_ old: String, _ new: String) -> Int32 { rename(old, new) }

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

/// A lock on a folder among processes that use this type, released when it is deallocated or the process ends.
///
/// On a file system without such locks, nothing is locked.
package final class FolderLock {
    private let descriptor: Int32

    /// Waits until no other process has the lock. Throws `CocoaError.userCancelled` if the progress is cancelled first.
    package init(_ path: String, progress: Progress) throws {
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR {
            if progress.isCancelled { throw CocoaError(.userCancelled) }
            usleep(10_000)
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}

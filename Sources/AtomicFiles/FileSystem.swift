import Foundation

/// Operations of the system on files, with errors as `FileError` has them.
package enum FileSystem {
    /// Forces a file's content, or a folder's list of names, to disk. File systems that cannot do so are left alone.
    package static func synchronize(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError.system(path: path) }
        defer { close(descriptor) }
        try synchronize(descriptor, path: path)
    }

    /// Forces the content of an open file to disk. On Apple's platforms `fsync` leaves it in the disk's cache.
    package static func synchronize(_ descriptor: Int32, path: String) throws {
        #if canImport(Darwin)
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else { throw FileError.system(path: path) }
    }

    /// Forces a folder and everything below it to disk.
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

    /// Gives a file another name, in place of a file that has it.
    package static func rename(_ old: String, to new: String) throws {
        guard systemRename(old, new) == 0 else { throw FileError.system(path: new) }
    }

    /// Gives a file another name, which no file may have: `FileError` with the code `exists` otherwise.
    package static func renameWithoutReplacing(_ old: String, to new: String) throws {
        // A link is made only where there is no file, in one operation.
        if link(old, new) == 0 {
            guard unlink(old) == 0 else { throw FileError.system(path: old) }
            return
        }
        if errno == EEXIST { throw FileError(.exists, path: new) }
        // Folders, and file systems without hard links.
        guard [EPERM, ENOTSUP, EMLINK, ENOSYS].contains(errno) else { throw FileError.system(path: new) }
        guard FileStatus(new, followingLinks: false) == nil else { throw FileError(.exists, path: new) }
        try rename(old, to: new)
    }

    /// Gives a file a second name. False where the file system has no hard links; throws where there is such a file.
    package static func addName(_ new: String, to old: String) throws -> Bool {
        if link(old, new) == 0 { return true }
        if [EPERM, ENOTSUP, EMLINK, ENOSYS, EXDEV].contains(errno) { return false }
        if errno == EEXIST { throw FileError(.exists, path: new) }
        throw FileError.system(path: new)
    }

    /// Removes a file; that there is none is no error.
    package static func remove(_ path: String) throws {
        guard unlink(path) == 0 || errno == ENOENT else { throw FileError.system(path: path) }
    }

    /// Gives a file the permissions of another, and its owner where this process may do so.
    package static func copyPermissions(of old: String, to new: String) throws {
        guard let status = FileStatus(old) else { return }
        _ = chown(new, status.owner.user, status.owner.group)
        guard chmod(new, status.permissions) == 0 else { throw FileError.system(path: new) }
    }
}

/// `rename` of the C library, which inside a type with a method of that name cannot be called otherwise.
private func systemRename(_ old: String, _ new: String) -> Int32 { rename(old, new) }

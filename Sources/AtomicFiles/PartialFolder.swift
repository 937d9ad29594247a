import Foundation

// How files are written atomically.
//
// A file, a folder or a store is created in a `PartialFolder`, `.NAME.UUID.partial` beside its destination, and renamed
// when it is complete and on disk. The folder is locked while its process runs, so that the next process can detect and
// remove the folder of a killed one. `AtomicFile` does this for documents, `ModelReplacement` for models,
// `StoreCreation.makeStore` for stores: with the engine by `StoreReplacement`, with Apple's framework by Core Data's
// `replacePersistentStore`. Files beside a document are named by the SHA-256 of their content, so that old and new ones
// never have the same name. `Scripts/run-kills` tests this by killing the commands.

/// A folder beside a file's destination in which the file is created, so that the destination contains either the
/// complete file or its previous content.
///
///     let folder = try PartialFolder(for: url)
///     try data.write(to: folder.item)
///     try folder.commit()
///
/// The folder is called `.NAME.UUID.partial`, where NAME is the name of the file; the file in it has the same name. The
/// folder is removed when this object is deallocated. A killed process leaves it behind, and the next process that
/// creates a folder for the same destination removes it. To distinguish the two cases, a running process locks its
/// folder with `flock`; the kernel releases the lock when the process ends. If the file system does not support this
/// lock, the folders of other processes are not removed.
public final class PartialFolder {
    /// The destination, without symbolic links: a link at the destination is kept, and the file to which it refers is
    /// replaced.
    public let destination: URL
    /// The folder.
    public let url: URL
    /// The location at which the file is created.
    public let item: URL
    /// The folder, open and locked.
    private let descriptor: Int32
    private var isRemoved = false

    /// Creates the folder, and removes the folders that killed processes have left for the same destination.
    ///
    /// Cost: lists the folder of the destination. Throws ``FileError`` if that folder is not writable.
    ///
    /// - Parameter willRemove: Called with each folder of a killed process before it is removed.
    public init(for destination: URL, willRemove: (URL) -> Void = { _ in }) throws {
        self.destination = destination.withoutLinks
        Self.removeLeftovers(of: self.destination, willRemove)
        (url, descriptor) = try Self.make(for: self.destination)
        item = url.appendingPathComponent(self.destination.lastPathComponent)
    }

    deinit {
        remove()
        close(descriptor)
    }

    /// Removes the folder and its content.
    public func remove() {
        guard !isRemoved else { return }
        isRemoved = true
        try? FileManager.default.removeItem(at: url)
    }

    private static func make(for destination: URL) throws -> (url: URL, descriptor: Int32) {
        let parent = destination.deletingLastPathComponent()
        while true {
            let url = parent.appendingPathComponent(".\(destination.lastPathComponent).\(UUID().uuidString).partial")
            guard mkdir(url.path, 0o700) == 0 else { throw FileError.system(path: destination.path) }
            let descriptor = open(url.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if descriptor >= 0 {
                // Another process may remove the folder as abandoned before it is locked.
                let isOwn = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
                if isOwn, let own = FileStatus(descriptor: descriptor), let there = FileStatus(url.path),
                    own.isSame(as: there)
                {
                    return (url, descriptor)
                }
                close(descriptor)
            } else if errno != ENOENT {
                let error = FileError.system(path: destination.path)
                rmdir(url.path)
                throw error
            }
        }
    }

    // MARK: - Abandoned folders

    /// The existing folders for a destination, of running and of killed processes.
    package static func folders(for destination: URL) -> [URL] {
        let (parent, name) = (destination.deletingLastPathComponent(), destination.lastPathComponent)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        return names.sorted().filter { candidate in
            guard candidate.hasPrefix(".\(name)."), candidate.hasSuffix(".partial") else { return false }
            return UUID(uuidString: String(candidate.dropFirst(name.count + 2).dropLast(8))) != nil
        }.map(parent.appendingPathComponent)
    }

    private static func removeLeftovers(of destination: URL, _ willRemove: (URL) -> Void) {
        for folder in folders(for: destination) {
            let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { continue }
            restorePrevious(to: destination, from: folder)
            willRemove(folder)
            try? FileManager.default.removeItem(at: folder)
        }
    }

    // MARK: - Committing

    /// Moves the item to the destination, replacing what is there: a file atomically; a folder is moved away first, and
    /// is restored by the next process if this one is killed in between.
    ///
    /// The item is flushed to disk before, and the folder of the destination afterwards. A file gets the permissions of
    /// the one that it replaces. Then the partial folder is removed. Throws ``FileError``, with the code `exists` if
    /// there is a file and `replacing` is false; the destination is then unchanged.
    public func commit(replacing: Bool = true) throws {
        guard let status = FileStatus(item.path, followingLinks: false) else {
            throw FileError.system(path: destination.path)
        }
        if status.isFolder {
            try FileSystem.synchronizeTree(item.path)
            try exchangeFolder(replacing: replacing)
        } else {
            try FileSystem.synchronize(item.path)
            if replacing {
                try FileSystem.copyPermissions(of: destination.path, to: item.path)
                try FileSystem.rename(item.path, to: destination.path)
            } else {
                try FileSystem.renameWithoutReplacing(item.path, to: destination.path)
            }
        }
        // An error here could no longer undo the replacement.
        try? FileSystem.synchronize(destination.deletingLastPathComponent().path)
        remove()
    }

    /// The temporary location of a folder that is being replaced.
    private static func previous(in folder: URL) -> URL { folder.appendingPathComponent("previous") }

    private func exchangeFolder(replacing: Bool) throws {
        let previous = Self.previous(in: url)
        if FileStatus(destination.path, followingLinks: false) != nil {
            guard replacing else { throw FileError(.exists, path: destination.path) }
            try FileSystem.rename(destination.path, to: previous.path)
        }
        do {
            try FileSystem.rename(item.path, to: destination.path)
        } catch {
            Self.restorePrevious(to: destination, from: url)
            throw error
        }
    }

    private static func restorePrevious(to destination: URL, from folder: URL) {
        let previous = previous(in: folder)
        guard FileStatus(previous.path, followingLinks: false) != nil,
            FileStatus(destination.path, followingLinks: false) == nil
        else { return }
        try? FileSystem.rename(previous.path, to: destination.path)
    }
}

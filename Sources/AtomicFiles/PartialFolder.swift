import Foundation

/// A folder beside the place of a file in which that file is made, so that the place holds the whole file or what it held
/// before.
///
///     let folder = try PartialFolder(for: url)
///     try data.write(to: folder.item)
///     try folder.commit()
///
/// The folder is called `.NAME.UUID.partial`, where NAME is the name of the file, and what is made in it has that name too. It is
/// removed when this object is released. A process that is killed leaves it behind; the next process that makes a folder for
/// the same place removes it. To tell the two apart, a running process locks its folder with `flock`, which the kernel
/// unlocks when the process ends. Where the file system has no such lock, the folders of others stay.
public final class PartialFolder {
    /// Where the file will be, without symbolic links: a link at the place stays, and the file that it leads to is replaced.
    public let place: URL
    /// The folder.
    public let url: URL
    /// Where the file is made.
    public let item: URL
    /// The folder, open and locked.
    private let descriptor: Int32
    private var isRemoved = false

    /// Makes the folder, and removes those that killed processes have left for the same place.
    ///
    /// Cost: the names in the folder of the place are read. Throws ``FileError`` where it cannot be written to.
    ///
    /// - Parameter willRemove: Called with each folder of a killed process before it is removed.
    public init(for place: URL, willRemove: (URL) -> Void = { _ in }) throws {
        self.place = place.withoutLinks
        Self.removeLeftovers(of: self.place, willRemove)
        (url, descriptor) = try Self.make(for: self.place)
        item = url.appendingPathComponent(self.place.lastPathComponent)
    }

    deinit {
        remove()
        close(descriptor)
    }

    /// Removes the folder and what is in it.
    public func remove() {
        guard !isRemoved else { return }
        isRemoved = true
        try? FileManager.default.removeItem(at: url)
    }

    private static func make(for place: URL) throws -> (url: URL, descriptor: Int32) {
        let parent = place.deletingLastPathComponent()
        while true {
            let url = parent.appendingPathComponent(".\(place.lastPathComponent).\(UUID().uuidString).partial")
            guard mkdir(url.path, 0o700) == 0 else { throw FileError.system(path: place.path) }
            let descriptor = open(url.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if descriptor >= 0 {
                // Another process may take the folder for a leftover before it is locked.
                let isOwn = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
                if isOwn, let own = FileStatus(descriptor: descriptor), let there = FileStatus(url.path),
                    own.isSame(as: there)
                {
                    return (url, descriptor)
                }
                close(descriptor)
            } else if errno != ENOENT {
                let error = FileError.system(path: place.path)
                rmdir(url.path)
                throw error
            }
        }
    }

    // MARK: - What killed processes have left

    /// The folders for a place that are there, of processes that run and of killed ones.
    package static func folders(for place: URL) -> [URL] {
        let (parent, name) = (place.deletingLastPathComponent(), place.lastPathComponent)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        return names.sorted().filter { candidate in
            guard candidate.hasPrefix(".\(name)."), candidate.hasSuffix(".partial") else { return false }
            return UUID(uuidString: String(candidate.dropFirst(name.count + 2).dropLast(8))) != nil
        }.map(parent.appendingPathComponent)
    }

    private static func removeLeftovers(of place: URL, _ willRemove: (URL) -> Void) {
        for folder in folders(for: place) {
            let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { continue }
            restorePrevious(to: place, from: folder)
            willRemove(folder)
            try? FileManager.default.removeItem(at: folder)
        }
    }

    // MARK: - Taking the place

    /// Puts the item in its place. What is there is replaced: a file in one operation; a folder is moved away first, and moved
    /// back by the next process where this one is killed in between.
    ///
    /// The item is forced to disk before, the folder of the place afterwards. A file keeps the permissions of the one that it
    /// replaces. Then the folder is removed. Throws ``FileError``, with the code `exists` where there is a file and
    /// `replacing` is false; then the place is as it was.
    public func commit(replacing: Bool = true) throws {
        guard let status = FileStatus(item.path, followingLinks: false) else {
            throw FileError.system(path: place.path)
        }
        if status.isFolder {
            try FileSystem.synchronizeTree(item.path)
            try exchangeFolder(replacing: replacing)
        } else {
            try FileSystem.synchronize(item.path)
            if replacing {
                try FileSystem.copyPermissions(of: place.path, to: item.path)
                try FileSystem.rename(item.path, to: place.path)
            } else {
                try FileSystem.renameWithoutReplacing(item.path, to: place.path)
            }
        }
        // What this reports would come too late: the file has its place.
        try? FileSystem.synchronize(place.deletingLastPathComponent().path)
        remove()
    }

    /// Where a folder waits that is being replaced.
    private static func previous(in folder: URL) -> URL { folder.appendingPathComponent("previous") }

    private func exchangeFolder(replacing: Bool) throws {
        let previous = Self.previous(in: url)
        if FileStatus(place.path, followingLinks: false) != nil {
            guard replacing else { throw FileError(.exists, path: place.path) }
            try FileSystem.rename(place.path, to: previous.path)
        }
        do {
            try FileSystem.rename(item.path, to: place.path)
        } catch {
            Self.restorePrevious(to: place, from: url)
            throw error
        }
    }

    private static func restorePrevious(to place: URL, from folder: URL) {
        let previous = previous(in: folder)
        guard FileStatus(previous.path, followingLinks: false) != nil,
            FileStatus(place.path, followingLinks: false) == nil
        else { return }
        try? FileSystem.rename(previous.path, to: place.path)
    }
}

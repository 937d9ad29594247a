import AtomicFiles
import Coral

/// Finds the stores in a folder and the folders in it, without following symbolic links.
struct StoreFinder {
    let folder: URL

    /// The stores, in the order of their paths. Cost: the first bytes of each file are read, and the metadata of each
    /// database. Warns of files and folders that cannot be read.
    ///
    /// Throws `CommandError` if the folder cannot be read, or is a backup that cannot be read, and
    /// `CocoaError.userCancelled`.
    func stores(progress: Progress) throws -> [FoundStore] {
        if let backup = try DeviceBackup(folder) { return try backup.stores(progress: progress) }
        guard access(folder.path, R_OK | X_OK) == 0 else {
            throw CommandError("The folder \(folder.path) cannot be read.")
        }
        let (paths, unreadable) = try databases(progress: progress)
        StandardError.warn(unreadable.prefix(10).map { "\($0) cannot be read." }, of: unreadable.count)
        return try paths.compactMap { path in
            if progress.isCancelled { throw CocoaError(.userCancelled) }
            progress.completedUnitCount += 1
            return FoundStore(inspecting: URL(fileURLWithPath: path), origin: Self.origin(of: path))
        }
    }

    /// The paths of the files that begin as SQLite databases do, and of files and folders that cannot be read, sorted.
    ///
    /// Throws `CocoaError.userCancelled`.
    func databases(progress: Progress) throws -> (found: [String], unreadable: [String]) {
        var paths: [String] = []
        var unreadable: [String] = []
        for case let path as String in FileManager.default.enumerator(atPath: folder.path) ?? .init() {
            if progress.isCancelled { throw CocoaError(.userCancelled) }
            let file = folder.appendingPathComponent(path).path
            if Self.isUnreadable(file) { unreadable.append(file) }
            if Self.isDatabase(file) { paths.append(file) }
        }
        return (paths.sorted(), unreadable.sorted())
    }

    /// Whether a file or folder, but not a link or a device, cannot be read.
    private static func isUnreadable(_ path: String) -> Bool {
        guard let status = FileStatus(path, followingLinks: false), status.isRegular || status.isFolder else {
            return false
        }
        return access(path, status.isFolder ? R_OK | X_OK : R_OK) != 0
    }

    /// Whether a file begins as an SQLite database does.
    static func isDatabase(_ path: String) -> Bool {
        guard FileStatus(path, followingLinks: false)?.isRegular == true, let file = FileHandle(forReadingAtPath: path)
        else { return false }
        defer { try? file.close() }
        return (try? file.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
    }

    /// The app or library that a path belongs to.
    private static func origin(of path: String) -> String? {
        let parts = path.split(separator: "/").map(String.init)
        for (index, part) in parts.enumerated() {
            if part.hasSuffix(".photoslibrary") { return "Photos library \(part)" }
            if ["Containers", "Group Containers"].contains(part), index + 2 < parts.count {
                return "container of \(parts[index + 1])"
            }
            // The folder of an app's data on a device, or in a simulator.
            let folder = "/" + parts[...index].joined(separator: "/")
            let metadata = folder + "/.com.apple.mobile_container_manager.metadata.plist"
            guard let data = FileManager.default.contents(atPath: metadata),
                let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any],
                let identifier = list["MCMMetadataIdentifier"] as? String
            else { continue }
            return "container of \(identifier)"
        }
        return nil
    }
}

/// What a command reads of a store before it opens it.
struct StoreHeader {
    /// The version hashes of the store's entities by their names; nil if its metadata has none.
    var versionHashes: [String: Data]? { metadata[NSStoreModelVersionHashesKey] as? [String: Data] }
    let metadata: [String: Any]
    #if !canImport(Darwin)
        /// What was read together with the store's own model; nil if the model was given.
        let inspection: StoreInspection?
    #endif

    /// Reads the metadata of a store whose model is known. Throws errors of Core Data's.
    init(ofStoreAt url: URL) throws {
        metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: url.storeType, at: url, options: [NSReadOnlyPersistentStoreOption: true])
        #if !canImport(Darwin)
            inspection = nil
        #endif
    }

    /// Whether the store contains its model; false if that cannot be read.
    func hasModel(ofStoreAt url: URL) -> Bool {
        #if canImport(Darwin)
            return false
        #else
            return (try? containsModel(ofStoreAt: url)) == true
        #endif
    }

    #if !canImport(Darwin)
        init(_ inspection: StoreInspection) {
            metadata = inspection.metadata
            self.inspection = inspection
        }

        /// Whether the store contains its model, as one does that was created with an inferred model.
        func containsModel(ofStoreAt url: URL) throws -> Bool { try inspect(url).cachedModelValue != nil }

        /// The store's journal mode. Throws errors of Core Data's.
        func journalMode(of url: URL) throws -> String { try inspect(url).journalMode }

        /// A warning that a process ended during a transaction; nil if none did. Throws errors of Core Data's.
        func warningOfUnfinishedTransaction(of url: URL) throws -> String? {
            // Only such a store has a journal, so that others need not be inspected for this.
            guard FileManager.default.fileExists(atPath: url.resolvingSymlinksInPath().path + "-journal") else {
                return nil
            }
            let inspection = try inspect(url)
            return inspection.hasUnfinishedTransaction ? inspection.journalState : nil
        }

        private func inspect(_ url: URL) throws -> StoreInspection { try inspection ?? StoreInspection(url: url) }
    #endif
}

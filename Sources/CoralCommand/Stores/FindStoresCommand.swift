import ArgumentParser
import AtomicFiles
import Coral

/// `coral find-stores`: the stores in a folder, or the object of a URI.
struct FindStoresCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find-stores", abstract: "Finds the stores in a folder, and the object of a URI.",
        discussion: """
            A folder is searched with all folders in it: a Photos library, the container of an app, a whole home \
            folder. A backup of an iOS device is recognised by its Manifest.db; --copy-to copies its stores, with \
            their logs and large values, under the names that they had on the device.

            For a URI of an object the store with its UUID is searched for in the folder of --in, and the object is \
            shown as by coral get.

            EXAMPLES:
              coral find-stores 'Photos Library.photoslibrary'
              coral find-stores 00008030-001A2B3C4D5E6F70 --copy-to Stores
              coral find-stores x-coredata://6A7E0F9B-9B0E-4B4F-8C5D-0C1A5C9B6F0E/Note/p3 \\
                --in ~/Library
            """)

    @Argument(help: "A folder, a store, or the URI of an object.", completion: .directory)
    var location: String

    @Option(
        name: .customLong("in"),
        help: ArgumentHelp(
            "The folder in which the store of a URI is searched for. Default: the current one.", valueName: "folder"),
        completion: .directory)
    var folder: String?

    @Option(
        name: .long, help: ArgumentHelp("Copy the stores of a backup to this folder.", valueName: "folder"),
        completion: .directory)
    var copyTo: String?

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    private var isURI: Bool { location.lowercased().hasPrefix("x-coredata:") }

    func validate() throws {
        if folder != nil, !isURI { throw ValidationError("--in requires the URI of an object.") }
        if copyTo != nil, isURI { throw ValidationError("--copy-to requires a backup of a device, not a URI.") }
    }

    func run() throws {
        guard proof.proof else { return try find() }
        try proof.prove(databases(), writing: copyTo.map { URL(fileURLWithPath: $0) }, body: find)
    }

    /// The files that are read.
    private func databases() throws -> [String] {
        let url = isURI ? searchedFolder : URL(storeAt: location)
        guard url.isFileURL else { return [location] }
        guard FileStatus(url.path)?.isFolder == true else { return [url.path] }
        return try Work.run("Searching", noun: nil) { try StoreFinder(folder: url).databases(progress: $0).found }
    }

    private var searchedFolder: URL { URL(fileURLWithPath: folder ?? FileManager.default.currentDirectoryPath) }

    private func find() throws {
        guard !isURI else { return try showObject() }
        let url = URL(storeAt: location)
        guard url.isFileURL else { return try showServer(url) }
        guard let status = FileStatus(url.path) else {
            throw CommandError("There is no file or folder at \(location).")
        }
        guard status.isFolder else {
            try OpenStore.requireFile(url)
            if copyTo != nil { throw CommandError("--copy-to requires a backup of a device: \(location) is a file.") }
            guard StoreFinder.isDatabase(url.withoutLinks.path) else {
                throw CommandError(
                    "\(location) does not begin as an SQLite database does: it is not a store, or is damaged.")
            }
            guard let store = FoundStore(inspecting: url, origin: nil) else {
                throw CommandError("\(location) is not a store of Core Data.")
            }
            return try show([store], in: "")
        }
        let stores = try stores(in: url)
        try copy(stores, from: url)
        guard !stores.isEmpty else { throw CommandError("There is no store of Core Data in \(location).") }
        try show(stores, in: url.path)
    }

    private func showServer(_ url: URL) throws {
        if copyTo != nil { throw CommandError("--copy-to requires a backup of a device, not a store in PostgreSQL.") }
        let url = try OpenStore.location(at: location)
        guard let store = FoundStore(inspecting: url, shownPath: url.storeName, origin: nil) else { return }
        try show([store], in: "")
    }

    private func stores(in folder: URL) throws -> [FoundStore] {
        try Work.run("Searching", noun: "database") { try StoreFinder(folder: folder).stores(progress: $0) }
    }

    private func show(_ stores: [FoundStore], in folder: String) throws {
        try json ? JSONOutput.write(stores) : Pager.write(FoundStore.table(stores, in: folder))
    }

    private func copy(_ stores: [FoundStore], from folder: URL) throws {
        guard let copyTo else { return }
        guard let backup = try DeviceBackup(folder) else {
            throw CommandError("--copy-to requires a backup of a device: \(location) has no Manifest.db.")
        }
        let destination = URL(fileURLWithPath: copyTo)
        for store in stores { try backup.requireFree(store.path, in: destination) }
        let copies = try Work.run("Copying", noun: "store") { progress in
            progress.begin(stores.count)
            var made: [[String]] = []
            do {
                for store in stores {
                    if progress.isCancelled { throw CocoaError(.userCancelled) }
                    made.append(try backup.copyStore(at: store.path, to: destination))
                    progress.completedUnitCount += 1
                }
            } catch {
                // All stores or none are copied.
                DeviceBackup.remove(made.flatMap { $0 })
                throw error
            }
            return made.compactMap(\.last)
        }
        for copy in copies { StandardError.report("Copied: \(copy)") }
    }

    /// Shows the object of a URI, in the first store with its UUID.
    private func showObject() throws {
        guard let argument = ObjectArgument(argument: location), let uuid = argument.storeUUID else {
            throw CommandError("\(location) is not the URI of an object: x-coredata://UUID/Entity/p3.")
        }
        let url = searchedFolder
        guard FileStatus(url.path)?.isFolder == true else { throw CommandError("There is no folder at \(url.path).") }
        let found = try stores(in: url).filter { $0.uuid?.caseInsensitiveCompare(uuid) == .orderedSame }
        guard let store = found.first else {
            throw CommandError("There is no store with the UUID \(uuid) in \(url.path). Name another folder with --in.")
        }
        if found.count > 1 { StandardError.warn("\(found.count) stores have this UUID; the first is shown.") }
        StandardError.report("Store: \(store.path)")
        let location = URL(fileURLWithPath: store.path)
        let open = try OpenStore(url: location, model: ModelSource.ownModel(of: location.withoutLinks))
        try open.context.performAndWait {
            let cards = ObjectCards(try argument.object(in: open), depth: 0, limit: 1, zone: nil)
            try json ? StandardOutput.write(cards.json()) : Pager.write(cards.text)
        }
    }
}

import Foundation
import Synchronization

/// A model, its coordinator and stores, and a context for the main queue: the usual way to set up a program.
open class NSPersistentContainer: NSObject, @unchecked Sendable {  // because a lock guards its state
    private struct Descriptions: @unchecked Sendable {  // because the array is replaced, never changed in place
        /// Nil until they are read or set.
        var list: [NSPersistentStoreDescription]?
    }

    private let containerName: String
    private let coordinator: NSPersistentStoreCoordinator
    private let mainContext: NSManagedObjectContext
    private let descriptions = Mutex(Descriptions())
    private let followings = Mutex<[HistoryFollowing]>([])

    /// Creates a container with the model of a name: `Name.momd` or `Name.mom` among the resources of the program or of
    /// its modules.
    ///
    /// If no such model is found, a message is written to standard error and the model is empty, as on Apple's
    /// platforms.
    public convenience init(name: String) {
        self.init(name: name, managedObjectModel: ModelResources.model(named: name))
    }

    /// Creates a container with a model. Its one description is of an SQLite store `Name.sqlite` in
    /// ``defaultDirectoryURL()``.
    public init(name: String, managedObjectModel model: NSManagedObjectModel) {
        containerName = name
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        coordinator.name = name
        mainContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        mainContext.persistentStoreCoordinator = coordinator
        super.init()
    }

    /// Creates a container without a name and with an empty model, as the initial value of a variable.
    public convenience override init() {
        self.init(name: "", managedObjectModel: NSManagedObjectModel())
    }

    deinit {
        for following in followings.withLock({ $0 }) { following.cancel() }
    }

    /// Retains the merging of history for the lifetime of the container.
    final func keep(_ following: HistoryFollowing) { followings.withLock { $0.append(following) } }

    /// The default folder of stores: a folder with the program's name in the user's application data folder.
    open class func defaultDirectoryURL() -> URL {
        let manager = FileManager.default
        let base = manager.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
        return (base ?? manager.temporaryDirectory)
            .appendingPathComponent(ProcessInfo.processInfo.processName, isDirectory: true)
    }

    /// The container's name.
    open var name: String { containerName }

    /// A context of the main queue, connected to the coordinator.
    open var viewContext: NSManagedObjectContext { mainContext }

    /// The model.
    open var managedObjectModel: NSManagedObjectModel { coordinator.managedObjectModel }

    /// The coordinator.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator { coordinator }

    /// The descriptions of the stores that ``loadPersistentStores(completionHandler:)`` adds.
    open var persistentStoreDescriptions: [NSPersistentStoreDescription] {
        get {
            if let list = descriptions.withLock({ $0 }).list { return list }
            let url = type(of: self).defaultDirectoryURL().appendingPathComponent(containerName + ".sqlite")
            let initial = Descriptions(list: [NSPersistentStoreDescription(url: url)])
            // Another thread may have set them meanwhile.
            return descriptions.withLock { descriptions in
                if descriptions.list == nil { descriptions = initial }
                return descriptions
            }.list ?? []
        }
        set {
            let replacement = Descriptions(list: newValue)
            descriptions.withLock { $0 = replacement }
        }
    }

    /// Adds the stores of ``persistentStoreDescriptions``, except those that the coordinator already has.
    ///
    /// - Parameter block: Called once for each description, with the error or nil. It has been called when this method
    ///   returns, unless the description adds its store asynchronously: then it is called later, on another thread.
    open func loadPersistentStores(
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        for description in persistentStoreDescriptions {
            if let url = description.url {
                if description.type != NSInMemoryStoreType, coordinator.persistentStore(for: url) != nil { continue }
                makeDefaultDirectory(for: url)
            }
            coordinator.addPersistentStore(with: description, completionHandler: block)
        }
    }

    /// Creates the default folder before the first store is added in it. If the folder cannot be created, opening the
    /// store reports the error.
    private func makeDefaultDirectory(for url: URL) {
        let folder = url.deletingLastPathComponent()
        guard !FileManager.default.fileExists(atPath: folder.path) else { return }
        let directory = Self.defaultDirectoryURL()
        guard folder.standardizedFileURL.path == directory.standardizedFileURL.path else { return }
        try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    /// A new context with a queue of its own, connected to the coordinator.
    open func newBackgroundContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Runs a block on the queue of a new context, and returns immediately.
    open func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
        let context = newBackgroundContext()
        context.perform { block(context) }
    }

    /// Runs a block on the queue of a new context and returns its result, in the isolation of the caller.
    public func performBackgroundTask<T, E: Error>(
        isolation: isolated (any Actor)? = #isolation, _ block: @escaping (NSManagedObjectContext) throws(E) -> T
    ) async throws(E) -> T {
        let context = newBackgroundContext()
        return try await context.perform { () throws(E) -> T in try block(context) }
    }
}

/// A container whose stores are mirrored to CloudKit, which exists on Apple's platforms only. The class is declared so that code that
/// asks for it (`container is NSPersistentCloudKitContainer`) compiles; there are no objects. Its initializers stop the program,
/// because the compiler rejects every call of them.
open class NSPersistentCloudKitContainer: NSPersistentContainer, @unchecked Sendable {  // because its superclass is
    @available(*, unavailable, message: "CloudKit exists on Apple's platforms only: use NSPersistentContainer.")
    public convenience init(name: String) { fatalError("CloudKit exists on Apple's platforms only.") }

    @available(*, unavailable, message: "CloudKit exists on Apple's platforms only: use NSPersistentContainer.")
    public override init(name: String, managedObjectModel model: NSManagedObjectModel) {
        fatalError("CloudKit exists on Apple's platforms only.")
    }
}

/// The options for mirroring a store to CloudKit.
@available(*, unavailable, message: "CloudKit exists on Apple's platforms only.")
open class NSPersistentCloudKitContainerOptions: NSObject {}

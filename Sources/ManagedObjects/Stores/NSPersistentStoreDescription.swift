import Foundation

/// The type, location and options with which a container adds a store.
open class NSPersistentStoreDescription: NSObject, NSCopying {
    /// The type; `NSSQLiteStoreType` by default.
    open var type: String = NSSQLiteStoreType

    /// The configuration whose entities the store contains; nil is all entities.
    open var configuration: String?

    /// The location of the store.
    open var url: URL?

    /// The options with which the store is added; set one by ``setOption(_:forKey:)``.
    open private(set) var options: [String: NSObject] = [
        NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true),
        NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
    ]

    /// Whether a container adds the store on another thread and returns before it has been added.
    open var shouldAddStoreAsynchronously: Bool = false

    /// Creates a description of an SQLite store at `/dev/null`, which is in memory.
    public override init() { url = URL(fileURLWithPath: "/dev/null") }

    /// Creates a description of an SQLite store.
    public init(url: URL) {
        self.url = url
    }

    /// Sets an option; nil removes it.
    open func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

    /// Whether the store is opened read-only.
    open var isReadOnly: Bool {
        get { flag(NSReadOnlyPersistentStoreOption) }
        set { setOption(NSNumber(value: newValue), forKey: NSReadOnlyPersistentStoreOption) }
    }

    /// The time to wait for a locked store, in seconds; 240 by default.
    open var timeout: TimeInterval {
        get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240 }
        set { setOption(NSNumber(value: newValue), forKey: NSPersistentStoreTimeoutOption) }
    }

    /// Whether a store of another model version is migrated when it is added; true unless set. Otherwise adding it throws
    /// code 134100.
    open var shouldMigrateStoreAutomatically: Bool {
        get { flag(NSMigratePersistentStoresAutomaticallyOption) }
        set { setOption(NSNumber(value: newValue), forKey: NSMigratePersistentStoresAutomaticallyOption) }
    }

    /// Whether a migration may infer the mapping model if the bundles have none; true unless set.
    open var shouldInferMappingModelAutomatically: Bool {
        get { flag(NSInferMappingModelAutomaticallyOption) }
        set { setOption(NSNumber(value: newValue), forKey: NSInferMappingModelAutomaticallyOption) }
    }

    /// The pragmas that an SQLite store executes on each connection.
    open var sqlitePragmas: [String: NSObject] {
        var values: [String: NSObject] = [:]
        for (name, value) in options[NSSQLitePragmasOption] as? NSDictionary ?? [:] {
            if let name = name as? String { values[name] = value as? NSObject }
        }
        return values
    }

    /// Sets a pragma; nil removes it.
    open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
        var values = sqlitePragmas
        values[name] = value
        options[NSSQLitePragmasOption] = NSDictionary(dictionary: values)
    }

    /// The options for mirroring the store to CloudKit.
    @available(*, unavailable, message: "CloudKit exists on Apple's platforms only.")
    open var cloudKitContainerOptions: NSPersistentCloudKitContainerOptions? { nil }

    private func flag(_ key: String) -> Bool { NSPersistentStore.isTrue(options[key]) }

    // MARK: - Copying

    /// Returns an independent copy.
    open func copy(with zone: NSZone? = nil) -> Any { snapshot() }

    /// A copy of the present values.
    package final func snapshot() -> NSPersistentStoreDescription {
        let copy = NSPersistentStoreDescription()
        copy.type = type
        copy.configuration = configuration
        copy.url = url
        copy.options = options
        copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
        return copy
    }

    /// Two descriptions are equal if all their values are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentStoreDescription else { return false }
        return type == other.type && configuration == other.configuration && url == other.url
            && options == other.options && shouldAddStoreAsynchronously == other.shouldAddStoreAsynchronously
    }

    /// Equal for equal descriptions.
    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(type)
        hasher.combine(url)
        return hasher.finalize()
    }

    /// Type and location, for messages.
    open override var description: String {
        "<\(Swift.type(of: self))> (type: \(type), url: \(url?.absoluteString ?? "none"))"
    }
}

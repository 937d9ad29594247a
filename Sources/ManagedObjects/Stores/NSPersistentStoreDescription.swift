import Foundation

/// What a container needs to know to add a store.
open class NSPersistentStoreDescription: NSObject, NSCopying {
    /// The type, `NSSQLiteStoreType` unless set.
    open var type: String = NSSQLiteStoreType

    /// The configuration whose entities the store holds; nil is all.
    open var configuration: String?

    /// Where the store is.
    open var url: URL?

    /// The options that the store is added with; set one by ``setOption(_:forKey:)``.
    open private(set) var options: [String: NSObject] = [
        NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true),
        NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
    ]

    /// Whether a container adds the store on another thread, and returns before it has.
    open var shouldAddStoreAsynchronously: Bool = false

    /// A description of an SQLite store that has no location yet.
    public override init() {}

    /// A description of an SQLite store.
    public init(url: URL) {
        self.url = url
    }

    /// Sets an option, or with nil takes it away.
    open func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

    /// Whether the store is opened for reading only.
    open var isReadOnly: Bool {
        get { flag(NSReadOnlyPersistentStoreOption) }
        set { setOption(NSNumber(value: newValue), forKey: NSReadOnlyPersistentStoreOption) }
    }

    /// How long to wait for a busy store, in seconds; 240 unless set.
    open var timeout: TimeInterval {
        get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240 }
        set { setOption(NSNumber(value: newValue), forKey: NSPersistentStoreTimeoutOption) }
    }

    /// Whether a store of another model version is migrated. Without migration, which is not part of this version, such
    /// a store is refused with code 134130 where this is true, and 134100 where it is not.
    open var shouldMigrateStoreAutomatically: Bool {
        get { flag(NSMigratePersistentStoresAutomaticallyOption) }
        set { setOption(NSNumber(value: newValue), forKey: NSMigratePersistentStoresAutomaticallyOption) }
    }

    /// Whether a migration may infer how two model versions map.
    open var shouldInferMappingModelAutomatically: Bool {
        get { flag(NSInferMappingModelAutomaticallyOption) }
        set { setOption(NSNumber(value: newValue), forKey: NSInferMappingModelAutomaticallyOption) }
    }

    /// The pragmas that an SQLite store runs on each connection.
    open var sqlitePragmas: [String: NSObject] {
        var values: [String: NSObject] = [:]
        for (name, value) in options[NSSQLitePragmasOption] as? NSDictionary ?? [:] {
            if let name = name as? String { values[name] = value as? NSObject }
        }
        return values
    }

    /// Sets a pragma, or with nil takes it away.
    open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
        var values = sqlitePragmas
        values[name] = value
        options[NSSQLitePragmasOption] = NSDictionary(dictionary: values)
    }

    /// How the store is mirrored to CloudKit.
    @available(*, unavailable, message: "CloudKit exists on Apple's platforms only.")
    open var cloudKitContainerOptions: NSPersistentCloudKitContainerOptions? { nil }

    private func flag(_ key: String) -> Bool { NSPersistentStore.flag(key, in: options) }

    // MARK: - Copying

    /// A description that says the same and can be changed on its own.
    open func copy(with zone: NSZone? = nil) -> Any { snapshot() }

    /// The description as it is now.
    final func snapshot() -> NSPersistentStoreDescription {
        let copy = NSPersistentStoreDescription()
        copy.type = type
        copy.configuration = configuration
        copy.url = url
        copy.options = options
        copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
        return copy
    }

    /// Two descriptions are equal when they describe the same store in the same way.
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

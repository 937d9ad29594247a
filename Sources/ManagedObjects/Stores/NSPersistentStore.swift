import Foundation
import Synchronization

/// A place where rows are kept: a file, or memory.
///
/// Make one with ``NSPersistentStoreCoordinator/addPersistentStore(type:configuration:at:options:)``. A program's own
/// classes inherit from ``NSAtomicStore`` or ``NSIncrementalStore`` and are registered for a type with
/// ``NSPersistentStoreCoordinator/registerStoreClass(_:type:)``.
open class NSPersistentStore: NSObject, @unchecked Sendable {  // because its state lies behind a lock
    private struct State: @unchecked Sendable {  // because what it holds is never changed in place
        weak var coordinator: NSPersistentStoreCoordinator?
        var number: UInt16 = 0
        var url: URL?
        var isReadOnly: Bool
        var identifier: String
        var metadata: [String: Any] = [:]
        var isMetadataChanged = false
    }

    private let state: Mutex<State>
    private let optionsIfAny: Options
    /// The configuration whose entities the store holds; nil is all.
    final let configurationIfAny: String?

    private struct Options: @unchecked Sendable {  // because it is never changed
        let values: [AnyHashable: Any]?
    }

    /// Makes a store that is not yet open; ``loadMetadata()`` opens it. Called by a coordinator.
    ///
    /// Required, because the coordinator makes stores of registered classes.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        configurationIfAny = name == NSPersistentStore.defaultConfigurationName ? nil : name
        optionsIfAny = Options(values: options)
        state = Mutex(
            State(
                coordinator: root, url: url, isReadOnly: Self.flag(NSReadOnlyPersistentStoreOption, in: options),
                identifier: UUID().uuidString))
        super.init()
    }

    /// What ``configurationName`` is when no configuration was named.
    static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

    // MARK: - What the store is

    /// The type, such as `NSSQLiteStoreType`.
    open var type: String { StoreClasses.shared.type(of: Swift.type(of: self)) ?? "" }

    /// The coordinator; nil when the store has been removed.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? { state.withLock { $0.coordinator } }

    /// The configuration of the model whose entities the store holds.
    open var configurationName: String { configurationIfAny ?? Self.defaultConfigurationName }

    /// The options that the store was added with.
    open var options: [AnyHashable: Any]? { optionsIfAny.values }

    /// Where the store is.
    open var url: URL? {
        get { state.withLock { $0.url } }
        set { state.withLock { $0.url = newValue } }
    }

    /// Whether nothing can be saved. Set it before the store is added, by an option.
    open var isReadOnly: Bool {
        get { state.withLock { $0.isReadOnly } }
        set { state.withLock { $0.isReadOnly = newValue } }
    }

    /// The store's UUID: the host of its objects' URIs.
    open var identifier: String! {
        get { state.withLock { $0.identifier } }
        set { state.withLock { $0.identifier = newValue ?? $0.identifier } }
    }

    /// Where the store names its rows by reference objects, what stands for these in keys; nil for primary keys.
    var references: ObjectReferences? { nil }

    /// The number in the coordinator, from 1; 0 until the store is added.
    final var number: UInt16 {
        get { state.withLock { $0.number } }
        set { state.withLock { $0.number = newValue } }
    }

    // MARK: - Metadata

    /// What the store says of itself: its type and UUID, the version hashes of its model, and what the program has
    /// added. What is set is written by the next save.
    open var metadata: [String: Any]! {
        get {
            let state = state.withLock { $0 }
            return state.metadata.merging([NSStoreTypeKey: type, NSStoreUUIDKey: state.identifier]) { $1 }
        }
        set {
            let changed = Content(newValue ?? [:])
            state.withLock {
                $0.metadata = changed.metadata
                $0.identifier = changed.metadata[NSStoreUUIDKey] as? String ?? $0.identifier
                $0.isMetadataChanged = true
            }
        }
    }

    private struct Content: @unchecked Sendable {  // because it is never changed
        let metadata: [String: Any]
        init(_ metadata: [String: Any]) { self.metadata = metadata }
    }

    /// The metadata, when they have been set since the store was opened or saved.
    final var changedMetadata: [String: Any]? { state.withLock { $0.isMetadataChanged } ? metadata : nil }

    /// Takes metadata as they lie in the store: nothing is left to save.
    final func didLoadMetadata(_ metadata: [String: Any]) {
        self.metadata = metadata
        didSaveMetadata()
    }

    /// The metadata have been written.
    final func didSaveMetadata() { state.withLock { $0.isMetadataChanged = false } }

    /// Opens the store and reads its metadata; where there is no store yet, makes one.
    ///
    /// - Throws: An error of Core Data's when the store cannot be opened.
    open func loadMetadata() throws {}

    /// The metadata of a store at a location, which is not opened for that.
    open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        throw CocoaError(
            .persistentStoreOperation, "Stores of the class \(self) cannot tell their metadata unless they are added.",
            url: url)
    }

    /// Writes the metadata of a store at a location, which is not added to a coordinator for that.
    open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw CocoaError(
            .persistentStoreOperation,
            "Stores of the class \(self) cannot change their metadata unless they are added.",
            url: url)
    }

    /// Reads what an atomic store keeps whole in memory. Called when the metadata are read and the store has its number.
    func loadContent() throws {}

    // MARK: - Life

    /// Called when a coordinator has added the store.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

    /// Called when a coordinator is about to remove the store: files are closed here.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    /// The class that migrates stores of this class.
    @available(*, unavailable, message: "Migration is not part of this version.")
    open class func migrationManagerClass() -> AnyClass { NSObject.self }

    /// The store belongs to no coordinator any more.
    final func detach() { state.withLock { $0.coordinator = nil } }

    /// Goes on at another location; false when the store cannot.
    func move(to url: URL) -> Bool { false }

    // MARK: - Options

    /// An option that is a Boolean, as a number or as such.
    final func flag(forOption key: String) -> Bool { Self.flag(key, in: options) }

    static func flag(_ key: String, in options: [AnyHashable: Any]?) -> Bool {
        switch options?[key] {
        case let flag as Bool: flag
        case let number as NSNumber: number.boolValue
        case let text as String: ["1", "true", "yes"].contains(text.lowercased())
        default: false
        }
    }
}

extension CocoaError {
    /// An error of a store: its code, a sentence, and where the store is.
    init(_ code: CocoaError.Code, _ sentence: String, url: URL? = nil, userInfo: [String: Any] = [:]) {
        var userInfo = userInfo
        userInfo[NSLocalizedDescriptionKey] = sentence
        userInfo[NSURLErrorKey] = url
        userInfo[NSFilePathErrorKey] = url.flatMap { $0.isFileURL ? $0.path : nil }
        self.init(code, userInfo: userInfo)
    }
}

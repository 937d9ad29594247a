import CoreDataErrors
import Foundation
import Synchronization

/// A persistent store, in a file or in memory.
///
/// Stores are created by ``NSPersistentStoreCoordinator/addPersistentStore(type:configuration:at:options:)``. A
/// program's own classes inherit from ``NSAtomicStore`` or ``NSIncrementalStore`` and are registered for a type with
/// ``NSPersistentStoreCoordinator/registerStoreClass(_:type:)``.
open class NSPersistentStore: NSObject, @unchecked Sendable {  // because a lock guards its state
    private struct State: @unchecked Sendable {  // because its values are never changed in place
        weak var coordinator: NSPersistentStoreCoordinator?
        var number: UInt16 = 0
        var url: URL?
        var isReadOnly: Bool
        var identifier: String
        var metadata: [String: Any] = [:]
        var isMetadataChanged = false
        var origins = ObjectIDOrigins()
    }

    private let state: Mutex<State>
    private let optionsIfAny: Options
    /// The configuration whose entities the store contains; nil is all entities.
    package final let configurationIfAny: String?

    private struct Options: @unchecked Sendable {  // because it is never changed
        let values: [AnyHashable: Any]?
    }

    /// Creates a store that is not yet open; ``loadMetadata()`` opens it. Called by a coordinator.
    ///
    /// Required, because the coordinator creates stores of registered classes.
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
        rowStore = self as? any RowStore
    }

    /// The value of ``configurationName`` if no configuration was named.
    static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

    /// The store as rows, if its class implements them. Stored, because a cast may take long: see ``RowStore/batchStore``.
    // Unowned without a check, because it is the store itself.
    package private(set) final unowned(unsafe) var rowStore: (any RowStore)?

    // MARK: - Properties

    /// The type, such as `NSSQLiteStoreType`.
    open var type: String { StoreClasses.shared.type(of: Swift.type(of: self)) ?? "" }

    /// The coordinator; nil after the store has been removed.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? { state.withLock { $0.coordinator } }

    /// The configuration of the model whose entities the store contains.
    open var configurationName: String { configurationIfAny ?? Self.defaultConfigurationName }

    /// The options that the store was added with.
    open var options: [AnyHashable: Any]? { optionsIfAny.values }

    /// The location of the store.
    open var url: URL? {
        get { state.withLock { $0.url } }
        set { state.withLock { $0.url = newValue } }
    }

    /// Whether the store is read-only. Set it with an option before the store is added.
    open var isReadOnly: Bool {
        get { state.withLock { $0.isReadOnly } }
        set { state.withLock { $0.isReadOnly = newValue } }
    }

    /// The store's UUID: the host of its objects' URIs.
    open var identifier: String! {
        get { state.withLock { $0.identifier } }
        set { state.withLock { $0.identifier = newValue ?? $0.identifier } }
    }

    /// The origin of the IDs of an entity's objects in the store.
    final func origin(of entity: NSEntityDescription) -> ObjectIDOrigin {
        let (identifier, coordinator) = (identifier, persistentStoreCoordinator)
        return state.withLock { $0.origins.origin(entity, storeIdentifier: identifier, coordinator: coordinator) }
    }

    /// Whether IDs with an origin were created for this store.
    final func isOrigin(_ origin: ObjectIDOrigin) -> Bool { state.withLock { $0.origins.contains(origin) } }

    /// The mapping from keys to reference objects, if the store identifies its rows by them; nil for primary keys. Set by the
    /// initialiser of a class of such stores.
    package final var references: ObjectReferences?

    /// The store's number in the coordinator, from 1; 0 until the store is added.
    package final var number: UInt16 {
        get { state.withLock { $0.number } }
        set { state.withLock { $0.number = newValue } }
    }

    // MARK: - Metadata

    /// The metadata: the store's type and UUID, the version hashes of its model, and entries of the program. Changes
    /// are written by the next save.
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

    /// The metadata, if they have been set since the store was opened or saved.
    package final var changedMetadata: [String: Any]? { state.withLock { $0.isMetadataChanged } ? metadata : nil }

    /// Sets metadata as they were read from the store, so that they need not be saved.
    package final func didLoadMetadata(_ metadata: [String: Any]) {
        self.metadata = metadata
        didSaveMetadata()
    }

    /// Called after the metadata have been written.
    package final func didSaveMetadata() { state.withLock { $0.isMetadataChanged = false } }

    /// Opens the store and reads its metadata; creates the store if it does not exist.
    ///
    /// - Throws: An error of Core Data's if the store cannot be opened.
    open func loadMetadata() throws {}

    /// The metadata of a store at a location, without adding it.
    open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        throw CocoaError(
            .persistentStoreOperation, "Stores of the class \(self) have no metadata unless they are added.",
            url: url)
    }

    /// Writes the metadata of a store at a location, without adding it.
    open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw CocoaError(
            .persistentStoreOperation,
            "Stores of the class \(self) cannot change their metadata unless they are added.",
            url: url)
    }

    // MARK: - Life cycle

    /// Called when a coordinator has added the store.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

    /// Called when a coordinator is about to remove the store. Close files here.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    /// The class of the managers that migrate to stores of this class: `NSMigrationManager`. A manager of another class throws
    /// an error, unless its `usesStoreSpecificMigrationManager` is false.
    open class func migrationManagerClass() -> AnyClass { LinkedModules.migration?.managerClass ?? NSObject.self }

    /// Removes the store from its coordinator.
    final func detach() { state.withLock { $0.coordinator = nil } }

    // MARK: - Options

    /// The value of a Boolean option, given as a number or a Boolean.
    package final func flag(forOption key: String) -> Bool { Self.flag(key, in: options) }

    package static func flag(_ key: String, in options: [AnyHashable: Any]?) -> Bool { isTrue(options?[key]) }

    /// Whether the value of an option means yes.
    static func isTrue(_ value: Any?) -> Bool {
        switch value {
        // Includes `Bool`. A class is found faster than a type to which numbers are converted.
        case let number as NSNumber: number.boolValue
        case let text as String: ["1", "true", "yes"].contains(text.lowercased())
        default: false
        }
    }
}

extension CocoaError {
    /// The error of a store whose content is needed before it was opened, or after it was closed.
    package static func storeIsNotOpen(_ url: URL?) -> CocoaError {
        CocoaError(
            .persistentStoreOperation, "The store is not open: it was removed from its coordinator, or never added.",
            url: url)
    }

    /// The error if no primary key is greater than all of an entity's hierarchy.
    package static func noPrimaryKeysLeft(ofEntity name: String?, _ url: URL?) -> CocoaError {
        CocoaError(
            .persistentStoreSave, "There are no primary keys left for “\(name ?? "")” and related entities.",
            url: url)
    }
}

extension NSPersistentStore {
    /// The ID of a row by its reference object, for stores that use reference objects.
    package final func referencedObjectID(for entity: NSEntityDescription, referenceObject: Any) -> NSManagedObjectID {
        let number = references?.number(of: referenceObject, entity: entity) ?? 0
        return ReferencedObjectID(
            key: ObjectKey(
                store: self.number, entity: UInt16(truncatingIfNeeded: entity.index), number: number),
            text: ObjectReferences.text(of: referenceObject), origin: origin(of: entity))
    }

    /// The key of an ID of one of this store's objects; nil for an ID of another store's.
    package final func key(of objectID: NSManagedObjectID) -> ObjectKey? {
        guard let references, let coordinator = persistentStoreCoordinator, !objectID.isTemporaryID,
            objectID.storeIdentifier == identifier,
            let entity = coordinator.managedObjectModel.entitiesByName[objectID.entity.name ?? ""]
        else { return nil }
        var number = objectID.key.number
        // Numbers are valid within one coordinator only.
        if !objectID.isOf(coordinator), let text = (objectID as? ReferencedObjectID)?.text {
            number = references.number(of: text, entity: entity)
        }
        // An ID may have been created with a superentity of the object's own entity.
        let own = references.entity(of: number, root: entity) ?? entity
        return ObjectKey(store: self.number, entity: UInt16(truncatingIfNeeded: own.index), number: number)
    }
}

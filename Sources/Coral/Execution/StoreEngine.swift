import CoreData
import GraphDocuments

/// What the toolkit asks of stores beyond Core Data's public API.
///
/// The toolkit uses that API only. This package's engine can do more: it reads and writes rows without objects, inserts objects with
/// given primary keys, moves stores that are in use. The module `CoralRows` implements these methods with the engine. The toolkit
/// looks for its class in the program, so that nobody has to register it. On Apple's platforms, and in a program without that module,
/// the methods are those of `PublicAPI`.
///
/// The methods on rows first check whether rows suffice. If not, they return the reason, and nothing was read or written.
package protocol StoreEngine: Sendable {
    init()

    // MARK: Rows

    /// Writes a whole store as a document in the plain layout from its rows.
    func writeRows(of session: ExportSession, to sink: any ByteSink) throws -> ExecutionPath
    /// How `writeRows(of:to:)` would write the document.
    func explainRows(of session: ExportSession) throws -> ExecutionPath
    /// Writes the records of one entity from its rows.
    func writeRows(
        of entity: NSEntityDescription, in session: ExportSession, to writer: inout any GraphWriter
    ) throws -> ExecutionPath
    /// How `writeRows(of:in:to:)` would write the records.
    func explainRows(of entity: NSEntityDescription, in session: ExportSession) throws -> ExecutionPath
    /// Copies objects in the store, in one transaction, which is committed if `saves` is true.
    func copyRows(
        of ids: [NSManagedObjectID], in context: NSManagedObjectContext, by blueprint: CopyBlueprint,
        choice: RowCopying,
        saves: Bool, progress: Progress?
    ) throws -> RowCapability<[NSManagedObjectID: NSManagedObjectID]>
    /// Imports a document into the rows of a store, in one transaction, which is committed if `saves` is true.
    func importRows(
        of source: ImportSource, by importer: BatchImporter, entity: String?, model: ImportModel, saves: Bool,
        progress: Progress?
    ) throws -> RowCapability<BatchImporter.Result>

    // MARK: Objects

    /// The parts of an object's ID; nil if only its URI contains them.
    func name(of id: NSManagedObjectID) -> ObjectName?
    /// Calls a closure with a context that reads and saves in one write transaction of the store; nil, without a call, if the store
    /// has none.
    func inWriteTransaction<Result>(
        of store: NSPersistentStore, for context: NSManagedObjectContext,
        _ body: (NSManagedObjectContext) throws -> Result
    ) throws -> Result?
    /// Lets a context save objects without validation; false if it validates them nevertheless.
    @discardableResult func stopValidating(_ context: NSManagedObjectContext) -> Bool
    /// Whether objects can be inserted with given primary keys.
    var choosesKeys: Bool { get }
    /// Inserts an object with a primary key.
    func insertObject(
        of entity: NSEntityDescription, withPrimaryKey key: Int64, in store: NSPersistentStore,
        _ context: NSManagedObjectContext
    ) throws -> NSManagedObject
    /// The number of stored bytes that the transformer of an attribute without a value cannot read; nil if there are none. Throws
    /// the transformer's error if it reads them as a value of another class.
    func unreadableByteCount(of attribute: NSAttributeDescription, of object: NSManagedObject) throws -> Int?
    /// The name of the missing file of an attribute's value; nil if the attribute has a value, or no file is missing.
    func missingFile(of object: NSManagedObject, forKey key: String) -> String?
    /// Makes an attribute refer to a file that does not exist, when its object is saved; false if this is not possible.
    func setMissingFile(_ name: String, of object: NSManagedObject, forKey key: String) -> Bool
    /// The old values of a transaction's change, by the names of the properties; nil if the store does not have them.
    func oldValues(of change: NSPersistentHistoryChange) throws -> [String: OldValue]?

    // MARK: Stores

    /// Whether a context that is pinned to a query generation has its state before the first fetch.
    var pinsAtOnce: Bool { get }
    /// A location where a store in a file is created before it is moved to its final one.
    func makeDraft(at destination: URL, model: NSManagedObjectModel) throws -> any StoreDraft
    /// A location where a store on a server is created before it is moved to its final one.
    func makeServerDraft(at destination: URL) throws -> any ServerStoreDraft
    /// Whether a store on a server can be replaced by its other version.
    var replacesServerStores: Bool { get }
    /// Replaces a store on a server, in one transaction, by the store that a closure creates at another location. Until it ends, other
    /// connections can read the store, and connections that write wait.
    func replaceServerStore(at url: URL, _ fill: (URL) throws -> Void) throws
    /// The options of a new store that has the join tables of another one.
    func options(forJoinTablesLike url: URL) -> [AnyHashable: Any]
    /// The options that keep a store's journal mode.
    func options(keepingJournalOf url: URL) -> [AnyHashable: Any]

    // MARK: Models and migrations

    /// Reads a model; of a file with several versions the current one.
    func model(contentsOf url: URL) throws -> NSManagedObjectModel
    /// Reads a mapping model.
    func mappingModel(contentsOf url: URL) throws -> NSMappingModel
    /// The file name extensions of mapping models that can be read.
    var mappingModelExtensions: [String] { get }
    /// The model that a store contains; nil if it cannot be read.
    func cachedModel(ofStoreAt url: URL) -> NSManagedObjectModel?
    /// Makes a migration through objects keep the history of its store.
    func keepHistory(_ manager: NSMigrationManager)
    /// Whether several inferred steps are one transaction in the store. Otherwise they are made on a copy.
    var migratesChains: Bool { get }
    /// Migrates a store where it is, from the first of some models to the last, by inferred steps. The progress counts a thousand units
    /// for each step.
    ///
    /// - Returns: False if this is not possible, and nothing was done.
    /// - Throws: Core Data's errors, and `CocoaError.userCancelled`. The store is then unchanged.
    func migrate(storeAt url: URL, through models: [NSManagedObjectModel], progress: Progress?) throws -> Bool
    /// The statements of such a migration, which are executed; nil if they are not known.
    func statements(
        ofMigrating url: URL, through models: [NSManagedObjectModel], progress: Progress?
    ) throws -> [String]?
}

/// The value of a property before a change.
package enum OldValue {
    /// The value of an attribute, or the ID of a destination.
    case value(Any?)
    /// The members that a change has removed from a relationship, and those that it has added.
    case members(removed: [NSManagedObjectID], added: [NSManagedObjectID])
}

/// The engine of the program.
package enum Engine {
    /// With `CORAL_ROWS=0` in the environment it is the public API, to find out whether a difference comes from the work on rows.
    package static let current: any StoreEngine = {
        guard ProcessInfo.processInfo.environment["CORAL_ROWS"] != "0",
            let found = NSClassFromString("CoralRows.RowEngine") as? any StoreEngine.Type
        else { return PublicAPI() }
        return found.init()
    }()

    /// Whether it works on rows.
    package static var hasRows: Bool { !(current is PublicAPI) }
}

import Foundation

/// An insertion of many rows directly into the store: no objects are created, nothing is validated, and contexts are
/// not updated until they fetch.
open class NSBatchInsertRequest: NSPersistentStoreRequest {
    package final let target: BatchTarget

    /// A dictionary for each row: values by the names of attributes and composites; missing values get their default.
    open var objectsToInsert: [[String: Any]]?

    /// Fills an empty dictionary with the values of the next row; returns true when there is no further row.
    open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?

    /// Fills a new object with the values of the next row; returns true when there is no further row. The objects
    /// belong to no context.
    open var managedObjectHandler: ((NSManagedObject) -> Bool)?

    /// The content of the result; by default whether the request succeeded.
    open var resultType: NSBatchInsertRequestResultType = .statusOnly

    private init(_ target: BatchTarget) {
        self.target = target
    }

    /// Creates a request without an entity, which fails.
    public convenience override init() {
        self.init(.name(""))
    }

    /// Inserts a row for each dictionary.
    public init(entityName: String, objects dictionaries: [[String: Any]]) {
        target = .name(entityName)
        objectsToInsert = dictionaries
    }

    /// Inserts a row for each dictionary.
    public init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
        target = .entity(entity)
        objectsToInsert = dictionaries
    }

    /// Inserts rows that a block fills until it returns true; the dictionary of that call is not inserted.
    public convenience init(
        entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
    ) {
        self.init(.name(entityName))
        dictionaryHandler = handler
    }

    /// Inserts rows that a block fills until it returns true; the dictionary of that call is not inserted.
    public convenience init(
        entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
    ) {
        self.init(.entity(entity))
        dictionaryHandler = handler
    }

    /// Inserts rows that a block fills as objects until it returns true; the object of that call is not inserted.
    public convenience init(
        entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
    ) {
        self.init(.name(entityName))
        managedObjectHandler = handler
    }

    /// Inserts rows that a block fills as objects until it returns true; the object of that call is not inserted.
    public convenience init(
        entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
    ) {
        self.init(.entity(entity))
        managedObjectHandler = handler
    }

    open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

    /// The name of the entity whose rows are inserted.
    open var entityName: String { target.name }

    /// The entity whose rows are inserted; nil in a request created with a name.
    open var entity: NSEntityDescription? { target.entity }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSBatchInsertRequest(target)
        copy.assign(from: self)
        copy.objectsToInsert = objectsToInsert
        copy.dictionaryHandler = dictionaryHandler
        copy.managedObjectHandler = managedObjectHandler
        copy.resultType = resultType
        return copy
    }
}

/// The content of the result of a batch insertion.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
    /// Whether it succeeded: a Boolean.
    case statusOnly = 0
    /// The IDs of the new objects.
    case objectIDs = 1
    /// The number of new objects.
    case count = 2
}

/// The result of a batch insertion.
open class NSBatchInsertResult: NSPersistentStoreResult {
    private let content: Any?
    private let type: NSBatchInsertRequestResultType

    package init(_ content: Any?, type: NSBatchInsertRequestResultType) {
        self.content = content
        self.type = type
    }

    /// Creates a result without content, as the initial value of a variable.
    public override init() {
        content = nil
        type = .statusOnly
    }

    /// `Bool`, `[NSManagedObjectID]` or `Int`, according to ``resultType``.
    open var result: Any? { content }
    /// The content of ``result``.
    open var resultType: NSBatchInsertRequestResultType { type }
}

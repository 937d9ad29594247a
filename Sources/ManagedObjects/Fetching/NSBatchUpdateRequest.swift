import Foundation

/// A change of many rows straight in the store: no objects are made, no validation rules are asked, and contexts do not
/// see it until they refresh.
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
    final let target: BatchTarget

    /// Whether rows of subentities are changed too; true unless changed.
    open var includesSubentities = true

    /// Which rows are changed; nil is all.
    open var predicate: NSPredicate?

    /// New values by the names or descriptions of attributes and to-one relationships: constants, or `NSExpression`s
    /// over the row's own values.
    open var propertiesToUpdate: [AnyHashable: Any]?

    /// What the result holds; whether the request succeeded, unless changed.
    open var resultType: NSBatchUpdateRequestResultType = .statusOnlyResultType

    private init(_ target: BatchTarget) {
        self.target = target
    }

    /// Changes rows of an entity that is looked up by name when the request is executed.
    public init(entityName: String) {
        target = .name(entityName)
    }

    /// Changes rows of an entity.
    public init(entity: NSEntityDescription) {
        target = .entity(entity)
    }

    open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

    /// The name of the entity whose rows are changed.
    open var entityName: String { target.name }

    /// The entity whose rows are changed. It is a programmer error to ask a request that was made with a name.
    open var entity: NSEntityDescription {
        guard let entity = target.entity else {
            preconditionFailure(
                "The batch update of “\(target.name)” was made with the entity's name: ask for entityName instead.")
        }
        return entity
    }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSBatchUpdateRequest(target)
        copy.assign(from: self)
        copy.includesSubentities = includesSubentities
        copy.predicate = predicate
        copy.propertiesToUpdate = propertiesToUpdate
        copy.resultType = resultType
        return copy
    }
}

/// What the result of a batch update holds.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
    /// Whether it succeeded: a Boolean.
    case statusOnlyResultType = 0
    /// The IDs of the changed objects.
    case updatedObjectIDsResultType = 1
    /// The number of changed objects.
    case updatedObjectsCountResultType = 2
}

/// What a batch update answers.
open class NSBatchUpdateResult: NSPersistentStoreResult {
    private let content: Any?
    private let type: NSBatchUpdateRequestResultType

    init(_ content: Any?, type: NSBatchUpdateRequestResultType) {
        self.content = content
        self.type = type
    }

    /// `Bool`, `[NSManagedObjectID]` or `Int`, as ``resultType`` says.
    open var result: Any? { content }
    /// What ``result`` holds.
    open var resultType: NSBatchUpdateRequestResultType { type }
}

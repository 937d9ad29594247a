import Foundation
import FoundationAdditions

/// A change of many rows directly in the store: no objects are created, nothing is validated, and contexts are not
/// updated until they refresh.
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
    package final let target: BatchTarget

    /// Whether rows of subentities are changed too; true by default.
    open var includesSubentities = true

    /// The predicate of the rows to change; nil means all.
    open var predicate: NSPredicate?

    /// New values by the names or descriptions of attributes and to-one relationships: constants, or `NSExpression`s
    /// over the row's own values.
    open var propertiesToUpdate: [AnyHashable: Any]?

    /// The content of the result; by default whether the request succeeded.
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

    /// The entity whose rows are changed. Reading it from a request created with a name is a programmer error.
    open var entity: NSEntityDescription {
        guard let entity = target.entity else {
            preconditionFailure(
                "The batch update of “\(target.name)” was created with the name of its entity: use entityName instead.")
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

/// The content of the result of a batch update.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
    /// Whether it succeeded: a Boolean.
    case statusOnlyResultType = 0
    /// The IDs of the changed objects.
    case updatedObjectIDsResultType = 1
    /// The number of changed objects.
    case updatedObjectsCountResultType = 2
}

/// The result of a batch update.
open class NSBatchUpdateResult: NSPersistentStoreResult {
    private let content: Any?
    private let type: NSBatchUpdateRequestResultType

    package init(_ content: Any?, type: NSBatchUpdateRequestResultType) {
        self.content = content
        self.type = type
    }

    /// Creates a result without content, as the initial value of a variable.
    public override init() {
        content = nil
        type = .statusOnlyResultType
    }

    /// `Bool`, `[NSManagedObjectID]` or `Int`, according to ``resultType``.
    open var result: Any? { content }
    /// The content of ``result``.
    open var resultType: NSBatchUpdateRequestResultType { type }
}

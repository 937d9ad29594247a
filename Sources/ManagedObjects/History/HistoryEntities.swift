import CoreDataErrors
import Foundation

/// The entities of fetch requests for transactions and changes. They belong to a model of their own; no store contains
/// objects of these entities.
struct HistoryEntities: @unchecked Sendable {  // because the entities are never changed
    static let shared = HistoryEntities()

    static let transactionName = "Transaction"
    static let changeName = "Change"

    let transaction: NSEntityDescription
    let change: NSEntityDescription
    // Entities do not retain their model.
    private let model: NSManagedObjectModel

    private init() {
        transaction = Self.entity(
            Self.transactionName,
            [
                ("author", .stringAttributeType), ("bundleID", .stringAttributeType),
                ("contextName", .stringAttributeType), ("processID", .stringAttributeType),
                ("storeID", .stringAttributeType), ("timestamp", .dateAttributeType),
                ("token", .integer64AttributeType), ("transactionNumber", .integer64AttributeType),
            ])
        change = Self.entity(
            Self.changeName,
            [
                ("changeID", .integer64AttributeType), ("changeType", .integer16AttributeType),
                ("changedEntity", .undefinedAttributeType), ("changedObjectID", .undefinedAttributeType),
                ("tombstone", .undefinedAttributeType), ("updatedProperties", .undefinedAttributeType),
            ])
        let owner = Self.relationship("transaction", to: transaction, maximum: 1)
        let changes = Self.relationship("changes", to: change, maximum: 0)
        owner.inverseRelationship = changes
        changes.inverseRelationship = owner
        change.properties.append(owner)
        transaction.properties.append(changes)
        model = NSManagedObjectModel()
        model.entities = [transaction, change]
    }

    private static func entity(_ name: String, _ keys: [(String, NSAttributeType)]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = keys.map { key, type in
            let attribute = NSAttributeDescription()
            attribute.name = key
            attribute.attributeType = type
            attribute.isOptional = true
            return attribute
        }
        return entity
    }

    private static func relationship(
        _ name: String, to entity: NSEntityDescription, maximum: Int
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = entity
        relationship.maxCount = maximum
        return relationship
    }

    static func unknownKey(_ key: String, of subject: String) -> CocoaError {
        CocoaError(
            .coreData, userInfo: [NSLocalizedDescriptionKey: "A \(subject) of a history has no key “\(key)”."])
    }
}

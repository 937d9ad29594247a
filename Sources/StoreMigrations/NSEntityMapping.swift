import Foundation
import FoundationAdditions
import ManagedObjects

import class FoundationAdditions.NSExpression

/// How the objects of a source entity become objects of a destination entity.
open class NSEntityMapping: NSObject {
    private var ownName: String?

    /// The name, unique in a mapping model; `Source->Destination` unless set.
    open var name: String! {
        get { ownName ?? "\(sourceEntityName ?? "")->\(destinationEntityName ?? "")" }
        set { ownName = newValue }
    }
    /// How the objects are migrated.
    open var mappingType: NSEntityMappingType = .undefinedEntityMappingType
    /// The entity of the source model; nil if the destination entity is new.
    open var sourceEntityName: String?
    /// The version hash of the source entity. Where it is set, it must be equal to that of the source model.
    open var sourceEntityVersionHash: Data?
    /// The entity of the destination model; nil if the source entity is removed.
    open var destinationEntityName: String?
    /// The version hash of the destination entity. Where it is set, it must be equal to that of the destination model.
    open var destinationEntityVersionHash: Data?
    /// The attributes of the destination entity, in the order in which they are set.
    open var attributeMappings: [NSPropertyMapping]?
    /// The relationships of the destination entity, in the order in which they are set.
    open var relationshipMappings: [NSPropertyMapping]?
    /// The source instances: a fetch expression, or any expression whose value is a collection of objects. With nil, all
    /// objects of the source entity, without those of subentities.
    open var sourceExpression: NSExpression?
    /// The developer's own key-value pairs.
    open var userInfo: [AnyHashable: Any]?
    /// The class of the policy, with its module; nil is ``NSEntityMigrationPolicy``.
    open var entityMigrationPolicyClassName: String?

    /// Creates a mapping without entities.
    public override init() {}

    /// Two mappings are equal if all their parts are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSEntityMapping else { return false }
        return name == other.name && mappingType == other.mappingType && sourceEntityName == other.sourceEntityName
            && destinationEntityName == other.destinationEntityName
            && sourceEntityVersionHash == other.sourceEntityVersionHash
            && destinationEntityVersionHash == other.destinationEntityVersionHash
            && attributeMappings ?? [] == other.attributeMappings ?? []
            && relationshipMappings ?? [] == other.relationshipMappings ?? []
            && sourceExpression == other.sourceExpression
            && entityMigrationPolicyClassName == other.entityMigrationPolicyClassName
            && NSDictionary(dictionary: userInfo ?? [:]) == NSDictionary(dictionary: other.userInfo ?? [:])
    }

    open override var hash: Int { (name ?? "").hashValue }

    /// Name and type, for messages.
    open override var description: String { "\(name ?? "") (\(mappingType))" }
}

/// How the objects of an entity are migrated.
public enum NSEntityMappingType: UInt, @unchecked Sendable {
    /// Not set: the manager migrates the objects according to the entities of the mapping.
    case undefinedEntityMappingType = 0
    /// A policy of the developer creates the destination instances.
    case customEntityMappingType = 1
    /// The entity is new. No object is created.
    case addEntityMappingType = 2
    /// The entity is removed. Its objects are not migrated.
    case removeEntityMappingType = 3
    /// The entity has the same version hash in both models.
    case copyEntityMappingType = 4
    /// The entity differs between the models.
    case transformEntityMappingType = 5
}

/// How the value of a property of the destination entity is computed.
open class NSPropertyMapping: NSObject {
    /// The name of the property of the destination entity.
    open var name: String?
    /// The value; with nil the property keeps the value that it has after the insertion. For the variables see
    /// ``NSMigrationManagerKey`` and the constants beside it.
    open var valueExpression: NSExpression?
    /// The developer's own key-value pairs.
    open var userInfo: [AnyHashable: Any]?

    /// Creates a mapping without name and expression.
    public override init() {}

    /// Two mappings are equal if name, expression and user info are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPropertyMapping else { return false }
        return name == other.name && valueExpression == other.valueExpression
            && NSDictionary(dictionary: userInfo ?? [:]) == NSDictionary(dictionary: other.userInfo ?? [:])
    }

    open override var hash: Int { name.hashValue }

    /// Name and expression, for messages.
    open override var description: String {
        "\(name ?? "nil") = \(valueExpression?.description ?? "nil")"
    }
}

import Coral
import CoreData
import GraphDocuments
import ManagedObjects
import SQLStores

/// How an entity's records map to rows, computed once.
final class RowEntity {
    struct ToOne {
        let reference: RowReference
        /// The key by which documents refer to the destination.
        let key: RowKey
        let name: String
        /// Nil if the relationship is optional.
        let requirement: ImportRequirement?
    }

    struct ToMany {
        let members: RowMembers
        /// The key by which documents refer to a member.
        let key: RowKey
        let name: String
    }

    enum Relationship {
        /// By the index in `toOne` or `toMany`.
        case toOne(Int)
        case toMany(Int)
    }

    let entity: EntityImport
    var name: String { entity.name }
    let table: EntityRows
    let key: RowKey?
    let schema: GraphSchema.Entity
    /// By the index in the schema's entity; nil for properties that rows do not support.
    let attributes: [RowAttribute?]
    let relationships: [Relationship?]
    let toOne: [ToOne]
    let toMany: [ToMany]
    /// The attributes that records may mention, each once.
    let comparedAttributes: [RowAttribute]

    init(
        _ entity: EntityImport, table: EntityRows, key: RowKey?, schema: GraphSchema.Entity,
        keyOfDestination: (RelationshipImport) throws -> RowKey?
    ) rethrows {
        self.entity = entity
        self.table = table
        self.key = key
        self.schema = schema
        attributes = schema.attributes.map { described in
            entity.attributes[described.name].flatMap { RowAttribute($0, in: table) }
        }
        var toOne: [ToOne] = []
        var toMany: [ToMany] = []
        relationships = try schema.relationships.map { described in
            guard let relationship = entity.relationships[described.name], relationship.policy == .set,
                let key = try keyOfDestination(relationship)
            else { return nil }
            let name = relationship.name
            if let members = table.members(named: name) {
                toMany.append(ToMany(members: members, key: key, name: name))
                return .toMany(toMany.count - 1)
            }
            guard let reference = table.reference(named: name) else { return nil }
            let isOptional = reference.relationship.isOptional
            let requirement = isOptional ? nil : ImportRequirement(reference.relationship, of: entity.entity)
            toOne.append(ToOne(reference: reference, key: key, name: name, requirement: requirement))
            return .toOne(toOne.count - 1)
        }
        self.toOne = toOne
        self.toMany = toMany
        var met: Set<Int> = []
        comparedAttributes = attributes.compactMap { $0 }.filter { met.insert($0.slot).inserted }
    }
}

extension RowEntity {
    /// The reason for objects if a record mentions a property that rows do not support.
    func unsupported(_ property: String) -> ObjectsReason {
        ObjectsReason(
            .model, "Rows do not support \(entity.name).\(property).", entity: entity.name, property: property)
    }

    /// The reason for objects if an object of another entity has a record's key.
    var ofOtherEntity: ObjectsReason {
        ObjectsReason(
            .contents, "An object of another entity has the key of a record of \(entity.name).",
            entity: entity.name)
    }
}

/// An attribute whose values are columns.
struct RowAttribute {
    let plan: AttributePlan
    let codec: any RowCodec
    let slot: Int

    /// Nil if rows do not support the attribute.
    init?(_ attribute: AttributePlan, in table: EntityRows) {
        guard !attribute.isDerived, let slot = table.slot(ofAttribute: attribute.name),
            let codec = attribute.codec as? any RowCodec
        else { return nil }
        plan = attribute
        self.codec = codec
        self.slot = slot
    }
}

/// The identity rule of an entity and its subentities in terms of slots, computed once.
final class RowKey {
    enum Part {
        case attribute(RowAttribute)
        case reference(RowKey, slot: Int)

        var slot: Int {
            switch self {
            case .attribute(let attribute): attribute.slot
            case .reference(_, let slot): slot
            }
        }
    }

    /// Distinguishes its digests from those of other keys.
    let number: Int
    let table: EntityRows
    let parts: [Part]
    let slots: [Int]
    /// The number of values in a reference.
    let valueCount: Int
    /// The keys in references that are not looked up yet.
    let wanted: RowBatch
    /// The number of lookups by this key.
    var lookupCount = 0
    /// Whether all keys of the table are loaded, so that no lookup is needed.
    var isLoaded = false
    /// Keys that several rows have; complete once `isLoaded`.
    var ambiguous: Set<KeyDigest> = []

    init(number: Int, table: EntityRows, parts: [Part]) {
        self.number = number
        self.table = table
        self.parts = parts
        slots = parts.map(\.slot)
        valueCount = parts.reduce(0) { count, part in
            if case .reference(let key, _) = part { count + key.valueCount } else { count + 1 }
        }
        wanted = table.makeBatch()
    }
}

extension RowKey {
    /// The reason for objects if several rows have a key.
    var ambiguity: ObjectsReason {
        let name = table.entity.name ?? ""
        return ObjectsReason(.contents, "Several stored objects of \(name) have the same key.", entity: name)
    }

    /// The reason for objects if several records have a key.
    var repetition: ObjectsReason {
        let name = table.entity.name ?? ""
        return ObjectsReason(.document, "Several records of \(name) have the same key.", entity: name)
    }
}

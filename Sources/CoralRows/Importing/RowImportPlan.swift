import Coral
import CoreData
import GraphDocuments
import ManagedObjects
import SQLStores

/// The entities and keys that a document uses, computed on first use.
final class RowImportPlan {
    private let model: ImportModel
    private let writer: RowWriter
    private var keysByRule: [IdentityRule: RowKey] = [:]
    private(set) var keys: [RowKey] = []

    init(_ model: ImportModel, writer: RowWriter) {
        self.model = model
        self.writer = writer
    }

    /// How an entity's records map to rows. Throws `ObjectsReason` if the object importer is needed.
    func entity(_ schema: GraphSchema.Entity) throws -> RowEntity {
        func reason(_ message: String) -> ObjectsReason { ObjectsReason(.model, message, entity: schema.name) }
        guard let entity = model.entity(schema.name) else {
            throw reason("The model has no entity \(schema.name).")
        }
        if entity.entity.isAbstract { throw reason("\(schema.name) is abstract.") }
        if entity.rules.count > 1 { throw reason("\(schema.name) has several identities.") }
        if entity.newerAttribute != nil {
            throw reason("An attribute orders the versions of objects of \(schema.name).")
        }
        guard let table = try writer.table(of: entity.entity) else {
            throw reason(
                "\(schema.name) has derived attributes, limited relationships, or more than 64 properties.")
        }
        let key = try entity.rules.first.map { try self.key($0) }
        let plan = try RowEntity(entity, table: table, key: key, schema: schema) { relationship in
            guard let destination = model.entity(relationship.destination), destination.rules.count == 1,
                case .rows(let key) = try RowCapability({ try self.key(destination.rules[0]) })
            else { return nil }
            return key
        }
        guard plan.toOne.count(where: { $0.requirement != nil }) == table.requiredReferences.count else {
            throw reason("Rows do not support a required relationship of \(schema.name).")
        }
        return plan
    }

    private func key(_ rule: IdentityRule, generation: Int = 0) throws -> RowKey {
        if let known = keysByRule[rule] { return known }
        let reason = ObjectsReason(
            .model,
            "Rows do not support the identity \(rule.parts.map(\.name).joined(separator: ", ")) of \(rule.entity).",
            entity: rule.entity)
        // The depth is limited: a deeper key refers to itself in a cycle.
        guard generation < 16, let entity = model.entity(rule.entity),
            let table = try writer.table(of: entity.entity)
        else { throw reason }
        var parts: [RowKey.Part] = []
        for part in rule.parts {
            switch part {
            case .attribute(let name):
                guard let attribute = entity.attributes[name].flatMap({ RowAttribute($0, in: table) }),
                    attribute.codec.canIdentify
                else { throw reason }
                parts.append(.attribute(attribute))
            case .relationship(let name):
                guard let destination = entity.relationships[name].flatMap({ model.entity($0.destination) }),
                    destination.rules.count == 1, let slot = table.reference(named: name)?.slot
                else { throw reason }
                let key = try self.key(destination.rules[0], generation: generation + 1)
                parts.append(.reference(key, slot: slot))
            }
        }
        let key = RowKey(number: keys.count, table: table, parts: parts)
        keysByRule[rule] = key
        keys.append(key)
        return key
    }
}

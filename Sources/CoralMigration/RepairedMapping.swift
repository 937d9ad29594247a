import Coral
import CoreData

/// The mapping model of two models whose migration cannot be inferred without repairs.
///
/// The mapping is inferred for a copy of the destination model in which the repaired attributes have their old type and
/// are optional. Then the values of these attributes are computed by ``MigrationRepairPolicy``.
package struct RepairedMapping {
    package let source: NSManagedObjectModel
    package let destination: NSManagedObjectModel
    package let repairs: [MigrationRepair]

    /// The obstacles that the repairs do not remove.
    package func obstacles() -> [MigrationObstacle] {
        MigrationObstacle.obstacles(from: source, to: relaxedModel())
    }

    /// The mapping model.
    ///
    /// - Throws: Code 134190 if obstacles remain, and ``MigrationError`` for a repair with a value of a wrong type.
    package func mappingModel() throws -> NSMappingModel {
        let relaxed = relaxedModel()
        let inferred = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: relaxed)
        let hashes = destination.entityVersionHashesByName
        let model = NSMappingModel()
        model.entityMappings = try (inferred.entityMappings ?? []).map { mapping in
            mapping.destinationEntityVersionHash = mapping.destinationEntityName.flatMap { hashes[$0] }
            try addRepairs(to: mapping)
            return mapping
        }
        return model
    }

    private func addRepairs(to mapping: NSEntityMapping) throws {
        guard let after = mapping.destinationEntityName.flatMap({ destination.entitiesByName[$0] }),
            let before = mapping.sourceEntityName.flatMap({ source.entitiesByName[$0] })
        else { return }
        let values = try attributeRepairs(from: before, to: after)
        guard !values.isEmpty else { return }
        mapping.mappingType = .customEntityMappingType
        mapping.entityMigrationPolicyClassName = NSStringFromClass(MigrationRepairPolicy.self)
        mapping.attributeMappings = mapping.attributeMappings?.filter { property in
            !values.contains { $0.name == property.name }
        }
        mapping.userInfo = [MigrationRepairPolicy.repairsKey: values]
    }

    /// The repairs of the attributes of an entity, including inherited ones.
    package func attributeRepairs(
        from before: NSEntityDescription, to after: NSEntityDescription
    ) throws -> [AttributeRepair] {
        let lineage = Set(sequence(first: after) { $0.superentity }.compactMap(\.name))
        let fitting = repairs.filter { lineage.contains($0.entity) }
        let names = ModelCorrespondence(from: source, to: destination).properties(from: before, to: after)
        return try Set(fitting.compactMap(\.attribute)).sorted().compactMap { name in
            guard let attribute = after.attributesByName[name] else { return nil }
            return try AttributeRepair(
                from: names[name].flatMap { before.attributesByName[$0] }, to: attribute, repairs: fitting)
        }
    }

    /// A copy of the destination model that accepts the values of the source.
    private func relaxedModel() -> NSManagedObjectModel {
        guard let relaxed = destination.copy() as? NSManagedObjectModel else { return destination }
        let correspondence = ModelCorrespondence(from: source, to: destination)
        for repair in repairs {
            guard let name = repair.attribute, let entity = destination.entitiesByName[repair.entity],
                let attribute = relaxed.entitiesByName[repair.entity]?.attributesByName[name]
            else { continue }
            switch repair.rule {
            case .fill, .convert(_, .clear): attribute.isOptional = true
            default: break
            }
            guard case .convert = repair.rule, let before = correspondence.source(of: entity),
                let old = correspondence.properties(from: before, to: entity)[name].flatMap({
                    before.attributesByName[$0]
                })
            else { continue }
            attribute.defaultValue = nil
            attribute.attributeType = old.attributeType
            attribute.isOptional = attribute.isOptional || entity.attributesByName[name]?.defaultValue != nil
        }
        return relaxed
    }
}

/// Computes the values of repaired attributes.
final class MigrationRepairPolicy: NSEntityMigrationPolicy {
    /// The key of the repairs in the user info of an entity mapping.
    static let repairsKey = "CoralRepairs"

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let repairs = mapping.userInfo?[Self.repairsKey] as? [AttributeRepair] ?? []
        let instances = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        for instance in instances {
            for repair in repairs { instance.setValue(try repair.value(for: sInstance), forKey: repair.name) }
        }
    }
}

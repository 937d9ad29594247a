import CoreDataErrors
import Foundation
import ManagedObjects
import PredicateLanguage
import SQLStatements

// The schema of a model of Core Data: the only place where descriptions become the values that schema, statements and queries know, and
// where the stores find the tables of the descriptions in a request.

extension SQLSchemaBuilder {
    /// The schema of a new store, or of an existing one that the catalog describes. Freezes the model, as a coordinator does: the
    /// indexes of entities are those of a frozen model.
    ///
    /// - Parameter template: The schema of another store of the model, whose numbers of entities and names of join tables
    ///   a new store gets; nil for those of the rules.
    package static func schema(
        of model: NSManagedObjectModel, configuration: String? = nil, catalog: SQLCatalog? = nil,
        template: SQLCatalog? = nil, naming: SQLNaming = .sqlite
    ) -> SQLSchema {
        model.freeze()
        let chosen = model.storedEntities(forConfigurationName: configuration)
        return schema(
            of: SchemaModel(model), entities: chosen?.map(\.index), catalog: catalog, template: template,
            naming: naming)
    }
}

extension SQLSchema {
    /// The mapping of an entity; nil if the store's configuration does not contain it.
    package func entity(_ entity: NSEntityDescription) -> SQLEntity? { self.entity(at: entity.index) }

    /// The mapping of an entity whose rows are written.
    ///
    /// - Throws: Code 134030 if the store's configuration does not contain it.
    func requireEntity(_ entity: NSEntityDescription) throws -> SQLEntity {
        if let sqlEntity = self.entity(entity) { return sqlEntity }
        throw CocoaError(
            .persistentStoreSave, "The store's configuration does not have the entity “\(entity.name ?? "")”.")
    }

    /// The pairs of a many-to-many relationship, from the point of view of this side; nil if the relationship has no
    /// join table.
    package func pairs(of relationship: NSRelationshipDescription) -> SQLPairs? {
        self.relationship(relationship).flatMap(pairs)
    }

    package func relationship(_ relationship: NSRelationshipDescription) -> SchemaRelationship? {
        guard let index = relationship.entityIfAny?.index, model.entities.indices.contains(index) else { return nil }
        return model.relationship(named: relationship.name, of: model.entities[index])
    }
}

extension SchemaModel {
    /// The values of a frozen model. Cost: a step for each property of each entity.
    convenience init(_ model: NSManagedObjectModel) {
        let reader = SchemaModelReader(model.orderedEntities)
        self.init(entities: model.orderedEntities.map { reader.entity($0) }, relationships: reader.relationships)
    }
}

/// Reads the values of a schema from descriptions.
private struct SchemaModelReader {
    private let numbers: [ObjectIdentifier: Int]
    let relationships: [SchemaRelationship]

    init(_ entities: [NSEntityDescription]) {
        let described = entities.flatMap(\.ownProperties).compactMap { $0 as? NSRelationshipDescription }
        let numbers = Dictionary(
            described.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
        self.numbers = numbers
        relationships = described.enumerated().map { Self.relationship($1, number: $0, numbers: numbers) }
    }

    private func number(of property: NSPropertyDescription?) -> Int? {
        property.flatMap { numbers[ObjectIdentifier($0)] }
    }

    // MARK: - Entities

    func entity(_ entity: NSEntityDescription) -> SchemaEntity {
        let layout = entity.layout
        let own = entity.sortedOwnProperties
        let preserved = entity.userInfo?["NSPersistentHistoryTombstoneAttributes"] as? String ?? ""
        return SchemaEntity(
            index: entity.index, name: entity.name ?? "", formerName: entity.renamingIdentifier ?? "",
            superentity: entity.superentity?.index, root: entity.rootIndex, subtree: entity.subtree,
            isAbstract: entity.isAbstract, slots: layout.slots.map(slot),
            toMany: layout.toMany.compactMap { number(of: $0.relationship).map { relationships[$0] } },
            fields: layout.fields.mapValues(Self.field),
            attributes: own.compactMap { ($0 as? NSAttributeDescription).map(Self.attribute) },
            relationshipNumbers: entity.relationshipsByName.compactMapValues { number(of: $0) },
            ownRelationships: own.compactMap { number(of: $0) }, propertyNames: entity.ownProperties.map(\.name),
            indexes: entity.indexes.map(Self.index),
            constraints: entity.uniquenessConstraints.map(NSEntityDescription.names),
            omitsEntityIndex: entity.userInfo?["_NSEntityOmitSubentityColumnIndex"] as? String == "YES",
            preservedNames: Set(preserved.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }))
    }

    private static func field(_ field: EntityLayout.Field) -> SchemaField {
        switch field {
        case .slot(let slot): .slot(slot)
        case .toMany(let index): .toMany(index)
        case .composite: .composite
        case .fetched: .fetched
        }
    }

    private func slot(_ slot: EntityLayout.Slot) -> SchemaSlot {
        SchemaSlot(
            kind: slot.kind, name: slot.name, property: slot.property.name, relationship: number(of: slot.property),
            destination: slot.destination?.index, isPersistent: slot.isPersistent,
            isOptional: slot.property.isOptional, initial: slot.initial, attribute: slot.attribute.map(Self.attribute),
            coding: slot.kind == .transformable ? slot.attribute.map(TransformableAttribute.init) : nil)
    }

    private static func attribute(_ attribute: NSAttributeDescription) -> SchemaAttribute {
        let derived = attribute as? NSDerivedAttributeDescription
        let expression = derived?.derivationExpression
        return SchemaAttribute(
            name: attribute.name, entity: attribute.entityIfAny?.index ?? -1, isIndexed: attribute.isIndexed,
            allowsExternalStorage: attribute.allowsExternalBinaryDataStorage,
            isPreserved: attribute.preservesValueInHistoryOnDeletion, isDerived: derived != nil,
            derivation: expression.flatMap { Derivation($0.node) }, derivationText: expression?.description)
    }

    private static func index(_ index: NSFetchIndexDescription) -> SchemaIndex {
        SchemaIndex(
            name: index.name,
            elements: index.elements.map { element in
                SchemaIndex.Element(
                    name: element.propertyName,
                    expression: (element.property as? NSExpressionDescription)?.expression?.node,
                    isRelationship: element.property is NSRelationshipDescription,
                    isSpatial: element.collationType == .rTree, isAscending: element.isAscending)
            }, condition: index.partialIndexPredicate?.node)
    }

    // MARK: - Relationships

    private static func relationship(
        _ relationship: NSRelationshipDescription, number: Int, numbers: [ObjectIdentifier: Int]
    ) -> SchemaRelationship {
        let field = relationship.entityIfAny?.layout.toMany.first { $0.relationship === relationship }
        return SchemaRelationship(
            number: number, name: relationship.name, entity: relationship.entityIfAny?.index ?? 0,
            destination: relationship.destinationEntity?.index,
            inverse: relationship.inverseRelationship.flatMap { numbers[ObjectIdentifier($0)] },
            isToMany: relationship.isToMany, isOrdered: relationship.isOrdered, isTransient: relationship.isTransient,
            isOptional: relationship.isOptional, minimumCount: relationship.minCount,
            maximumCount: relationship.maxCount, deleteRule: relationship.deleteRule, storage: field?.storage)
    }
}

import Foundation
import FoundationAdditions
import KeyedArchives
import ModelFiles
import PredicateLanguage

/// Converts descriptions to the plain values from which model files are written and version hashes are computed.
///
/// What plain values cannot represent is omitted: user info that is not a property list, closures in predicates,
/// default values that cannot be archived.
internal struct ModelValueWriter {
    // MARK: - Models

    func value(of model: NSManagedObjectModel) -> Model {
        Model(
            entities: model.entities.map(value(of:)).sorted { $0.name < $1.name },
            configurations: model.configurations.map { name in
                let entities = model.entities(forConfigurationName: name) ?? []
                return ModelConfiguration(name: name, entityNames: entities.compactMap(\.name).sorted())
            },
            fetchRequestTemplates: model.fetchRequestTemplatesByName.sorted { $0.key < $1.key }.map { name, request in
                ModelFetchRequestTemplate(name: name, fetchRequest: value(of: request.specification))
            },
            versionIdentifiers: Set(model.versionIdentifiers.compactMap { $0 as? String }))
    }

    func stateTheSame(_ one: NSManagedObjectModel, _ two: NSManagedObjectModel) -> Bool {
        // Versions of a model mostly differ in these numbers.
        func counts(_ model: NSManagedObjectModel) -> [String: Int] {
            Dictionary(
                model.entities.map { ($0.name ?? "", $0.properties.count) }, uniquingKeysWith: { first, _ in first })
        }
        return counts(one) == counts(two) && value(of: one) == value(of: two)
    }

    func versionHashes(of model: NSManagedObjectModel) -> [String: Data] {
        VersionHash(value(of: model)).entityHashes
    }

    // MARK: - Entities

    func value(of entity: NSEntityDescription) -> ModelEntity {
        var value = ModelEntity(
            name: entity.name ?? "", className: entity.explicitClassName, isAbstract: entity.isAbstract,
            parentName: entity.superentity?.name)
        for property in entity.sortedOwnProperties {
            switch property {
            case let attribute as NSAttributeDescription: value.attributes.append(self.value(of: attribute))
            case let relationship as NSRelationshipDescription: value.relationships.append(self.value(of: relationship))
            case let fetched as NSFetchedPropertyDescription: value.fetchedProperties.append(self.value(of: fetched))
            default: break
            }
        }
        value.uniquenessConstraints = entity.uniquenessConstraints.map(NSEntityDescription.names)
        value.compoundIndexes = entity.compoundIndexes.map(NSEntityDescription.names)
        value.fetchIndexes = entity.indexes.map(self.value(of:))
        value.renamingIdentifier = entity.explicitRenamingIdentifier
        value.versionHashModifier = entity.versionHashModifier
        value.userInfo = PlainUserInfo.plain(entity.userInfo)
        return value
    }

    func stateTheSame(_ one: NSEntityDescription, _ two: NSEntityDescription) -> Bool {
        value(of: one) == value(of: two)
    }

    /// The hash of an entity alone: it depends on the entity and its ancestors only.
    func versionHash(of entity: NSEntityDescription) -> Data {
        VersionHash(Model(entities: entity.lineage.map(value(of:)))).entityHashes[entity.name ?? ""] ?? Data()
    }

    private func value(of index: NSFetchIndexDescription) -> ModelFetchIndex {
        let elements = index.elements.compactMap { element -> ModelFetchIndexElement? in
            let collation = ModelFetchIndexElement.Collation(rawValue: Int(element.collationType.rawValue)) ?? .binary
            if let computed = element.property as? NSExpressionDescription {
                guard let expression = computed.expression?.node else { return nil }
                let type = ModelAttributeType(rawValue: Int(computed.expressionResultType.rawValue)) ?? .undefined
                return ModelFetchIndexElement(
                    .expression(expression, type: type, name: computed.name.isEmpty ? nil : computed.name),
                    collation: collation, isAscending: element.isAscending)
            }
            guard let name = element.propertyName else { return nil }
            return ModelFetchIndexElement(.property(name), collation: collation, isAscending: element.isAscending)
        }
        return ModelFetchIndex(
            name: index.name, elements: elements, partialIndexPredicate: index.partialIndexPredicate?.embeddedNode)
    }

    // MARK: - Properties

    func value(of attribute: NSAttributeDescription) -> ModelAttribute {
        let type = ModelAttributeType(rawValue: Int(attribute.attributeType.rawValue)) ?? .undefined
        var value = ModelAttribute(
            name: attribute.name, type: type,
            defaultValue: attribute.defaultValue.flatMap { ModelDefaultValue.plain($0, type: type) })
        writeCommon(of: attribute, to: &value)
        value.isStoredInExternalRecord = attribute.isStoredInExternalRecord
        value.allowsCloudEncryption = attribute.allowsCloudEncryption
        value.allowsExternalBinaryDataStorage = attribute.allowsExternalBinaryDataStorage
        value.preservesValueInHistoryOnDeletion = attribute.preservesValueInHistoryOnDeletion
        value.customValidations = validations(of: attribute)
        value.valueTransformerName = attribute.valueTransformerName
        let implied = NSAttributeDescription.valueClassName(of: attribute.attributeType)
        value.valueClassName = attribute.attributeValueClassName == implied ? nil : attribute.attributeValueClassName
        if let derived = attribute as? NSDerivedAttributeDescription, let expression = derived.derivationExpression {
            value.derivation = ModelDerivation(
                expression: expression.node, filteringPredicate: derived.filteringPredicate?.embeddedNode)
        }
        if let composite = attribute as? NSCompositeAttributeDescription {
            // Recursive: the elements nest as deep as the code that created the description has nested them.
            value.elements = composite.elements.map(self.value(of:))
        }
        return value
    }

    func value(of relationship: NSRelationshipDescription) -> ModelRelationship {
        var value = ModelRelationship(
            name: relationship.name, destinationName: relationship.destinationEntity?.name,
            inverseName: relationship.inverseRelationship?.name, minimumCount: relationship.minCount,
            maximumCount: Int(Int32(truncatingIfNeeded: relationship.maxCount)),
            deleteRule: ModelDeleteRule(rawValue: Int(relationship.deleteRule.rawValue)) ?? .nullify,
            isOrdered: relationship.isOrdered)
        writeCommon(of: relationship, to: &value)
        value.customValidations = validations(of: relationship)
        return value
    }

    func value(of fetched: NSFetchedPropertyDescription) -> ModelFetchedProperty {
        let request =
            fetched.fetchRequest.map { self.value(of: $0.specification) } ?? ModelFetchRequest(entityName: nil)
        var value = ModelFetchedProperty(name: fetched.name, fetchRequest: request)
        writeCommon(of: fetched, to: &value)
        return value
    }

    private func writeCommon(of property: NSPropertyDescription, to value: inout some ModelProperty) {
        value.isOptional = property.isOptional
        value.isTransient = property.isTransient
        value.isIndexed = property.isIndexed
        value.isIndexedBySpotlight = property.isIndexedBySpotlight
        value.renamingIdentifier = property.explicitRenamingIdentifier
        value.versionHashModifier = property.versionHashModifier
        value.userInfo = PlainUserInfo.plain(property.userInfo)
    }

    private func validations(of property: NSPropertyDescription) -> [ModelValidation] {
        zip(property.validationPredicates, property.validationWarnings).map { predicate, warning in
            let code = (warning as? NSNumber)?.intValue
            return ModelValidation(
                predicate: predicate.embeddedNode,
                warning: code.map { .code($0) } ?? .text(String(describing: warning)))
        }
    }

    func stateTheSame(_ one: NSPropertyDescription, _ two: NSPropertyDescription) -> Bool {
        switch (one, two) {
        case (let one as NSAttributeDescription, let two as NSAttributeDescription): value(of: one) == value(of: two)
        case (let one as NSRelationshipDescription, let two as NSRelationshipDescription):
            value(of: one) == value(of: two)
        case (let one as NSFetchedPropertyDescription, let two as NSFetchedPropertyDescription):
            value(of: one) == value(of: two)
        case (let one as NSExpressionDescription, let two as NSExpressionDescription):
            one.expression == two.expression && one.expressionResultType == two.expressionResultType
        default: false
        }
    }

    func versionHash(of property: NSPropertyDescription) -> Data {
        switch property {
        case let attribute as NSAttributeDescription: VersionHash.propertyHash(value(of: attribute))
        case let relationship as NSRelationshipDescription:
            VersionHash.propertyHash(
                value(of: relationship), owner: ModelEntity(name: relationship.entityIfAny?.name ?? ""))
        default: Data()
        }
    }

    // MARK: - Fetch requests

    func value(of request: FetchSpecification) -> ModelFetchRequest {
        var value = ModelFetchRequest(
            entityName: request.entity?.name ?? request.entityName, predicate: request.predicate?.embeddedNode)
        value.sortDescriptors = (request.sortDescriptors ?? []).compactMap { descriptor in
            descriptor.key.map {
                ModelSortDescriptor(
                    key: $0, isAscending: descriptor.ascending, selectorName: descriptor.selector?.name ?? "compare:")
            }
        }
        value.fetchLimit = request.fetchLimit
        value.fetchOffset = request.fetchOffset
        value.fetchBatchSize = request.fetchBatchSize
        value.resultType = ModelFetchRequest.ResultType(rawValue: Int(request.resultType.rawValue)) ?? .managedObjects
        value.includesSubentities = request.includesSubentities
        value.includesPropertyValues = request.includesPropertyValues
        value.includesPendingChanges = request.includesPendingChanges
        value.returnsObjectsAsFaults = request.returnsObjectsAsFaults
        value.returnsDistinctResults = request.returnsDistinctResults
        value.relationshipKeyPathsForPrefetching = request.relationshipKeyPathsForPrefetching ?? []
        value.propertiesToFetch = NSEntityDescription.names(request.propertiesToFetch ?? [])
        value.propertiesToGroupBy = NSEntityDescription.names(request.propertiesToGroupBy ?? [])
        value.havingPredicate = request.havingPredicate?.embeddedNode
        return value
    }
}

import Foundation
import FoundationAdditions
import KeyedArchives
import ModelFiles
import PredicateLanguage

/// Creates descriptions from the plain values of model files.
///
/// Values come from files and are not trusted: inconsistencies are errors, never traps.
internal struct ModelValueReader {
    private var entities: [String: NSEntityDescription] = [:]

    // MARK: - Models

    /// Reads a model from its value.
    ///
    /// - Throws: `ModelError` if a name is missing, occurs twice, or is unknown, or the inheritance of entities has
    ///   a cycle.
    mutating func read(_ value: Model, into model: NSManagedObjectModel) throws {
        for entity in value.entities {
            guard !entity.name.isEmpty else { throw ModelError(.invalidName, "An entity has no name.") }
            guard entities[entity.name] == nil else {
                throw ModelError(.duplicateName, "Two entities have the same name.", entity: entity.name)
            }
            entities[entity.name] = NSEntityDescription()
        }
        try connectHierarchy(value)
        for entity in value.entities { try read(entity) }
        try checkInheritedNames(value)
        for entity in value.entities { try connectInverses(entity) }
        for entity in value.entities { try readIndexes(entity) }
        model.entities = value.entities.compactMap { entities[$0.name] }
        for configuration in value.configurations {
            model.setEntities(
                try configuration.entityNames.map { try self.entity(named: $0, of: nil) },
                forConfigurationName: configuration.name)
        }
        for template in value.fetchRequestTemplates {
            model.setFetchRequestTemplate(request(template.fetchRequest), forName: template.name)
        }
        model.versionIdentifiers = Set(value.versionIdentifiers.map { AnyHashable($0) })
    }

    private func entity(named name: String, of owner: String?, property: String? = nil) throws -> NSEntityDescription {
        guard let entity = entities[name] else {
            throw ModelError(
                .unknownEntity, "There is no entity named “\(name)”.", entity: owner, property: property)
        }
        return entity
    }

    private func connectHierarchy(_ value: Model) throws {
        let parents = Dictionary(
            value.entities.map { ($0.name, $0.parentName) }, uniquingKeysWith: { first, _ in first })
        // The names of entities whose chain of ancestors has an end: each entity is examined only once.
        var ending: Set<String> = []
        for entity in value.entities {
            var walked: Set<String> = []
            var next: String? = entity.name
            while let name = next, !ending.contains(name) {
                guard walked.insert(name).inserted else {
                    throw ModelError(.inheritanceCycle, "The entity inherits from itself.", entity: entity.name)
                }
                next = parents[name] ?? nil
            }
            ending.formUnion(walked)
        }
        let children = Dictionary(grouping: value.entities.filter { $0.parentName != nil }, by: { $0.parentName ?? "" })
        for (name, children) in children {
            let parent = try entity(named: name, of: children.first?.name)
            parent.name = name
            parent.subentities = children.compactMap { entities[$0.name] }
        }
    }

    // MARK: - Entities

    private func read(_ value: ModelEntity) throws {
        let entity = try entity(named: value.name, of: nil)
        entity.name = value.name
        entity.managedObjectClassName = value.className
        entity.isAbstract = value.isAbstract
        entity.renamingIdentifier = value.renamingIdentifier
        entity.versionHashModifier = value.versionHashModifier
        entity.userInfo = PlainUserInfo.dictionary(value.userInfo)
        entity.uniquenessConstraints = value.uniquenessConstraints
        entity.compoundIndexes = value.compoundIndexes
        var properties: [NSPropertyDescription] = try value.attributes.map { try attribute($0, of: value) }
        properties += try value.relationships.map { try relationship($0, of: value) }
        properties += value.fetchedProperties.map(fetchedProperty)
        var names: Set<String> = []
        for property in properties {
            guard !property.name.isEmpty else {
                throw ModelError(.invalidName, "A property has no name.", entity: value.name)
            }
            guard names.insert(property.name).inserted else {
                throw ModelError(
                    .duplicateName, "Two properties have the same name.", entity: value.name, property: property.name)
            }
        }
        entity.properties = properties
    }

    private func checkInheritedNames(_ value: Model) throws {
        for entity in value.entities where entity.parentName != nil {
            guard let superentity = entities[entity.name]?.superentity else { continue }
            let inherited = superentity.propertiesByName
            for property in entity.properties where inherited[property.name] != nil {
                throw ModelError(
                    .duplicateName, "The entity inherits a property with this name.", entity: entity.name,
                    property: property.name)
            }
        }
    }

    private func connectInverses(_ value: ModelEntity) throws {
        guard let entity = entities[value.name] else { return }
        for relationshipValue in value.relationships {
            guard let inverseName = relationshipValue.inverseName else { continue }
            let relationship = entity.propertiesByName[relationshipValue.name] as? NSRelationshipDescription
            let inverse = relationship?.destinationEntity?.propertiesByName[inverseName] as? NSRelationshipDescription
            guard let inverse else {
                throw ModelError(
                    .inverseMismatch, "The inverse “\(inverseName)” is not a relationship of the destination.",
                    entity: value.name, property: relationshipValue.name)
            }
            relationship?.inverseRelationship = inverse
        }
    }

    private func readIndexes(_ value: ModelEntity) throws {
        guard let entity = entities[value.name] else { return }
        let properties = entity.propertiesByName
        entity.indexes = try value.fetchIndexes.map { index in
            let elements = try index.elements.map { element in
                try self.element(element, properties: properties, index: index.name, entity: value.name)
            }
            let description = NSFetchIndexDescription(name: index.name, elements: elements)
            description.partialIndexPredicate = index.partialIndexPredicate.map(NSPredicate.predicate(stating:))
            return description
        }
    }

    private func element(
        _ value: ModelFetchIndexElement, properties: [String: NSPropertyDescription], index: String, entity: String
    ) throws -> NSFetchIndexElementDescription {
        let property: NSPropertyDescription
        switch value.target {
        case .property(let name):
            // An element of a composite attribute is named by a path; the entity's property is the composite.
            guard let found = properties[name] ?? properties[String(name.prefix { $0 != "." })] else {
                throw ModelError(
                    .unknownProperty, "The index “\(index)” refers to a property that does not exist.", entity: entity,
                    property: name)
            }
            property = found
        case .expression(let expression, let type, let name):
            let computed = NSExpressionDescription()
            computed.name = name ?? ""
            computed.expression = NSExpression.expression(stating: expression)
            computed.expressionResultType = NSAttributeType(rawValue: UInt(type.rawValue)) ?? .undefinedAttributeType
            property = computed
        }
        let element = NSFetchIndexElementDescription(
            property: property,
            collationType: NSFetchIndexElementType(rawValue: UInt(value.collation.rawValue)) ?? .binary)
        element.isAscending = value.isAscending
        return element
    }

    // MARK: - Properties

    /// Recursive for the elements of a composite, to the depth that the reader of the file has limited.
    private func attribute(_ value: ModelAttribute, of entity: ModelEntity) throws -> NSAttributeDescription {
        let attribute: NSAttributeDescription
        if let derivation = value.derivation {
            let derived = NSDerivedAttributeDescription()
            derived.derivationExpression = NSExpression.expression(stating: derivation.expression)
            derived.filteringPredicate = derivation.filteringPredicate.map(NSPredicate.predicate(stating:))
            attribute = derived
        } else if value.type == .composite {
            let composite = NSCompositeAttributeDescription()
            composite.elements = try value.elements.map { try self.attribute($0, of: entity) }
            attribute = composite
        } else {
            attribute = NSAttributeDescription()
        }
        readCommon(value, to: attribute)
        attribute.attributeType = NSAttributeType(rawValue: UInt(value.type.rawValue)) ?? .undefinedAttributeType
        if let className = value.valueClassName { attribute.attributeValueClassName = className }
        attribute.defaultValue = value.defaultValue.flatMap { ModelDefaultValue.object($0, type: value.type) }
        attribute.valueTransformerName = value.valueTransformerName
        attribute.isStoredInExternalRecord = value.isStoredInExternalRecord
        attribute.allowsCloudEncryption = value.allowsCloudEncryption
        attribute.allowsExternalBinaryDataStorage = value.allowsExternalBinaryDataStorage
        attribute.preservesValueInHistoryOnDeletion = value.preservesValueInHistoryOnDeletion
        return attribute
    }

    private func relationship(_ value: ModelRelationship, of entity: ModelEntity) throws -> NSRelationshipDescription {
        guard let destination = value.destinationName else {
            throw ModelError(
                .missingDestination, "The relationship has no destination.", entity: entity.name, property: value.name)
        }
        let relationship = NSRelationshipDescription()
        readCommon(value, to: relationship)
        relationship.destinationEntity = try self.entity(named: destination, of: entity.name, property: value.name)
        relationship.minCount = value.minimumCount
        relationship.maxCount = value.maximumCount
        relationship.deleteRule = NSDeleteRule(rawValue: UInt(value.deleteRule.rawValue)) ?? .nullifyDeleteRule
        relationship.isOrdered = value.isOrdered
        return relationship
    }

    private func fetchedProperty(_ value: ModelFetchedProperty) -> NSFetchedPropertyDescription {
        let fetched = NSFetchedPropertyDescription()
        readCommon(value, to: fetched)
        fetched.fetchRequest = request(value.fetchRequest)
        return fetched
    }

    private func readCommon(_ value: some ModelProperty, to property: NSPropertyDescription) {
        property.name = value.name
        property.isOptional = value.isOptional
        property.isTransient = value.isTransient
        property.isIndexed = value.isIndexed
        property.isIndexedBySpotlight = value.isIndexedBySpotlight
        property.renamingIdentifier = value.renamingIdentifier
        property.versionHashModifier = value.versionHashModifier
        property.userInfo = PlainUserInfo.dictionary(value.userInfo)
        let validations = value.validations
        property.setValidation(
            validations.map { NSPredicate.predicate(stating: $0.predicate) },
            warnings: validations.map { validation in
                switch validation.warning {
                case .code(let code): NSNumber(value: code)
                case .text(let text): text
                }
            })
    }

    // MARK: - Fetch requests

    private func request(_ value: ModelFetchRequest) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        if let name = value.entityName {
            request.specification.entityName = name
            request.specification.entity = entities[name]
        }
        request.predicate = value.predicate.map(NSPredicate.predicate(stating:))
        if !value.sortDescriptors.isEmpty {
            request.sortDescriptors = value.sortDescriptors.map {
                NSSortDescriptor(key: $0.key, ascending: $0.isAscending, selector: Selector($0.selectorName))
            }
        }
        request.fetchLimit = value.fetchLimit
        request.fetchOffset = value.fetchOffset
        request.fetchBatchSize = value.fetchBatchSize
        request.resultType = NSFetchRequestResultType(rawValue: UInt(value.resultType.rawValue))
        request.includesSubentities = value.includesSubentities
        request.includesPropertyValues = value.includesPropertyValues
        request.includesPendingChanges = value.includesPendingChanges
        request.returnsObjectsAsFaults = value.returnsObjectsAsFaults
        request.returnsDistinctResults = value.returnsDistinctResults
        if !value.relationshipKeyPathsForPrefetching.isEmpty {
            request.relationshipKeyPathsForPrefetching = value.relationshipKeyPathsForPrefetching
        }
        if !value.propertiesToFetch.isEmpty { request.propertiesToFetch = value.propertiesToFetch }
        if !value.propertiesToGroupBy.isEmpty { request.propertiesToGroupBy = value.propertiesToGroupBy }
        request.havingPredicate = value.havingPredicate.map(NSPredicate.predicate(stating:))
        return request
    }
}

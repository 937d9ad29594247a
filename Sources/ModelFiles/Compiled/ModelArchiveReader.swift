import Foundation
import KeyedArchives
import PredicateLanguage

/// Reads the archive of an `NSManagedObjectModel`.
struct ModelArchiveReader {
    private let predicates: PredicateArchiveReader
    private let budget: ReadingBudget

    init(_ budget: ReadingBudget) {
        self.budget = budget
        predicates = PredicateArchiveReader(budget: budget)
    }

    func model(_ root: ArchivedObject) throws -> Model {
        var model = Model()
        for (_, object) in try budget.pairs(root.object("NSEntities")) {
            guard let object else { continue }
            model.entities.append(try entity(object))
        }
        model.entities.sort { $0.name < $1.name }
        for (key, object) in try budget.pairs(root.object("NSFetchRequestTemplates")) {
            guard let name = try key?.string, let object else { continue }
            model.fetchRequestTemplates.append(
                ModelFetchRequestTemplate(name: name, fetchRequest: try fetchRequest(object)))
        }
        model.fetchRequestTemplates.sort { $0.name < $1.name }
        for identifier in try budget.members(root.object("NSVersionIdentifiers")) {
            if let text = try identifier?.string { model.versionIdentifiers.insert(text) }
        }
        for (key, object) in try budget.pairs(root.object("NSConfigurations")) {
            guard let name = try key?.string else { continue }
            let names = try budget.members(object).compactMap { try $0.flatMap(entityName) }
            model.configurations.append(ModelConfiguration(name: name, entityNames: names.sorted()))
        }
        model.configurations.sort { $0.name < $1.name }
        return model
    }

    private func entity(_ object: ArchivedObject) throws -> ModelEntity {
        guard let name = try entityName(object) else {
            throw ModelError(.invalidName, "An entity has no name.")
        }
        var entity = ModelEntity(name: name)
        let className = try object.string("NSClassNameForEntity")
        entity.className = className == "NSManagedObject" ? nil : className
        entity.isAbstract = try object.flag("NSIsAbstract")
        let parent = try object.object("NSSuperentity")
        entity.parentName = try parent.flatMap(entityName)
        entity.renamingIdentifier = try renamingIdentifier(object, name: name)
        entity.versionHashModifier = try object.string("NSVersionHashModifier")
        entity.userInfo = try userInfo(object)
        entity.uniquenessConstraints = try names(object.object("NSUniqueTuples"))
        entity.fetchIndexes = try budget.members(object.object("NSFetchIndexDescriptions")).compactMap { $0 }
            .map(fetchIndex)
        // Compilers also write each index of several properties in the older form.
        let indexed = entity.fetchIndexes.map { $0.elements.map(\.target) }
        entity.compoundIndexes = try names(object.object("NSCompoundIndexes")).filter { names in
            !indexed.contains(names.map { .property($0) })
        }
        // A cached model repeats inherited properties.
        let inherited = Set(try budget.pairs(parent?.object("NSProperties")).compactMap { try $0.key?.string })
        for (key, value) in try budget.pairs(object.object("NSProperties")) {
            guard let key = try key?.string, !inherited.contains(key), var property = value else { continue }
            if property.isKind(of: "_NSPropertyDescriptionProxy") {
                guard let underlying = try property.object("NSUnderlyingProperty") else { continue }
                property = underlying
            }
            do {
                try read(property, into: &entity)
            } catch var error as ModelError {
                error.entity = name
                error.property = key
                throw error
            }
        }
        entity.attributes.sort { $0.name < $1.name }
        entity.relationships.sort { $0.name < $1.name }
        entity.fetchedProperties.sort { $0.name < $1.name }
        return entity
    }

    private func entityName(_ object: ArchivedObject) throws -> String? {
        try object.string("NSEntityName")
    }

    private func renamingIdentifier(_ object: ArchivedObject, name: String) throws -> String? {
        let identifier = try object.string("NSRenamingIdentifier")
        return identifier == name ? nil : identifier
    }

    private func userInfo(_ object: ArchivedObject) throws -> [String: PropertyListValue] {
        guard let userInfo = try object.object("NSUserInfo") else { return [:] }
        return PropertyListValue(try budget.value(userInfo)).dictionary?.contents ?? [:]
    }

    /// Reads a list of lists of property names.
    private func names(_ object: ArchivedObject?) throws -> [[String]] {
        try budget.members(object).map { list in
            // Constraints of a compiled model are names; those of a model created in code may be the properties
            // themselves.
            try budget.members(list).compactMap { try $0?.string ?? $0?.string("NSPropertyName") }
        }
    }
}

// MARK: - Properties

extension ModelArchiveReader {
    private func read(_ object: ArchivedObject, into entity: inout ModelEntity) throws {
        if object.isKind(of: "NSAttributeDescription") {
            entity.attributes.append(try attribute(object))
        } else if object.isKind(of: "NSRelationshipDescription") {
            entity.relationships.append(try relationship(object))
        } else if object.isKind(of: "NSFetchedPropertyDescription") {
            entity.fetchedProperties.append(try fetchedProperty(object))
        } else {
            throw ModelError(.malformedFile, "A property of class \(object.className ?? "?") is unknown.")
        }
    }

    private func name(_ object: ArchivedObject) throws -> String {
        guard let name = try object.string("NSPropertyName") else {
            throw ModelError(.invalidName, "A property has no name.")
        }
        return name
    }

    private func readCommon(_ property: inout some ModelProperty, _ object: ArchivedObject) throws {
        try budget.spend()
        property.isOptional = try object.flag("NSIsOptional")
        property.isTransient = try object.flag("NSIsTransient")
        property.isIndexed = try object.flag("NSIsIndexed")
        property.isIndexedBySpotlight = try object.flag("NSIndexedBySpotlight")
        property.renamingIdentifier = try renamingIdentifier(object, name: property.name)
        property.versionHashModifier = try object.string("NSVersionHashModifier")
        property.userInfo = try userInfo(object)
    }

    private func attribute(_ object: ArchivedObject, depth: Int = 0) throws -> ModelAttribute {
        let number = try object.integer("NSAttributeType") ?? 0
        guard let type = ModelAttributeType(rawValue: number) else {
            throw ModelError(.invalidValue, "The attribute type \(number) is unknown.")
        }
        var attribute = ModelAttribute(name: try name(object), type: type)
        try readCommon(&attribute, object)
        let flags = try object.integer("NSFlagsKey") ?? 0
        attribute.allowsExternalBinaryDataStorage = flags & AttributeFlags.allowsExternalBinaryDataStorage != 0
        attribute.preservesValueInHistoryOnDeletion = flags & AttributeFlags.preservesValueInHistory != 0
        attribute.isStoredInExternalRecord = try object.flag("NSIsStoredInTruthFile")
        attribute.allowsCloudEncryption = try object.flag("NSAllowsCloudEncryption")
        attribute.valueTransformerName = try object.string("NSValueTransformerName")
        let className = try object.string("NSAttributeValueClassName")
        attribute.valueClassName = className == type.valueClassName ? nil : className
        attribute.defaultValue = try object.object("NSDefaultValue").map {
            ModelValue(try budget.value($0), type: type)
        }
        attribute.setValidations(try validations(object))
        if let expression = try object.object("NSDerivationExpression") {
            attribute.derivation = ModelDerivation(
                expression: try predicates.expression(expression),
                filteringPredicate: try object.object("NSFilteringPredicate").map { try predicates.predicate($0) })
        }
        if let elements = try object.object("NSCompositeElements") {
            try ModelAttribute.checkNesting(depth, property: attribute.name)
            attribute.elements = try budget.members(elements).compactMap { $0 }.map {
                try self.attribute($0, depth: depth + 1)
            }
        }
        return attribute
    }

    private func relationship(_ object: ArchivedObject) throws -> ModelRelationship {
        let destination = try object.object("NSDestinationEntity").flatMap(entityName)
        let inverse = try object.object("NSInverseRelationship").flatMap(name)
        var relationship = ModelRelationship(
            name: try name(object), destinationName: try destination ?? object.string("_NSDestinationEntityName"),
            inverseName: try inverse ?? object.string("_NSInverseRelationshipName"))
        try readCommon(&relationship, object)
        relationship.minimumCount = try object.integer("NSMinCount") ?? 0
        relationship.maximumCount = try object.integer("NSMaxCount") ?? 0
        relationship.isOrdered = try object.flag("NSIsOrdered")
        let rule = try object.integer("NSDeleteRule") ?? ModelDeleteRule.noAction.rawValue
        guard let deleteRule = ModelDeleteRule(rawValue: rule) else {
            throw ModelError(.invalidValue, "The delete rule \(rule) is unknown.")
        }
        relationship.deleteRule = deleteRule
        relationship.customValidations = try validations(object)
        return relationship
    }

    private func fetchedProperty(_ object: ArchivedObject) throws -> ModelFetchedProperty {
        var request = try object.object("NSFetchRequest").map(fetchRequest) ?? ModelFetchRequest(entityName: nil)
        request.entityName = try request.entityName ?? object.string("_NSFetchRequestEntityName")
        var property = ModelFetchedProperty(name: try name(object), fetchRequest: request)
        try readCommon(&property, object)
        return property
    }

    private func validations(_ object: ArchivedObject) throws -> [ModelValidation] {
        let conditions = try budget.members(object.object("NSValidationPredicates"))
        let warnings = try budget.members(object.object("NSValidationWarnings"))
        return try conditions.enumerated().compactMap { position, condition in
            guard let condition else { return nil }
            let warning = position < warnings.count ? warnings[position] : nil
            let predicate = try predicates.predicate(condition)
            if let code = warning?.value.integer.flatMap({ Int(exactly: $0) }) {
                return ModelValidation(predicate: predicate, warning: .code(code))
            }
            return ModelValidation(predicate: predicate, warning: .text(try warning?.string ?? ""))
        }
    }
}

// MARK: - Requests and indexes

extension ModelArchiveReader {
    private func fetchRequest(_ object: ArchivedObject) throws -> ModelFetchRequest {
        var request = ModelFetchRequest(entityName: try object.object("NSEntity").flatMap(entityName))
        request.predicate = try object.object("NSPredicate").map { try predicates.predicate($0) }
        request.havingPredicate = try object.object("NSHavingPredicate").map { try predicates.predicate($0) }
        request.sortDescriptors = try budget.members(object.object("NSSortDescriptors")).compactMap { $0 }.map {
            ModelSortDescriptor(
                key: try $0.string("NSKey") ?? "", isAscending: try $0.flag("NSAscending"),
                selectorName: try $0.string("NSSelector") ?? "compare:")
        }
        request.fetchLimit = try object.integer("NSFetchLimit") ?? 0
        request.fetchOffset = try object.integer("NSFetchOffset") ?? 0
        request.fetchBatchSize = try object.integer("NSBatchSize") ?? 0
        request.resultType =
            try object.integer("NSResultType").flatMap(ModelFetchRequest.ResultType.init) ?? request.resultType
        if let flags = try object.integer("NSFetchRequestFlags") {
            request.returnsDistinctResults = flags & FetchRequestFlags.returnsDistinctResults != 0
            request.includesSubentities = flags & FetchRequestFlags.includesSubentities != 0
            request.includesPropertyValues = flags & FetchRequestFlags.includesPropertyValues != 0
            request.returnsObjectsAsFaults = flags & FetchRequestFlags.returnsObjectsAsFaults != 0
            request.includesPendingChanges = flags & FetchRequestFlags.includesPendingChanges != 0
        }
        func names(_ field: String) throws -> [String] {
            try budget.members(object.object(field)).compactMap { try $0?.string ?? $0?.string("NSPropertyName") }
        }
        request.relationshipKeyPathsForPrefetching = try names("NSRelationshipKeyPathsForPrefetching")
        request.propertiesToFetch = try names("NSValuesToFetch")
        request.propertiesToGroupBy = try names("NSValuesToGroupBy")
        return request
    }

    private func fetchIndex(_ object: ArchivedObject) throws -> ModelFetchIndex {
        ModelFetchIndex(
            name: try object.string("NSIndexName") ?? "",
            elements: try budget.members(object.object("NSIndexElements")).compactMap { $0 }.map(fetchIndexElement),
            partialIndexPredicate: try object.object("NSPartialIndexPredicate").map { try predicates.predicate($0) })
    }

    private func fetchIndexElement(_ object: ArchivedObject) throws -> ModelFetchIndexElement {
        let name = try object.string("NSPropertyName") ?? ""
        var target = ModelFetchIndexElement.Target.property(name)
        if let property = try object.object("NSIndexedProperty"), let expression = try property.object("NSExpression") {
            let type = ModelAttributeType(rawValue: try property.integer("NSExpressionType") ?? 0) ?? .undefined
            target = .expression(try predicates.expression(expression), type: type, name: name)
        }
        let collation = try object.integer("NSFetchIndexElementType") ?? 0
        return ModelFetchIndexElement(
            target, collation: ModelFetchIndexElement.Collation(rawValue: collation) ?? .binary,
            isAscending: try object.flag("NSAscending"))
    }
}

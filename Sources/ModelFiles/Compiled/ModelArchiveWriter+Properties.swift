import Foundation
import KeyedArchives
import PredicateLanguage

// Properties of entities.

extension ModelArchiveWriter {
    mutating func properties(of entity: ModelEntity) throws -> PropertyListValue {
        let owners = form == .cached ? inheritance.lineage(of: entity.name) : [entity]
        for owner in owners {
            for attribute in owner.attributes { try write(attribute, of: entity.name) }
            for relationship in owner.relationships { try write(relationship, of: entity.name) }
            for property in owner.fetchedProperties { try write(property, of: entity.name) }
        }
        let references = propertyReferences[entity.name] ?? [:]
        let pairs = references.keys.sorted().map { name in
            (key: builder.add(string: name), value: references[name] ?? KeyedArchiveBuilder.null)
        }
        return builder.add(dictionary: pairs, isMutable: true)
    }

    mutating func fill(
        _ property: some ModelProperty, of entityName: String, _ className: String, _ fields: PropertyListDictionary
    ) {
        guard let reference = propertyReferences[entityName]?[property.name] else { return }
        builder.fill(reference, classChain: [className, "NSPropertyDescription", "NSObject"], fields: fields)
    }

    private mutating func commonFields(
        _ property: some ModelProperty, of entityName: String
    ) throws -> PropertyListDictionary {
        var fields = PropertyListDictionary([
            ("_P", .integer(Int64(PropertyFlags.sum(property)))),
            ("NSPropertyName", builder.add(string: property.name)),
            ("NSRenamingIdentifier", builder.add(string: property.renamingIdentifier ?? property.name)),
            ("NSEntity", reference(to: entityName)),
        ])
        let flags = [
            ("NSIsOptional", property.isOptional), ("NSIsTransient", property.isTransient),
            ("NSIsIndexed", property.isIndexed), ("NSIsReadOnly", property.isReadOnly),
            ("NSIndexedBySpotlight", property.isIndexedBySpotlight),
        ]
        for case (let key, true) in flags { fields[key] = .boolean(true) }
        if let modifier = property.versionHashModifier {
            fields["NSVersionHashModifier"] = builder.add(string: modifier)
        }
        if !property.userInfo.isEmpty { fields["NSUserInfo"] = try userInfo(property.userInfo) }
        if !property.validations.isEmpty {
            var conditions: [PropertyListValue] = []
            var warnings: [PropertyListValue] = []
            for validation in property.validations {
                conditions.append(try builder.add(predicate: validation.predicate))
                switch validation.warning {
                case .code(let code): warnings.append(builder.add(value: .integer(Int64(code))))
                case .text(let text): warnings.append(builder.add(string: text))
                }
            }
            fields["NSValidationPredicates"] = builder.add(array: conditions)
            fields["NSValidationWarnings"] = builder.add(array: warnings)
        }
        return fields
    }

    mutating func write(_ attribute: ModelAttribute, of entityName: String) throws {
        guard let reference = propertyReferences[entityName]?[attribute.name] else { return }
        try fill(reference, with: attribute, of: entityName)
    }

    /// Recursive for the elements of composites, to a depth of ``ModelAttribute/maximumNesting``.
    mutating func fill(
        _ reference: PropertyListValue, with attribute: ModelAttribute, of entityName: String, depth: Int = 0
    ) throws {
        var fields = try commonFields(attribute, of: entityName)
        var flags = 0
        if attribute.allowsExternalBinaryDataStorage { flags |= AttributeFlags.allowsExternalBinaryDataStorage }
        if attribute.preservesValueInHistoryOnDeletion { flags |= AttributeFlags.preservesValueInHistory }
        fields["NSFlagsKey"] = .integer(Int64(flags))
        fields["NSAttributeType"] = .integer(Int64(attribute.type.rawValue))
        fields["NSAttributeValueClassName"] = builder.add(
            string: attribute.valueClassName ?? attribute.type.valueClassName)
        fields["NSValueTransformerName"] = builder.add(string: attribute.valueTransformerName)
        fields["NSDefaultValue"] =
            try attribute.defaultValue.map { try builder.add($0.readable) } ?? KeyedArchiveBuilder.null
        if attribute.allowsCloudEncryption { fields["NSAllowsCloudEncryption"] = .boolean(true) }
        if attribute.isStoredInExternalRecord { fields["NSIsStoredInTruthFile"] = .boolean(true) }
        var classChain = ["NSAttributeDescription", "NSPropertyDescription", "NSObject"]
        if let derivation = attribute.derivation {
            classChain.insert("NSDerivedAttributeDescription", at: 0)
            fields["NSDerivationExpression"] = try builder.add(expression: derivation.expression)
            fields["NSFilteringPredicate"] =
                try derivation.filteringPredicate.map { try builder.add(predicate: $0) } ?? KeyedArchiveBuilder.null
        }
        if attribute.type == .composite {
            try ModelAttribute.checkNesting(depth, entity: entityName, property: attribute.name)
            classChain.insert("NSCompositeAttributeDescription", at: 0)
            var elements: [PropertyListValue] = []
            for element in attribute.elements {
                let elementReference = builder.reserve()
                try fill(elementReference, with: element, of: entityName, depth: depth + 1)
                elements.append(elementReference)
            }
            fields["NSCompositeElements"] = builder.add(array: elements)
        }
        builder.fill(reference, classChain: classChain, fields: fields)
    }

    mutating func write(_ relationship: ModelRelationship, of entityName: String) throws {
        var fields = try commonFields(relationship, of: entityName)
        guard let destination = relationship.destinationName, entityReferences[destination] != nil else {
            throw ModelError(
                .unknownEntity, "The destination '\(relationship.destinationName ?? "")' does not exist.",
                file: relationship.position.file, line: relationship.position.line, entity: entityName,
                property: relationship.name)
        }
        fields["NSDestinationEntity"] = reference(to: destination)
        fields["_NSDestinationEntityName"] = builder.add(string: destination)
        fields["NSInverseRelationship"] =
            relationship.inverseName.flatMap { inverse(named: $0, of: destination) } ?? KeyedArchiveBuilder.null
        fields["_NSInverseRelationshipName"] = builder.add(string: relationship.inverseName)
        fields["NSMinCount"] = .integer(Int64(relationship.minimumCount))
        fields["NSMaxCount"] = .integer(Int64(relationship.maximumCount))
        fields["NSDeleteRule"] = .integer(Int64(relationship.deleteRule.rawValue))
        if relationship.isOrdered { fields["NSIsOrdered"] = .boolean(true) }
        fill(relationship, of: entityName, "NSRelationshipDescription", fields)
    }

    /// The relationship of a name, as written for the destination or its nearest ancestor that has it.
    private func inverse(named name: String, of destination: String) -> PropertyListValue? {
        for owner in [destination] + inheritance.ancestors(of: destination).map(\.name) {
            if let reference = propertyReferences[owner]?[name] { return reference }
        }
        return nil
    }

    mutating func write(_ property: ModelFetchedProperty, of entityName: String) throws {
        var fields = try commonFields(property, of: entityName)
        fields["NSFetchRequest"] = try add(property.fetchRequest)
        fields["_NSFetchRequestEntityName"] = builder.add(string: property.fetchRequest.entityName)
        fill(property, of: entityName, "NSFetchedPropertyDescription", fields)
    }
}

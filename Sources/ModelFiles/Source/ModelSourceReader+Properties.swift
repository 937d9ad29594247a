import CodedErrors
import Foundation
import KeyedArchives
import PredicateLanguage

// Properties of entities.

extension ModelSourceReader {
    func attribute(_ element: SourceElement) throws -> ModelAttribute {
        let name = try required("name", element)
        var type = ModelAttributeType.undefined
        if let typeName = element["attributeType"] {
            guard let found = SourceText.type(named: typeName) else {
                let advice = SourceText.advice(forType: typeName)
                throw error(.invalidValue, "The attribute type '\(typeName)' is unknown.\(advice)", element)
            }
            type = found
        }
        var attribute = ModelAttribute(name: name, type: type)
        try readCommon(&attribute, element)
        attribute.isStoredInExternalRecord = try flag("storedInTruthFile", element)
        attribute.allowsCloudEncryption = try flag("allowsCloudEncryption", element)
        attribute.allowsExternalBinaryDataStorage = try flag("allowsExternalBinaryDataStorage", element)
        attribute.preservesValueInHistoryOnDeletion = try flag("preserveAfterDeletion", element)
        attribute.valueTransformerName = element["valueTransformerName"]
        attribute.valueClassName = element["customClassName"]
        attribute.usesScalarValueType = try optionalFlag("usesScalarValueType", element)
        attribute.compositeName = element["composite"]
        attribute.isSyncable = try optionalFlag("syncable", element)
        attribute.regularExpression = element["regularExpressionString"]
        attribute.defaultValue = try value(
            element, text: "defaultValueString", interval: "defaultDateTimeInterval", type: type, SourceText.value)
        attribute.minimum = try value(
            element, text: "minValueString", interval: "minDateTimeInterval", type: type, SourceText.limit)
        attribute.maximum = try value(
            element, text: "maxValueString", interval: "maxDateTimeInterval", type: type, SourceText.limit)
        if let text = element["derivationExpression"] {
            let filter = try element["filteringPredicate"].map { try predicate($0, element) }
            attribute.derivation = ModelDerivation(
                expression: try ModelDerivation.normalized(expression(text, element)), filteringPredicate: filter)
        }
        return attribute
    }

    func value(
        _ element: SourceElement, text textName: String, interval intervalName: String, type: ModelAttributeType,
        _ parse: (String, ModelAttributeType) -> ModelValue?
    ) throws -> ModelValue? {
        // The text beside a date's seconds is only informative, and localised.
        let (interval, general) = (element[intervalName], element[textName])
        guard let text = type == .date ? interval : general else { return nil }
        if let value = parse(text, type) { return value }
        // The editor keeps the text when the type is changed to one that has no defaults.
        if [.undefined, .transformable, .composite, .binaryData].contains(type) { return nil }
        throw error(
            .invalidValue, "'\(text)' is not a value of type \(SourceText.name(of: type) ?? "Undefined").", element)
    }

    func relationship(_ element: SourceElement) throws -> ModelRelationship {
        var relationship = ModelRelationship(
            name: try required("name", element), destinationName: element["destinationEntity"],
            inverseName: element["inverseName"])
        try readCommon(&relationship, element)
        relationship.inverseEntityName = element["inverseEntity"]
        relationship.isOrdered = try flag("ordered", element)
        relationship.isSyncable = try optionalFlag("syncable", element)
        relationship.minimumCount = try integer("minCount", element) ?? 0
        let isToMany = try flag("toMany", element)
        relationship.maximumCount = try integer("maxCount", element) ?? (isToMany ? 0 : 1)
        if let name = element["deletionRule"] {
            guard let rule = SourceText.deleteRuleNames.first(where: { $0.1 == name }) else {
                let advice = NameSuggestion.advice(for: name, in: SourceText.deleteRuleNames.map { $0.1 })
                throw error(.invalidValue, "The delete rule '\(name)' is unknown.\(advice)", element)
            }
            relationship.deleteRule = rule.0
        }
        return relationship
    }

    func fetchedProperty(_ element: SourceElement) throws -> ModelFetchedProperty {
        guard let request = element.children(named: "fetchRequest").first else {
            throw error(.malformedFile, "The fetched property has no fetch request.", element)
        }
        var property = ModelFetchedProperty(
            name: try required("name", element), fetchRequest: try fetchRequest(request))
        try readCommon(&property, element)
        // A fetched property is always transient and optional, independent of the source.
        property.isOptional = true
        property.isTransient = true
        property.isSyncable = try optionalFlag("syncable", element)
        return property
    }

    private func readCommon(_ property: inout some ModelProperty, _ element: SourceElement) throws {
        property.isOptional = try flag("optional", element)
        property.isTransient = try flag("transient", element)
        property.isIndexed = try flag("indexed", element)
        property.isIndexedBySpotlight = try flag("spotlightIndexingEnabled", element)
        property.renamingIdentifier = renamingIdentifier(element, name: property.name)
        property.versionHashModifier = element["versionHashModifier"]
        property.userInfo = try element.children(named: "userInfo").first.map(userInfo) ?? [:]
        property.position = position(element)
    }

    func renamingIdentifier(_ element: SourceElement, name: String) -> String? {
        let (editors, other) = (element["elementID"], element["renamingIdentifier"])
        let identifier = editors ?? other
        return identifier == name || identifier == "" ? nil : identifier
    }

    func userInfo(_ element: SourceElement) throws -> [String: PropertyListValue] {
        var userInfo: [String: PropertyListValue] = [:]
        for entry in element.children(named: "entry") {
            userInfo[try required("key", entry)] = .string(entry["value"] ?? "")
        }
        return userInfo
    }
}

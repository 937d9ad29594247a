import Foundation
import KeyedArchives
import PredicateLanguage

/// Writes the XML that Xcode's model editor writes: the same elements, attributes, order and indentation.
public struct ModelSourceWriter {
    private var xml = SourceXML()

    /// The file `contents` of an `.xcdatamodel`. Equal models give equal bytes.
    ///
    /// A source model cannot represent default values of archived objects, sort descriptors of fetch requests, and
    /// validations other than limits and patterns; these are omitted, and ``ModelConversion`` lists them. Throws
    /// ``ModelError`` for a predicate that cannot be printed, and for composites that are nested too deeply.
    public static func write(_ model: Model) throws -> Data {
        var writer = ModelSourceWriter()
        try writer.write(try model.sourceForm())
        return Data(writer.xml.text.utf8)
    }

    private mutating func write(_ model: Model) throws {
        let remarks = model.source.attributes
        let identifier = model.versionIdentifiers.sorted().first
        var attributes: [(String, String?)] = []
        for name in Self.modelAttributeNames { attributes.append((name, remarks[name] ?? Self.requiredRemarks[name])) }
        for name in remarks.keys.sorted() where !Self.modelAttributeNames.contains(name) {
            attributes.append((name, remarks[name]))
        }
        // Editors that write `sourceLanguage` put the identifier last, older ones first.
        let index = remarks["sourceLanguage"] == nil && !remarks.isEmpty ? 0 : attributes.count
        attributes.insert(("userDefinedModelVersionIdentifier", identifier), at: index)
        xml.open("model", attributes)
        for entity in model.entities { try write(entity) }
        for composite in model.composites {
            xml.open("composite", [("name", composite.name)])
            for element in composite.elements { try write(element) }
            xml.close("composite")
        }
        for template in model.fetchRequestTemplates { try write(template.fetchRequest, name: template.name) }
        for configuration in model.configurations {
            xml.open(
                "configuration",
                [("name", configuration.name), ("usedWithCloudKit", Self.flag(configuration.usesCloudKit))])
            for name in configuration.entityNames { xml.empty("memberEntity", [("name", name)]) }
            xml.close("configuration")
        }
        if !model.source.diagram.isEmpty {
            xml.open("elements")
            for element in model.source.diagram {
                xml.empty(
                    "element",
                    [
                        ("name", element.entityName), ("positionX", element.positionX),
                        ("positionY", element.positionY), ("width", element.width), ("height", element.height),
                    ])
            }
            xml.close("elements")
        }
        xml.close("model")
    }

    private static let modelAttributeNames = [
        "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion", "sourceLanguage",
        "macOSVersion", "iOSVersion", "name", "usedWithCloudKit", "usedWithSwiftData",
    ]

    /// The attributes that the root element of every source model has.
    private static let requiredRemarks = [
        "type": "com.apple.IDECoreDataModeler.DataModel", "documentVersion": "1.0", "minimumToolsVersion": "Automatic",
    ]

    private mutating func write(_ entity: ModelEntity) throws {
        xml.open(
            "entity",
            [
                ("name", entity.name), ("representedClassName", entity.className),
                ("parentEntity", entity.parentName), ("isAbstract", Self.flag(entity.isAbstract)),
                ("versionHashModifier", entity.versionHashModifier), ("elementID", entity.renamingIdentifier),
                ("syncable", Self.flag(entity.isSyncable)),
                ("coreSpotlightDisplayNameExpression", entity.spotlightDisplayNameExpression),
                (
                    "codeGenerationType",
                    entity.codeGeneration == .manual ? nil : entity.codeGeneration.rawValue
                ),
            ])
        for attribute in entity.attributes { try write(attribute) }
        for relationship in entity.relationships { write(relationship) }
        for property in entity.fetchedProperties { try write(property) }
        for index in entity.fetchIndexes { try write(index) }
        writeLists(entity.compoundIndexes, outer: "compoundIndexes", list: "compoundIndex", item: "index")
        writeLists(
            entity.uniquenessConstraints, outer: "uniquenessConstraints", list: "uniquenessConstraint",
            item: "constraint")
        write(userInfo: entity.userInfo)
        xml.close("entity")
    }

    private mutating func writeLists(_ lists: [[String]], outer: String, list: String, item: String) {
        guard !lists.isEmpty else { return }
        xml.open(outer)
        for names in lists {
            xml.open(list)
            for name in names { xml.empty(item, [("value", name)]) }
            xml.close(list)
        }
        xml.close(outer)
    }

    private mutating func write(userInfo: [String: PropertyListValue]) {
        guard !userInfo.isEmpty else { return }
        xml.open("userInfo")
        for (key, value) in userInfo.sorted(by: { $0.key < $1.key }) {
            xml.empty("entry", [("key", key), ("value", value.sourceText)])
        }
        xml.close("userInfo")
    }

    private static func flag(_ value: Bool) -> String? {
        value ? "YES" : nil
    }

    private static func flag(_ value: Bool?) -> String? {
        value.map { $0 ? "YES" : "NO" }
    }
}

// MARK: - Properties

extension ModelSourceWriter {
    private mutating func write(_ attribute: ModelAttribute) throws {
        let isDate = attribute.type == .date
        func text(_ value: ModelValue?) -> String? { isDate ? nil : value.flatMap(SourceText.text) }
        func interval(_ value: ModelValue?) -> String? { isDate ? value.flatMap(SourceText.text) : nil }
        let derivation = try attribute.derivation.map { try $0.expression.sourceText() }
        xml.open(
            "attribute",
            [
                ("name", attribute.name), ("optional", Self.flag(attribute.isOptional)),
                ("transient", Self.flag(attribute.isTransient)),
                ("attributeType", SourceText.name(of: attribute.type)),
                ("composite", attribute.compositeName),
                ("minDateTimeInterval", interval(attribute.minimum)),
                ("maxDateTimeInterval", interval(attribute.maximum)),
                ("defaultDateTimeInterval", interval(attribute.defaultValue)),
                ("minValueString", text(attribute.minimum)), ("maxValueString", text(attribute.maximum)),
                ("defaultValueString", text(attribute.defaultValue)),
                ("regularExpressionString", attribute.regularExpression),
                ("derived", derivation == nil ? nil : "YES"), ("derivationExpression", derivation),
                ("filteringPredicate", try attribute.derivation?.filteringPredicate?.sourceText()),
                ("allowsExternalBinaryDataStorage", Self.flag(attribute.allowsExternalBinaryDataStorage)),
                ("allowsCloudEncryption", Self.flag(attribute.allowsCloudEncryption)),
                ("spotlightIndexingEnabled", Self.flag(attribute.isIndexedBySpotlight)),
                ("storedInTruthFile", Self.flag(attribute.isStoredInExternalRecord)),
                ("valueTransformerName", attribute.valueTransformerName),
                ("customClassName", attribute.valueClassName),
                ("usesScalarValueType", Self.flag(attribute.usesScalarValueType)),
                ("indexed", Self.flag(attribute.isIndexed)),
                ("preserveAfterDeletion", Self.flag(attribute.preservesValueInHistoryOnDeletion)),
                ("versionHashModifier", attribute.versionHashModifier),
                ("elementID", attribute.renamingIdentifier), ("syncable", Self.flag(attribute.isSyncable)),
            ])
        write(userInfo: attribute.userInfo)
        xml.close("attribute")
    }

    private mutating func write(_ relationship: ModelRelationship) {
        let minimum = relationship.minimumCount == 0 ? nil : String(relationship.minimumCount)
        // Without a number a to-many relationship has 0. Some compiled models have -1, which has another version hash.
        let maximum = relationship.maximumCount == 0 ? nil : String(relationship.maximumCount)
        let rule = SourceText.deleteRuleNames.first { $0.0 == relationship.deleteRule }?.1
        xml.open(
            "relationship",
            [
                ("name", relationship.name), ("optional", Self.flag(relationship.isOptional)),
                ("transient", Self.flag(relationship.isTransient)), ("toMany", Self.flag(relationship.isToMany)),
                ("minCount", minimum), ("maxCount", maximum), ("deletionRule", rule),
                ("ordered", Self.flag(relationship.isOrdered)), ("destinationEntity", relationship.destinationName),
                ("inverseName", relationship.inverseName),
                (
                    "inverseEntity",
                    relationship.inverseEntityName
                        ?? (relationship.inverseName == nil ? nil : relationship.destinationName)
                ),
                ("indexed", Self.flag(relationship.isIndexed)),
                ("spotlightIndexingEnabled", Self.flag(relationship.isIndexedBySpotlight)),
                ("versionHashModifier", relationship.versionHashModifier),
                ("elementID", relationship.renamingIdentifier), ("syncable", Self.flag(relationship.isSyncable)),
            ])
        write(userInfo: relationship.userInfo)
        xml.close("relationship")
    }

    private mutating func write(_ property: ModelFetchedProperty) throws {
        xml.open(
            "fetchedProperty",
            [
                ("name", property.name), ("optional", Self.flag(property.isOptional)),
                ("versionHashModifier", property.versionHashModifier),
                ("elementID", property.renamingIdentifier), ("syncable", Self.flag(property.isSyncable)),
            ])
        try write(property.fetchRequest, name: "fetchedPropertyFetchRequest")
        write(userInfo: property.userInfo)
        xml.close("fetchedProperty")
    }

    private mutating func write(_ request: ModelFetchRequest, name: String) throws {
        func number(_ value: Int) -> String? { value == 0 ? nil : String(value) }
        func no(_ value: Bool) -> String? { value ? nil : "NO" }
        xml.empty(
            "fetchRequest",
            [
                ("name", name), ("entity", request.entityName),
                ("predicateString", try request.predicate?.sourceText()),
                ("fetchLimit", number(request.fetchLimit)), ("fetchBatchSize", number(request.fetchBatchSize)),
                ("resultType", number(request.resultType.rawValue)),
                ("includeSubentities", no(request.includesSubentities)),
                ("includePropertyValues", no(request.includesPropertyValues)),
                ("includesPendingChanges", no(request.includesPendingChanges)),
                ("returnObjectsAsFaults", no(request.returnsObjectsAsFaults)),
                ("returnDistinctResults", Self.flag(request.returnsDistinctResults)),
            ])
    }

    private mutating func write(_ index: ModelFetchIndex) throws {
        xml.open(
            "fetchIndex",
            [("name", index.name), ("partialIndexPredicate", try index.partialIndexPredicate?.sourceText())])
        for element in index.elements {
            var attributes: [(String, String?)]
            switch element.target {
            case .property(let name): attributes = [("property", name)]
            case .expression(let expression, let type, _):
                attributes = [
                    ("expression", try expression.sourceText()), ("expressionType", SourceText.name(of: type)),
                ]
            }
            attributes += [
                ("type", element.collation == .rTree ? "RTree" : "Binary"),
                ("order", element.isAscending ? "ascending" : "descending"),
            ]
            xml.empty("fetchIndexElement", attributes)
        }
        xml.close("fetchIndex")
    }
}

extension PropertyListValue {
    /// A value of user info as text, the only form that a source model has.
    fileprivate var sourceText: String {
        switch self {
        case .string(let value): value
        case .integer(let value): String(value)
        case .real(let value): value.description
        case .boolean(let value): value ? "YES" : "NO"
        default: ""
        }
    }
}

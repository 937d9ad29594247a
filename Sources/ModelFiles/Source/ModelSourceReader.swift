import Foundation
import KeyedArchives
import PredicateLanguage

/// Reads the XML that Xcode's model editor writes: the file `contents` of an `.xcdatamodel`.
public struct ModelSourceReader {
    private let file: String?

    /// Reads a source model. `file` is the path for errors and positions.
    ///
    /// Throws ``ModelError`` with file and line when the XML is malformed or contains an invalid value. Errors that
    /// concern several parts of the model, such as unknown names, are found by ``Model/validate()``.
    public static func read(_ data: Data, file: String? = nil) throws -> Model {
        let root = try SourceElementReader.read(data, file: file)
        return try ModelSourceReader(file: file).model(root)
    }

    private init(file: String?) {
        self.file = file
    }

    private func model(_ root: SourceElement) throws -> Model {
        guard root.name == "model" else {
            throw error(.unknownFormat, "The root element is <\(root.name)>, not <model>.", root)
        }
        var model = Model()
        for child in root.children {
            switch child.name {
            case "entity": model.entities.append(try entity(child))
            case "composite": model.composites.append(try composite(child))
            case "configuration": model.configurations.append(try configuration(child))
            case "fetchRequest": model.fetchRequestTemplates.append(try fetchRequestTemplate(child))
            case "elements": model.source.diagram = child.children(named: "element").map(diagramElement)
            default: break
            }
        }
        let identifier = root.attributes["userDefinedModelVersionIdentifier"]
        model.versionIdentifiers = identifier.map { [$0] } ?? []
        model.source.attributes = root.attributes.filter { $0.key != "userDefinedModelVersionIdentifier" }
        try model.resolveComposites(file: file)
        return model
    }

    private func entity(_ element: SourceElement) throws -> ModelEntity {
        var entity = ModelEntity(name: try required("name", element))
        entity.className = element.attributes["representedClassName"]
        entity.isAbstract = try flag("isAbstract", element)
        entity.parentName = element.attributes["parentEntity"]
        entity.renamingIdentifier = renamingIdentifier(element, name: entity.name)
        entity.versionHashModifier = element.attributes["versionHashModifier"]
        entity.isSyncable = try optionalFlag("syncable", element)
        entity.spotlightDisplayNameExpression =
            element.attributes["coreSpotlightDisplayNameExpression"]
            ?? element.attributes["spotlightDisplayNameExpression"]
        if let kind = element.attributes["codeGenerationType"] {
            guard let generation = ModelCodeGeneration(rawValue: kind) else {
                throw error(.invalidValue, "The code generation '\(kind)' is unknown.", element)
            }
            entity.codeGeneration = generation
        }
        entity.position = position(element)
        for child in element.children {
            switch child.name {
            case "attribute": entity.attributes.append(try attribute(child))
            case "relationship": entity.relationships.append(try relationship(child))
            case "fetchedProperty": entity.fetchedProperties.append(try fetchedProperty(child))
            case "fetchIndex": entity.fetchIndexes.append(try fetchIndex(child))
            case "uniquenessConstraints":
                entity.uniquenessConstraints = try child.children(named: "uniquenessConstraint").map {
                    try $0.children(named: "constraint").map { try required("value", $0) }
                }
            case "compoundIndexes":
                entity.compoundIndexes = try child.children(named: "compoundIndex").map {
                    try $0.children(named: "index").map { try required("value", $0) }
                }
            case "userInfo": entity.userInfo = try userInfo(child)
            default: break
            }
        }
        return entity
    }

    private func composite(_ element: SourceElement) throws -> ModelComposite {
        ModelComposite(
            name: try required("name", element), elements: try element.children(named: "attribute").map(attribute))
    }

    private func configuration(_ element: SourceElement) throws -> ModelConfiguration {
        ModelConfiguration(
            name: try required("name", element),
            entityNames: try element.children(named: "memberEntity").map { try required("name", $0) }.sorted(),
            usesCloudKit: try optionalFlag("usedWithCloudKit", element))
    }

    private func diagramElement(_ element: SourceElement) -> ModelDiagramElement {
        func text(_ name: String) -> String { element.attributes[name] ?? "0" }
        return ModelDiagramElement(
            entityName: element.attributes["name"] ?? "", positionX: text("positionX"), positionY: text("positionY"),
            width: text("width"), height: text("height"))
    }
}

// MARK: - Properties

extension ModelSourceReader {
    private func attribute(_ element: SourceElement) throws -> ModelAttribute {
        let name = try required("name", element)
        var type = ModelAttributeType.undefined
        if let typeName = element.attributes["attributeType"] {
            guard let found = SourceText.type(named: typeName) else {
                throw error(.invalidValue, "The attribute type '\(typeName)' is unknown.", element)
            }
            type = found
        }
        var attribute = ModelAttribute(name: name, type: type)
        try readCommon(&attribute, element)
        attribute.isStoredInExternalRecord = try flag("storedInTruthFile", element)
        attribute.allowsCloudEncryption = try flag("allowsCloudEncryption", element)
        attribute.allowsExternalBinaryDataStorage = try flag("allowsExternalBinaryDataStorage", element)
        attribute.preservesValueInHistoryOnDeletion = try flag("preserveAfterDeletion", element)
        attribute.valueTransformerName = element.attributes["valueTransformerName"]
        attribute.valueClassName = element.attributes["customClassName"]
        attribute.usesScalarValueType = try optionalFlag("usesScalarValueType", element)
        attribute.compositeName = element.attributes["composite"]
        attribute.isSyncable = try optionalFlag("syncable", element)
        attribute.regularExpression = element.attributes["regularExpressionString"]
        attribute.defaultValue = try value(
            element, text: "defaultValueString", interval: "defaultDateTimeInterval", type: type, SourceText.value)
        attribute.minimum = try value(
            element, text: "minValueString", interval: "minDateTimeInterval", type: type, SourceText.limit)
        attribute.maximum = try value(
            element, text: "maxValueString", interval: "maxDateTimeInterval", type: type, SourceText.limit)
        if let text = element.attributes["derivationExpression"] {
            let filter = try element.attributes["filteringPredicate"].map { try predicate($0, element) }
            attribute.derivation = ModelDerivation(
                expression: try ModelDerivation.normalized(expression(text, element)), filteringPredicate: filter)
        }
        return attribute
    }

    private func value(
        _ element: SourceElement, text textName: String, interval intervalName: String, type: ModelAttributeType,
        _ parse: (String, ModelAttributeType) -> ModelValue?
    ) throws -> ModelValue? {
        // The text beside a date's seconds is only informative, and localised.
        let isDate = type == .date
        guard let text = element.attributes[isDate ? intervalName : textName] else { return nil }
        if let value = parse(text, type) { return value }
        // The editor keeps the text when the type is changed to one that has no defaults.
        if [.undefined, .transformable, .composite, .binaryData].contains(type) { return nil }
        throw error(
            .invalidValue, "'\(text)' is not a value of type \(SourceText.name(of: type) ?? "Undefined").", element)
    }

    private func relationship(_ element: SourceElement) throws -> ModelRelationship {
        var relationship = ModelRelationship(
            name: try required("name", element), destinationName: element.attributes["destinationEntity"],
            inverseName: element.attributes["inverseName"])
        try readCommon(&relationship, element)
        relationship.inverseEntityName = element.attributes["inverseEntity"]
        relationship.isOrdered = try flag("ordered", element)
        relationship.isSyncable = try optionalFlag("syncable", element)
        relationship.minimumCount = try integer("minCount", element) ?? 0
        let isToMany = try flag("toMany", element)
        relationship.maximumCount = try integer("maxCount", element) ?? (isToMany ? 0 : 1)
        if let name = element.attributes["deletionRule"] {
            guard let rule = SourceText.deleteRuleNames.first(where: { $0.1 == name }) else {
                throw error(.invalidValue, "The delete rule '\(name)' is unknown.", element)
            }
            relationship.deleteRule = rule.0
        }
        return relationship
    }

    private func fetchedProperty(_ element: SourceElement) throws -> ModelFetchedProperty {
        guard let request = element.children(named: "fetchRequest").first else {
            throw error(.malformedFile, "The fetched property has no fetch request.", element)
        }
        var property = ModelFetchedProperty(
            name: try required("name", element), fetchRequest: try fetchRequest(request))
        try readCommon(&property, element)
        // A fetched property is always transient and optional, whatever the source contains.
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
        property.versionHashModifier = element.attributes["versionHashModifier"]
        property.userInfo = try element.children(named: "userInfo").first.map(userInfo) ?? [:]
        property.position = position(element)
    }

    private func renamingIdentifier(_ element: SourceElement, name: String) -> String? {
        let identifier = element.attributes["elementID"] ?? element.attributes["renamingIdentifier"]
        return identifier == name || identifier == "" ? nil : identifier
    }

    private func userInfo(_ element: SourceElement) throws -> [String: PropertyListValue] {
        var userInfo: [String: PropertyListValue] = [:]
        for entry in element.children(named: "entry") {
            userInfo[try required("key", entry)] = .string(entry.attributes["value"] ?? "")
        }
        return userInfo
    }
}

// MARK: - Requests and indexes

extension ModelSourceReader {
    private func fetchRequestTemplate(_ element: SourceElement) throws -> ModelFetchRequestTemplate {
        var template = ModelFetchRequestTemplate(
            name: try required("name", element), fetchRequest: try fetchRequest(element))
        template.position = position(element)
        return template
    }

    private func fetchRequest(_ element: SourceElement) throws -> ModelFetchRequest {
        var request = ModelFetchRequest(entityName: element.attributes["entity"])
        if let text = element.attributes["predicateString"], !text.isEmpty {
            request.predicate = try predicate(text, element)
        }
        request.fetchLimit = try integer("fetchLimit", element) ?? 0
        request.fetchBatchSize = try integer("fetchBatchSize", element) ?? 0
        if let number = try integer("resultType", element) {
            guard let type = ModelFetchRequest.ResultType(rawValue: number) else {
                throw error(.invalidValue, "The result type \(number) is unknown.", element)
            }
            request.resultType = type
        }
        request.includesSubentities = try optionalFlag("includeSubentities", element) ?? true
        request.includesPropertyValues = try optionalFlag("includePropertyValues", element) ?? true
        request.includesPendingChanges = try optionalFlag("includesPendingChanges", element) ?? true
        request.returnsObjectsAsFaults = try optionalFlag("returnObjectsAsFaults", element) ?? true
        request.returnsDistinctResults = try flag("returnDistinctResults", element)
        return request
    }

    private func fetchIndex(_ element: SourceElement) throws -> ModelFetchIndex {
        var index = ModelFetchIndex(name: try required("name", element))
        index.position = position(element)
        let filter = element.attributes["partialIndexPredicate"] ?? element.attributes["predicateString"]
        index.partialIndexPredicate = try filter.map { try predicate($0, element) }
        index.elements = try element.children(named: "fetchIndexElement").map(fetchIndexElement)
        return index
    }

    private func fetchIndexElement(_ element: SourceElement) throws -> ModelFetchIndexElement {
        let target: ModelFetchIndexElement.Target
        if let property = element.attributes["property"] {
            target = .property(property)
        } else {
            let typeName = element.attributes["expressionType"]
            let type = typeName.map { SourceText.type(named: $0) } ?? .undefined
            guard let type else {
                throw error(.invalidValue, "The attribute type '\(typeName ?? "")' is unknown.", element)
            }
            target = .expression(try expression(try required("expression", element), element), type: type, name: nil)
        }
        let order = element.attributes["order"]?.lowercased() ?? "ascending"
        let collation = element.attributes["type"]?.lowercased() ?? "binary"
        guard ["ascending", "descending"].contains(order), ["binary", "rtree"].contains(collation) else {
            throw error(.invalidValue, "Indexes of type '\(collation)' and order '\(order)' are unknown.", element)
        }
        return ModelFetchIndexElement(
            target, collation: collation == "rtree" ? .rTree : .binary, isAscending: order == "ascending")
    }
}

// MARK: - Values

extension ModelSourceReader {
    private func required(_ name: String, _ element: SourceElement) throws -> String {
        guard let value = element.attributes[name], !value.isEmpty else {
            throw error(.invalidName, "<\(element.name)> has no \(name).", element)
        }
        return value
    }

    private func flag(_ name: String, _ element: SourceElement) throws -> Bool {
        try optionalFlag(name, element) ?? false
    }

    private func optionalFlag(_ name: String, _ element: SourceElement) throws -> Bool? {
        guard let text = element.attributes[name] else { return nil }
        guard let value = SourceText.boolean(text) else {
            throw error(.invalidValue, "\(name) is '\(text)', neither YES nor NO.", element)
        }
        return value
    }

    private func integer(_ name: String, _ element: SourceElement) throws -> Int? {
        guard let text = element.attributes[name] else { return nil }
        guard let value = Int(text) else {
            throw error(.invalidValue, "\(name) is '\(text)', which is not an integer.", element)
        }
        return value
    }

    private func predicate(_ text: String, _ element: SourceElement) throws -> PredicateNode {
        do {
            return try PredicateParser.parse(text)
        } catch {
            throw self.error(.invalidPredicate, "The predicate '\(text)' cannot be parsed: \(error)", element)
        }
    }

    private func expression(_ text: String, _ element: SourceElement) throws -> ExpressionNode {
        do {
            return try PredicateParser.parseExpression(text)
        } catch {
            throw self.error(.invalidPredicate, "The expression '\(text)' cannot be parsed: \(error)", element)
        }
    }

    private func position(_ element: SourceElement) -> ModelPosition {
        ModelPosition(file: file, line: element.line)
    }

    private func error(_ code: ModelError.Code, _ message: String, _ element: SourceElement) -> ModelError {
        let isEntity = element.name == "entity"
        let isProperty = ["attribute", "relationship", "fetchedProperty"].contains(element.name)
        return ModelError(
            code, message, file: file, line: element.line, entity: isEntity ? element.attributes["name"] : nil,
            property: isProperty ? element.attributes["name"] : nil)
    }
}

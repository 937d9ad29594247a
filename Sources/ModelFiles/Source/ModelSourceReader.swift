import Foundation
import KeyedArchives
import PredicateLanguage

/// Reads the XML that Xcode's model editor writes: the file `contents` of an `.xcdatamodel`.
public struct ModelSourceReader {
    let file: String?

    /// Reads a source model. `file` is the path for errors and positions.
    ///
    /// Throws ``ModelError`` with file and line when the XML is malformed or contains an invalid value. Of several invalid
    /// values the error is the first, and contains the others. Errors that concern several parts of the model, such as
    /// unknown names, are found by ``Model/validate()``.
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
        var mistakes = SourceMistakes()
        for child in root.children {
            try mistakes.noting {
                switch child.name {
                case "entity": model.entities.append(try entity(child))
                case "composite": model.composites.append(try composite(child))
                case "configuration": model.configurations.append(try configuration(child))
                case "fetchRequest": model.fetchRequestTemplates.append(try fetchRequestTemplate(child))
                case "elements": model.source.diagram = child.children(named: "element").map(diagramElement)
                default: break
                }
            }
        }
        try mistakes.report()
        model.source.unknownAttributes = unknownAttributes(root.children)
        let identifier = root["userDefinedModelVersionIdentifier"]
        model.versionIdentifiers = identifier.map { [$0] } ?? []
        model.source.attributes = root.attributes.filter { $0.key != "userDefinedModelVersionIdentifier" }
        try model.resolveComposites(file: file)
        return model
    }

    /// The attributes of entities and properties that reading them did not ask for.
    private func unknownAttributes(_ elements: [SourceElement], of entity: String? = nil) -> [ModelError] {
        elements.flatMap { element -> [ModelError] in
            if element.name == "composite" { return unknownAttributes(element.children) }
            guard ["entity", "attribute", "relationship", "fetchedProperty"].contains(element.name) else { return [] }
            let own = element.unreadNames.subtracting(Self.informativeNames).sorted().map { name in
                var warning = error(
                    .unknownAttribute, "The XML attribute '\(name)' is unknown and has no effect.", element)
                if warning.entity == nil { warning.entity = entity }
                return warning
            }
            return own + unknownAttributes(element.children, of: element.name == "entity" ? element["name"] : nil)
        }
    }

    /// What the editor writes for a derived attribute beside its expression.
    private static let informativeNames: Set<String> = ["derived"]

    func entity(_ element: SourceElement) throws -> ModelEntity {
        var entity = ModelEntity(name: try required("name", element))
        entity.className = element["representedClassName"]
        entity.isAbstract = try flag("isAbstract", element)
        entity.parentName = element["parentEntity"]
        entity.renamingIdentifier = renamingIdentifier(element, name: entity.name)
        entity.versionHashModifier = element["versionHashModifier"]
        entity.isSyncable = try optionalFlag("syncable", element)
        let displayNames = ["coreSpotlightDisplayNameExpression", "spotlightDisplayNameExpression"].map { element[$0] }
        entity.spotlightDisplayNameExpression = displayNames[0] ?? displayNames[1]
        if let kind = element["codeGenerationType"] {
            guard let generation = ModelCodeGeneration(rawValue: kind) else {
                throw error(.invalidValue, "The code generation '\(kind)' is unknown.", element)
            }
            entity.codeGeneration = generation
        }
        entity.position = position(element)
        var mistakes = SourceMistakes()
        for child in element.children {
            try mistakes.noting(in: entity.name) {
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
        }
        try mistakes.report()
        return entity
    }

    func composite(_ element: SourceElement) throws -> ModelComposite {
        var composite = ModelComposite(name: try required("name", element), elements: [])
        var mistakes = SourceMistakes()
        for child in element.children(named: "attribute") {
            try mistakes.noting { composite.elements.append(try attribute(child)) }
        }
        try mistakes.report()
        return composite
    }

    private func configuration(_ element: SourceElement) throws -> ModelConfiguration {
        ModelConfiguration(
            name: try required("name", element),
            entityNames: try element.children(named: "memberEntity").map { try required("name", $0) }.sorted(),
            usesCloudKit: try optionalFlag("usedWithCloudKit", element))
    }

    private func diagramElement(_ element: SourceElement) -> ModelDiagramElement {
        func text(_ name: String) -> String { element[name] ?? "0" }
        return ModelDiagramElement(
            entityName: element["name"] ?? "", positionX: text("positionX"), positionY: text("positionY"),
            width: text("width"), height: text("height"))
    }
}

/// The errors of a source's elements. Reading goes on with the next element, so that one build shows all of them.
private struct SourceMistakes {
    private var found: [ModelError] = []

    /// Calls a function, and notes the error that it throws with those that the error contains. They are of the entity with a name,
    /// unless they state another.
    mutating func noting(in entity: String? = nil, _ read: () throws -> Void) throws {
        do {
            try read()
        } catch let error as ModelError {
            for var mistake in error.all {
                if mistake.entity == nil { mistake.entity = entity }
                found.append(mistake)
            }
        }
    }

    /// Throws the first error, which contains the others, if there is one.
    func report() throws {
        guard var first = found.first else { return }
        first.others = Array(found.dropFirst())
        throw first
    }
}

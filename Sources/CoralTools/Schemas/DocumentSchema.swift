import Coral
import GraphDocuments

/// The JSON Schema of the documents of a model's objects: for editors that validate during typing, and for programs
/// that read or write documents without this library.
///
///     let schema = DocumentSchema(model, layout: .flat)
///     try schema.data().write(to: url)
///
/// The schema (draft 2020-12) accepts every document that the exporter writes in that layout: names, types, ranges of
/// integers, destinations of relationships, with the model's default values. Limits and patterns of values are checked
/// by the importer, which also accepts more than the schema: numbers in strings, dates of other formats.
public struct DocumentSchema {
    /// The model whose documents are described.
    public let model: NSManagedObjectModel
    /// The layout of the documents: flat, nested, or lines, of which the schema describes one.
    public let layout: DocumentLayout

    /// Creates the schema of a model's documents. Throws `DocumentError` for the plain layout, which depends on a
    /// mapping.
    public init(_ model: NSManagedObjectModel, layout: DocumentLayout = .flat) throws {
        guard layout != .plain else {
            throw DocumentError(.unsupported, "The plain layout depends on a mapping and has no schema.")
        }
        self.model = model
        self.layout = layout
    }

    /// The schema as JSON. The same model gives the same bytes.
    public func data() throws -> Data {
        try JSONSerialization.data(
            withJSONObject: document, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    }

    private typealias JSON = [String: Any]

    private var entities: [NSEntityDescription] {
        model.entities.filter { !$0.isAbstract }.sorted { ($0.name ?? "") < ($1.name ?? "") }
    }

    private static func reference(_ name: String) -> JSON { ["$ref": "#/$defs/\(name)"] }

    private var document: JSON {
        var schema: JSON = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Graph document, \(layout.rawValue)",
            "$defs": definitions,
        ]
        let records = entities.map { Self.reference($0.name ?? "") }
        switch layout {
        case .lines:
            schema["oneOf"] =
                [
                    [
                        "type": "object", "properties": ["$header": Self.reference("$header")],
                        "required": ["$header"], "additionalProperties": false,
                    ] as JSON,
                    [
                        "type": "object", "properties": ["$end": ["type": "integer", "minimum": 0] as JSON],
                        "required": ["$end"], "additionalProperties": false,
                    ] as JSON,
                ] + records
        case .nested:
            schema["type"] = "object"
            schema["properties"] =
                [
                    "$header": Self.reference("$header"),
                    "$objects": ["type": "array", "items": ["oneOf": records]] as JSON,
                ] as JSON
            schema["required"] = ["$header", "$objects"]
            schema["additionalProperties"] = false
        case .flat, .plain:
            var properties: JSON = ["$header": Self.reference("$header")]
            for entity in entities {
                let name = entity.name ?? ""
                properties[name] = ["type": "array", "items": Self.reference(name)] as JSON
            }
            schema["type"] = "object"
            schema["properties"] = properties
            schema["required"] = ["$header"]
            schema["additionalProperties"] = false
        }
        return schema
    }

    private var definitions: JSON {
        var definitions: JSON = [
            "$header": [
                "type": "object", "required": ["format", "version", "layout", "ids"],
                "properties": [
                    "format": ["const": DocumentHeader.formatName],
                    "version": ["type": "integer", "minimum": 1, "maximum": DocumentHeader.currentVersion] as JSON,
                    "layout": ["const": layout.rawValue],
                    "ids": ["enum": IDScheme.allCases.map(\.rawValue).sorted()],
                    "store": ["type": "string"], "roots": ["type": "array"],
                    "modelIdentifiers": ["type": "array"],
                    "shape": ["type": "string"], "end": ["type": "boolean"],
                    "entityHashes": ["type": "object"], "metadata": ["type": "object"],
                ] as JSON,
            ] as JSON,
            // Ids may have any form that does not begin with a dollar sign.
            "$id": ["type": "string", "pattern": "^[^$]"],
        ]
        for entity in entities { definitions[entity.name ?? ""] = record(entity) }
        return definitions
    }

    // MARK: - Records

    private func record(_ entity: NSEntityDescription) -> JSON {
        var properties: JSON = ["$id": Self.reference("$id"), "$deleted": ["const": true]]
        var required = ["$id"]
        if layout != .flat {
            properties["$entity"] = ["const": entity.name ?? ""]
            required.append("$entity")
        }
        for (name, attribute) in entity.attributesByName {
            properties[name] = AttributeSchema(attribute).json
        }
        for (name, relationship) in entity.relationshipsByName { properties[name] = self.relationship(relationship) }
        return ["type": "object", "properties": properties, "required": required, "additionalProperties": false]
    }

    private func relationship(_ relationship: NSRelationshipDescription) -> JSON {
        var target = Self.reference("$id")
        if layout == .nested {
            let inside = kinds(of: relationship.destinationEntity).map { Self.reference($0) }
            let reference: JSON = [
                "type": "object", "properties": ["$ref": Self.reference("$id")], "required": ["$ref"],
                "additionalProperties": false,
            ]
            target = ["oneOf": [reference] + inside]
        }
        guard relationship.isToMany else { return ["anyOf": [target, ["type": "null"]]] }
        var list: JSON = ["type": ["array", "null"], "items": target]
        if relationship.maxCount > 1 { list["maxItems"] = relationship.maxCount }
        return list
    }

    /// The entity and those that inherit from it, without abstract ones, sorted by name.
    private func kinds(of entity: NSEntityDescription?) -> [String] {
        var names: [String] = []
        var pending = [entity].compactMap { $0 }
        while let next = pending.popLast() {
            if !next.isAbstract { names.append(next.name ?? "") }
            pending += next.subentities
        }
        return names.sorted()
    }
}

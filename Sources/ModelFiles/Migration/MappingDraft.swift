import Foundation
import KeyedArchives
import PredicateLanguage

/// A mapping model between two versions where the mapping cannot be inferred: what can be computed is, and what only the app knows is
/// listed as a decision.
package struct MappingDraft: Sendable {
    /// A property whose values the mapping model cannot decide on.
    package struct Decision: Sendable, Equatable {
        package let entity: String
        package let property: String
        /// What the mapping does now, and what is to be decided, as a sentence.
        package let text: String
    }

    /// The mapping in the form of Xcode's editor.
    package let mapping: MappingSource
    package let decisions: [Decision]

    /// A mapping from one version to another.
    ///
    /// - Parameters:
    ///   - paths: The locations of both models, relative to the folder of the mapping model.
    package init(from old: Model, to new: Model, paths: (source: String, destination: String)) {
        let inferred = InferredMapping(from: old, to: new)
        let (before, after) = (ModelInheritance(old), ModelInheritance(new))
        var entities: [MappingSource.Entity] = []
        var decisions: [Decision] = []
        for entity in inferred.entities {
            // Objects of new entities are made by the app, those of removed ones are left out.
            guard let source = entity.sourceName, let destination = entity.destinationName,
                after.entities[destination]?.isAbstract == false, before.entities[source]?.isAbstract == false
            else { continue }
            var properties = PropertyDrafts(
                entity: entity, before: before, after: after, obstacles: inferred.obstacles, source: source,
                destination: destination)
            properties.add()
            for decision in properties.decisions where !decisions.contains(decision) { decisions.append(decision) }
            entities.append(
                MappingSource.Entity(
                    name: nil, number: entities.count + 1, sourceName: source, destinationName: destination,
                    policyClassName: nil, attributes: properties.attributes, relationships: properties.relationships))
        }
        mapping = MappingSource(
            entities: entities, source: .init(path: paths.source), destination: .init(path: paths.destination))
        self.decisions = decisions
    }

    /// Writes the mapping model, an `.xcmappingmodel`.
    ///
    /// - Throws: ``ModelError`` if it cannot be written.
    package func write(to url: URL) throws {
        let text = MappingSourceWriter(mapping).text
        try ModelReplacement.write(to: url) { url in
            do {
                try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            } catch {
                throw ModelError(.unreadableFile, "The directory cannot be created.", file: url.path)
            }
            try ModelFile.write(Data(text.utf8), to: url.appendingPathComponent("xcmapping.xml"))
        }
    }
}

/// The mappings of the properties of an entity.
private struct PropertyDrafts {
    let entity: InferredMapping.Entity
    let before: ModelInheritance
    let after: ModelInheritance
    let obstacles: [InferredMapping.Obstacle]
    let source: String
    let destination: String
    private(set) var attributes: [MappingSource.Property] = []
    private(set) var relationships: [MappingSource.Property] = []
    private(set) var decisions: [MappingDraft.Decision] = []

    init(
        entity: InferredMapping.Entity, before: ModelInheritance, after: ModelInheritance,
        obstacles: [InferredMapping.Obstacle], source: String, destination: String
    ) {
        (self.entity, self.before, self.after, self.obstacles) = (entity, before, after, obstacles)
        (self.source, self.destination) = (source, destination)
    }

    mutating func add() {
        let old = Dictionary(before.attributes(of: source).map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        for attribute in after.attributes(of: destination) where !attribute.isTransient && !attribute.isReadOnly {
            let name = entity.attributes.first { $0.name == attribute.name }?.sourceName
            add(attribute, from: name.flatMap { old[$0] })
        }
        for relationship in after.relationships(of: destination) where !relationship.isTransient {
            let name = entity.relationships.first { $0.name == relationship.name }?.sourceName
            add(relationship, from: name)
        }
        attributes.sort { $0.name < $1.name }
        relationships.sort { $0.name < $1.name }
    }

    /// The entity for which the obstacle of a property is listed: the one that declares it. Nil if there is none.
    private func obstacle(of property: String) -> InferredMapping.Obstacle? {
        let owners = after.lineage(of: destination).map(\.name)
        return obstacles.first { $0.property == property && owners.contains($0.entity) }
    }

    // MARK: - Attributes

    private mutating func add(_ attribute: ModelAttribute, from origin: ModelAttribute?) {
        let obstacle = obstacle(of: attribute.name)
        var expression: ExpressionNode?
        if let origin, origin.type == attribute.type || Self.areNumbers(origin.type, attribute.type) {
            // A property with the same name gets the value of the source without an expression.
            if origin.name != attribute.name { expression = Self.sourceValue(origin.name) }
            if let obstacle {
                let reason =
                    origin.type == attribute.type
                    ? "Objects without a value make the migration fail: give them one."
                    : "Values that are too large make the migration fail, and fractions are cut off."
                decide(obstacle, "It takes the value of \(origin.name). \(reason)")
            } else if origin.isOptional, !attribute.isOptional, let value = attribute.defaultValue?.foundationValue {
                // An inferred mapping gives the default value to objects without one. Of a conditional expression no archive by
                // Xcode is known, so that it cannot be written here.
                let text = ExpressionNode.constant(value: value).predicateFormat
                let expression = "TERNARY($source.\(origin.name) == nil, \(text), $source.\(origin.name))"
                decisions.append(
                    MappingDraft.Decision(
                        entity: destination, property: attribute.name,
                        text:
                            "It takes the value of \(origin.name), and objects without one make the migration fail. For its "
                            + "default value enter the value expression \(expression)."))
            }
        } else if let obstacle {
            if let origin, let type = Self.castType(from: origin.type, to: attribute.type) {
                expression = .function(
                    "castObject:toType:", arguments: [Self.sourceValue(origin.name), .constant(value: type)])
                decide(
                    obstacle,
                    "It takes the value of \(origin.name), converted by CAST. Check values that are no \(attribute.type)."
                )
            } else if !attribute.isOptional, attribute.defaultValue == nil, let value = Self.neutral(attribute.type) {
                expression = .constant(value: value)
                decide(obstacle, "All objects get \(expression?.predicateFormat ?? ""). Decide on their values.")
            } else {
                // The value of the source would not be accepted.
                if origin?.name == attribute.name { expression = .constant(value: nil) }
                decide(obstacle, "No object gets a value. Decide on their values.")
            }
        }
        attributes.append(property(attribute.name, expression))
    }

    private mutating func decide(_ obstacle: InferredMapping.Obstacle, _ text: String) {
        decisions.append(
            MappingDraft.Decision(entity: obstacle.entity, property: obstacle.property ?? "", text: text))
    }

    private func property(_ name: String, _ expression: ExpressionNode?) -> MappingSource.Property {
        MappingSource.Property(
            name: name, expression: expression.flatMap { try? MappingSourceWriter.archive(of: $0) },
            sourceKeyPath: nil, sourceMappingName: nil)
    }

    private static func sourceValue(_ name: String) -> ExpressionNode {
        .keyPath(base: .variable("source"), keys: [name])
    }

    private static let numbers: Set<ModelAttributeType> = [
        .integer16, .integer32, .integer64, .double, .float, .boolean,
    ]

    /// Whether values of both types are numbers of the same class, so that one is set as the other.
    private static func areNumbers(_ one: ModelAttributeType, _ other: ModelAttributeType) -> Bool {
        numbers.contains(one) && numbers.contains(other)
    }

    /// The type of CAST that converts values of a type into those of another.
    private static func castType(from old: ModelAttributeType, to new: ModelAttributeType) -> String? {
        switch (old, new) {
        case (.string, _) where numbers.contains(new), (.date, .double), (.date, .float): "NSNumber"
        case (_, .string) where numbers.contains(old) || old == .decimal: "NSString"
        case (.double, .date), (.float, .date): "NSDate"
        default: nil
        }
    }

    /// A value of a type for objects that must have one.
    private static func neutral(_ type: ModelAttributeType) -> Any? {
        switch type {
        case .integer16, .integer32, .integer64: 0
        case .double, .float: 0.0
        case .decimal: Decimal(0)
        case .boolean: false
        case .string: ""
        case .date: Date(timeIntervalSinceReferenceDate: 0)
        case .binaryData: Data()
        default: nil
        }
    }

    // MARK: - Relationships

    private mutating func add(_ relationship: ModelRelationship, from name: String?) {
        if let obstacle = obstacle(of: relationship.name) {
            decide(obstacle, "It stays empty. Decide which objects it refers to.")
            // Without an expression a property with the same name would get the objects of the source.
            return relationships.append(property(relationship.name, .constant(value: nil)))
        }
        guard let name, name != relationship.name else {
            return relationships.append(property(relationship.name, nil))
        }
        relationships.append(
            property(
                relationship.name,
                .call(
                    receiver: .variable("manager"),
                    selector: "destinationInstancesForSourceRelationshipNamed:sourceInstances:",
                    arguments: [.constant(value: name), Self.sourceValue(name)])))
    }
}

extension MappingSource {
    init(entities: [Entity], source: ModelLocation, destination: ModelLocation) {
        (self.entities, self.source, self.destination) = (entities, source, destination)
        url = URL(fileURLWithPath: "/")
    }
}

/// Writes a mapping model in the form of Xcode's editor, a Core Data XML store. The names are those in files that Xcode has written.
struct MappingSourceWriter {
    private(set) var text = ""
    /// The models of the editor's objects: the version hashes in each file that it has written.
    private static let hashes = [
        ("XDDevAttributeMapping", "0plcXXRN7XHKl5CcF+fwriFmUpON3ZtcI/AfK748aWc="),
        ("XDDevEntityMapping", "qeN1Ym3TkWN1G6dU9RfX6Kd2ccEvcDVWHpd3LpLgboI="),
        ("XDDevMappingModel", "EqtMzvRnVZWkXwBHu4VeVGy8UyoOe+bi67KC79kphlQ="),
        ("XDDevPropertyMapping", "XN33V44TTGY4JETlMoOB5yyTKxB+u4slvDIinv0rtGA="),
        ("XDDevRelationshipMapping", "akYY9LhehVA/mCb4ATLWuI9XGLcjpm14wWL1oEBtIcs="),
    ]
    private static let modelID = "z101"
    private var lastID = 101

    init(_ mapping: MappingSource) {
        var objects = ""
        var entityIDs: [String] = []
        for entity in mapping.entities {
            let id = nextID()
            entityIDs.append(id)
            let attributes = entity.attributes.map { property($0, "ATTRIBUTE", of: id, to: &objects) }
            let relationships = entity.relationships.map { property($0, "RELATIONSHIP", of: id, to: &objects) }
            objects += Self.object(
                "ENTITY", id,
                [
                    ("sourcename", "string", entity.sourceName), ("mappingtypename", "string", "Undefined"),
                    ("mappingnumber", "int16", "\(entity.number)"),
                    ("destinationname", "string", entity.destinationName), ("autogenerateexpression", "bool", "1"),
                ],
                [
                    ("mappingmodel", "1/1", "MODEL", [Self.modelID]),
                    ("attributemappings", "0/0", "ATTRIBUTE", attributes),
                    ("relationshipmappings", "0/0", "RELATIONSHIP", relationships),
                ])
        }
        let model = Self.object(
            "MODEL", Self.modelID,
            [
                ("sourcemodelpath", "string", mapping.source.path),
                ("destinationmodelpath", "string", mapping.destination.path),
            ], [("entitymappings", "0/0", "ENTITY", entityIDs)])
        let hashes = Self.hashes.map {
            "                        <key>\($0)</key>\n                        <data>\($1)</data>\n"
        }
        text = """
            <?xml version="1.0" standalone="yes"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

            <database>
                <databaseInfo>
                    <version>134481920</version>
                    <UUID>\(UUID().uuidString)</UUID>
                    <nextObjectID>\(lastID + 1)</nextObjectID>
                    <metadata>
                        <plist version="1.0">
                            <dict>
                                <key>NSStoreModelVersionHashes</key>
                                <dict>
            \(hashes.joined())                    </dict>
                                <key>NSStoreModelVersionHashesVersion</key>
                                <integer>3</integer>
                                <key>NSStoreModelVersionIdentifiers</key>
                                <array>
                                    <string></string>
                                </array>
                            </dict>
                        </plist>
                    </metadata>
                </databaseInfo>
            \(model)\(objects)</database>

            """
    }

    private mutating func nextID() -> String {
        lastID += 1
        return "z\(lastID)"
    }

    /// Adds the mapping of a property. Returns its ID.
    private mutating func property(
        _ property: MappingSource.Property, _ kind: String, of entity: String, to objects: inout String
    ) -> String {
        let id = nextID()
        objects += Self.object(
            kind, id,
            [
                ("valueexpressiondata", "binary", property.expression?.base64EncodedString()),
                ("name", "string", property.name),
            ], [("entitymapping", "1/1", "ENTITY", [entity])])
        return id
    }

    private static func object(
        _ kind: String, _ id: String, _ attributes: [(name: String, kind: String, value: String?)],
        _ relationships: [(name: String, type: String, kind: String, ids: [String])]
    ) -> String {
        var text = "    <object type=\"\(type(kind))\" id=\"\(id)\">\n"
        for case (let name, let type, let value?) in attributes {
            text += "        <attribute name=\"\(name)\" type=\"\(type)\">\(escaped(value))</attribute>\n"
        }
        for (name, type, kind, ids) in relationships {
            let list = ids.isEmpty ? "" : " idrefs=\"\(ids.joined(separator: " "))\""
            text +=
                "        <relationship name=\"\(name)\" type=\"\(type)\" destination=\"\(Self.type(kind))\"\(list)></relationship>\n"
        }
        return text + "    </object>\n"
    }

    /// The entity of an object of the editor.
    private static func type(_ kind: String) -> String {
        kind == "MODEL" ? "XDDEVMAPPINGMODEL" : "XDDEV\(kind)MAPPING"
    }

    private static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;", options: .literal)
            .replacingOccurrences(of: "<", with: "&lt;", options: .literal)
            .replacingOccurrences(of: ">", with: "&gt;", options: .literal)
    }

    /// The archive of an expression that was entered in the editor.
    ///
    /// - Throws: ``ModelError`` for an expression that has no archived form.
    static func archive(of expression: ExpressionNode) throws -> Data {
        var builder = KeyedArchiveBuilder()
        let root = try builder.add(expression: expression)
        return try builder.archive(root: root)
    }
}

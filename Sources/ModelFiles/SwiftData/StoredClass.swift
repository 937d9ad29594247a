/// A class of SwiftData as values: what its metadata states in a program, and its declaration in a source.
package struct StoredClass: Sendable {
    /// The name of the entity.
    package let name: String
    package var superclassName: String?
    /// The properties that the class itself declares, in the order of the source.
    package var properties: [StoredProperty] = []
    /// The groups of `#Unique`.
    package var constraints: [[String]] = []
    /// The groups of `#Index`.
    package var indexes: [[String]] = []
    /// The groups of `#Index` that are R-trees.
    package var treeIndexes: [[String]] = []
    package var position = ModelPosition()

    package init(name: String, superclassName: String? = nil) {
        (self.name, self.superclassName) = (name, superclassName)
    }
}

/// A persisted property of a class.
package struct StoredProperty: Sendable {
    package enum Content: Sendable {
        case attribute(StoredAttribute)
        case relationship(StoredRelationship)
    }

    package let name: String
    package let isOptional: Bool
    package var originalName: String?
    package var hashModifier: String?
    package var content: Content
    package var position = ModelPosition()

    package init(name: String, isOptional: Bool, content: Content) {
        (self.name, self.isOptional, self.content) = (name, isOptional, content)
    }
}

package struct StoredAttribute: Sendable {
    package let form: StoredForm
    /// The type as Swift prints it, without `Optional`.
    package let typeName: String
    package var options: Set<StoredOption> = []
    package var defaultValue: ModelValue?

    package init(form: StoredForm, typeName: String) { (self.form, self.typeName) = (form, typeName) }
}

/// The options of `@Attribute` without values. The raw values are the names in Swift.
package enum StoredOption: String, Sendable, CaseIterable {
    case unique, externalStorage, ephemeral, spotlight, allowsCloudEncryption, preserveValueOnDeletion, codable
}

package struct StoredRelationship: Sendable {
    package let destination: String
    package let isToMany: Bool
    /// Whether the property has the macro `@Relationship`.
    package var isStated = false
    /// The property of the destination that the macro states as inverse.
    package var inverse: String?
    package var deleteRule = ModelDeleteRule.nullify
    package var minimumCount = 0
    package var maximumCount = 0

    package init(destination: String, isToMany: Bool) {
        (self.destination, self.isToMany) = (destination, isToMany)
    }
}

/// The parts of one end of a relationship on which its inverse depends.
package struct RelationshipEnd: Sendable, Equatable {
    package let name: String
    package let destination: String
    package let isStated: Bool
    package let inverse: String?

    package init(name: String, destination: String, isStated: Bool, inverse: String?) {
        (self.name, self.destination, self.isStated, self.inverse) = (name, destination, isStated, inverse)
    }

    /// The name of the inverse: the stated one, or else the only possible one. It is inferred if neither end has the macro and the
    /// pair is the only one between the two classes.
    ///
    /// - Parameters:
    ///   - owner: The name of the class of this end.
    ///   - own: The relationships of that class, inherited ones included.
    ///   - others: The relationships of the destination, inherited ones included.
    ///   - isKind: Whether the class with the first name is the second or inherits from it.
    package func inverse(
        in owner: String, own: [RelationshipEnd], others: [RelationshipEnd], isKind: (String, String) -> Bool
    ) -> String? {
        if let inverse { return inverse }
        let back = others.filter { isKind(owner, $0.destination) }
        if let stated = back.first(where: { $0.inverse == name }) { return stated.name }
        guard !isStated else { return nil }
        let forward = own.filter { isKind(destination, $0.destination) || isKind($0.destination, destination) }
        guard forward.count == 1, back.count == 1, let only = back.first, !only.isStated,
            only != self || owner != destination
        else { return nil }
        return only.name
    }
}

extension Model {
    /// The model that SwiftData makes of classes.
    ///
    /// - Parameters:
    ///   - classes: The classes, and all that they inherit from or refer to.
    ///   - version: The version of the schema, such as `1.0.0`.
    /// - Throws: ``ModelError`` if a class has no unique name, or refers to a class or property that is not among them.
    package init(storing classes: [StoredClass], version: String) throws {
        let byName = Dictionary(classes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        if byName.count != classes.count {
            var seen: Set<String> = []
            for each in classes where !seen.insert(each.name).inserted {
                throw ModelError(
                    .duplicateName, "Several classes have the entity name \(each.name).", file: each.position.file,
                    line: each.position.line, entity: each.name)
            }
        }
        let graph = StoredClassGraph(byName: byName)
        self.init(entities: try classes.sorted { $0.name < $1.name }.map { try ModelEntity($0, in: graph) })
        configurations = [ModelConfiguration(name: "default", entityNames: entities.map(\.name))]
        versionIdentifiers = [version]
        for index in entities.indices { try connectInverses(of: index, graph) }
    }

    /// Sets the inverses of an entity's relationships. A stated inverse is set on the other end too.
    private mutating func connectInverses(of index: Int, _ graph: StoredClassGraph) throws {
        let owner = entities[index].name
        guard let stored = graph.byName[owner] else { return }
        for position in entities[index].relationships.indices {
            let relationship = entities[index].relationships[position]
            guard let destination = relationship.destinationName,
                let end = stored.ends.first(where: { $0.name == relationship.name })
            else { continue }
            let others = graph.ends(of: destination)
            let inverse = end.inverse(
                in: owner, own: graph.ends(of: owner), others: others, isKind: graph.isKind)
            if let inverse, !others.contains(where: { $0.name == inverse }) {
                throw ModelError(
                    .unknownProperty, "\(destination) has no relationship \(inverse).",
                    file: relationship.position.file, line: relationship.position.line, entity: owner,
                    property: relationship.name)
            }
            entities[index].relationships[position].inverseName = inverse
        }
    }
}

extension StoredClass {
    /// The relationships that the class itself declares.
    fileprivate var ends: [RelationshipEnd] {
        properties.compactMap { property in
            guard case .relationship(let relationship) = property.content else { return nil }
            return RelationshipEnd(
                name: property.name, destination: relationship.destination, isStated: relationship.isStated,
                inverse: relationship.inverse)
        }
    }
}

/// Classes with their superclasses.
private struct StoredClassGraph {
    let byName: [String: StoredClass]

    /// A class and its superclasses. A cycle ends.
    func lineage(of name: String) -> [StoredClass] {
        var found: [StoredClass] = []
        var next: String? = name
        while let current = next, let stored = byName[current], !found.contains(where: { $0.name == current }) {
            found.append(stored)
            next = stored.superclassName
        }
        return found
    }

    func ends(of name: String) -> [RelationshipEnd] { lineage(of: name).reversed().flatMap(\.ends) }

    func isKind(_ name: String, _ other: String) -> Bool { lineage(of: name).contains { $0.name == other } }
}

extension ModelEntity {
    fileprivate init(_ stored: StoredClass, in graph: StoredClassGraph) throws {
        self.init(name: stored.name, parentName: stored.superclassName)
        renamingIdentifier = stored.name
        position = stored.position
        if let parent = stored.superclassName, graph.byName[parent] == nil {
            throw ModelError(
                .unknownEntity, "The superclass \(parent) is not in the schema.", file: position.file,
                line: position.line, entity: name)
        }
        for property in stored.properties {
            switch property.content {
            case .attribute(let attribute):
                attributes.append(ModelAttribute(property, attribute))
                if attribute.options.contains(.unique) { uniquenessConstraints.append([property.name]) }
            case .relationship(let relationship):
                guard graph.byName[relationship.destination] != nil else {
                    throw ModelError(
                        .unknownEntity, "It leads to \(relationship.destination), which is not in the schema.",
                        file: property.position.file, line: property.position.line, entity: name,
                        property: property.name)
                }
                relationships.append(ModelRelationship(property, relationship))
            }
        }
        for group in stored.constraints where !uniquenessConstraints.contains(group) {
            uniquenessConstraints.append(group)
        }
        let names = Set(graph.lineage(of: name).flatMap(\.properties).map(\.name))
        for property in (stored.constraints + stored.indexes + stored.treeIndexes).joined()
        where !names.contains(property) {
            throw ModelError(
                .unknownProperty, "\(property) is not a persisted property of \(name).", file: position.file,
                line: position.line, entity: name, property: property)
        }
        addIndexes(stored)
    }

    private mutating func addIndexes(_ stored: StoredClass) {
        func index(_ group: [String], _ kind: String, _ collation: ModelFetchIndexElement.Collation) -> ModelFetchIndex
        {
            ModelFetchIndex(
                name: "SwiftDataIndexOn\(kind)\(group.joined())",
                elements: group.map { ModelFetchIndexElement(.property($0), collation: collation) })
        }
        fetchIndexes =
            stored.indexes.map { index($0, "Binary", .binary) } + stored.treeIndexes.map { index($0, "Rtree", .rTree) }
        compoundIndexes = stored.indexes.filter { $0.count > 1 }
        let indexed = Set(stored.indexes.joined())
        for index in attributes.indices where indexed.contains(attributes[index].name) {
            attributes[index].isIndexed = true
        }
        for index in relationships.indices where indexed.contains(relationships[index].name) {
            relationships[index].isIndexed = true
        }
    }
}

extension ModelAttribute {
    fileprivate init(_ property: StoredProperty, _ stored: StoredAttribute) {
        self.init(
            name: property.name, form: stored.form, typeName: stored.typeName, isOptional: property.isOptional)
        renamingIdentifier = property.originalName ?? property.name
        versionHashModifier = property.hashModifier
        position = property.position
        defaultValue = stored.defaultValue
        isTransient = stored.options.contains(.ephemeral)
        isIndexedBySpotlight = stored.options.contains(.spotlight)
        allowsExternalBinaryDataStorage = stored.options.contains(.externalStorage)
        allowsCloudEncryption = stored.options.contains(.allowsCloudEncryption)
        preservesValueInHistoryOnDeletion = stored.options.contains(.preserveValueOnDeletion)
    }
}

extension ModelRelationship {
    fileprivate init(_ property: StoredProperty, _ stored: StoredRelationship) {
        self.init(
            name: property.name, destinationName: stored.destination, minimumCount: stored.minimumCount,
            maximumCount: stored.isToMany ? stored.maximumCount : 1, deleteRule: stored.deleteRule,
            isOptional: property.isOptional)
        renamingIdentifier = property.originalName ?? property.name
        versionHashModifier = property.hashModifier
        position = property.position
    }
}

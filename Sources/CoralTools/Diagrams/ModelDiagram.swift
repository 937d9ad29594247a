import Coral
import GraphDocuments

// Model diagrams.
//
// `ModelDiagram` (in `CoralTools/Diagrams`) represents a model as boxes and lines. The layout has four steps, each in
// its own file and independent of models: `GraphLayering` assigns boxes to columns, reversing the lines of cycles;
// `GraphOrdering` orders the columns, including the positions where lines pass between boxes; `GraphPlacement` moves
// items up and down so that lines are nearly level; `GraphLayout` arranges connected components side by side. So no
// line can cross a box. `ModelDifference` and `Model.warnings()` are in `ModelFiles`. `ModelConversion` writes a model
// in another form, reads the result and compares the two.

/// A model as boxes and lines, to be drawn or written as text.
///
///     let diagram = ModelDiagram(model)
///     try diagram.svg().write(to: url, atomically: true, encoding: .utf8)
///
/// An entity is a box with its own properties; inherited ones are in its parent's box. A relationship and its inverse
/// are one line. The same model gives the same diagram.
public struct ModelDiagram: Sendable, Hashable {
    /// An entity.
    public struct Box: Sendable, Hashable {
        /// The entity's name.
        public var name: String
        /// The name of the parent entity, if it is in the diagram.
        public var parent: String?
        /// Whether the entity is abstract.
        public var isAbstract: Bool
        /// The attributes that the entity declares itself.
        public var attributes: [Attribute]
        /// The relationships that the entity declares itself.
        public var relationships: [Relationship]
    }

    /// An attribute of a box.
    public struct Attribute: Sendable, Hashable {
        /// The attribute's name.
        public var name: String
        /// The type in Swift, with a question mark if the value is optional.
        public var type: String
        /// Whether the attribute is not stored.
        public var isTransient: Bool
        /// Whether the attribute is derived.
        public var isDerived: Bool
        /// Whether it is part of a uniqueness constraint.
        public var isUnique: Bool
    }

    /// A relationship of a box.
    public struct Relationship: Sendable, Hashable {
        /// The relationship's name.
        public var name: String
        /// The destination entity.
        public var destination: String
        /// Whether it is to-many.
        public var isToMany: Bool
        /// Whether it is optional.
        public var isOptional: Bool
        /// Whether it is ordered.
        public var isOrdered: Bool
    }

    /// A line between two boxes.
    public struct Line: Sendable, Hashable {
        /// The meaning of a line.
        public enum Kind: Sendable, Hashable {
            /// `from` is the parent of `to`.
            case inheritance
            /// A relationship of `from`, and its inverse, a relationship of `to`, if it has one.
            case relationship(Relationship, inverse: Relationship?)
        }

        /// The box where the line begins: the parent, or the owner of the relationship.
        public var from: String
        /// The box where the line ends.
        public var to: String
        /// The meaning of the line.
        public var kind: Kind
    }

    /// The boxes, sorted by name.
    public var boxes: [Box]
    /// The lines, sorted by their beginning and label.
    public var lines: [Line]

    /// Creates the diagram of a model.
    ///
    /// - Parameters:
    ///   - model: The model to draw.
    ///   - entities: The entities to show, with the entities that they are related to; nil for all.
    ///   - showsAttributes: Whether boxes list attributes besides relationships.
    public init(_ model: NSManagedObjectModel, entities: Set<String>? = nil, showsAttributes: Bool = true) {
        let all = model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        let shown = entities.map { Self.neighbourhood(of: $0, in: all) }
        let chosen = all.filter { shown?.contains($0.name ?? "") ?? true }
        let names = Set(chosen.compactMap(\.name))
        boxes = chosen.map { Box($0, among: names, showsAttributes: showsAttributes) }
        lines = chosen.flatMap { Self.lines(of: $0, among: names) }
            .sorted { ($0.from, $0.label, $0.to) < ($1.from, $1.label, $1.to) }
    }

    /// The names of the given entities, of their parents, and of the entities at the other end of relationships from or to
    /// them.
    private static func neighbourhood(of names: Set<String>, in entities: [NSEntityDescription]) -> Set<String> {
        var shown = names
        for entity in entities {
            let name = entity.name ?? ""
            if names.contains(name), let parent = entity.superentity?.name { shown.insert(parent) }
            if let parent = entity.superentity?.name, names.contains(parent) { shown.insert(name) }
            for relationship in entity.ownRelationships {
                guard let destination = relationship.destinationEntity?.name else { continue }
                if names.contains(name) { shown.insert(destination) }
                if names.contains(destination) { shown.insert(name) }
            }
        }
        return shown
    }
}

// MARK: - From a model

extension ModelDiagram.Box {
    fileprivate init(_ entity: NSEntityDescription, among names: Set<String>, showsAttributes: Bool) {
        name = entity.name ?? ""
        parent = entity.superentity?.name.flatMap { names.contains($0) ? $0 : nil }
        isAbstract = entity.isAbstract
        let unique = Set(entity.uniquenessConstraints.flatMap { $0.compactMap { $0 as? String } })
        let inherited = entity.superentity?.attributesByName ?? [:]
        attributes =
            showsAttributes
            ? entity.attributesByName.filter { inherited[$0.key] == nil }.sorted { $0.key < $1.key }
                .map { ModelDiagram.Attribute($0.value, isUnique: unique.contains($0.key)) } : []
        relationships = entity.ownRelationships.map(ModelDiagram.Relationship.init)
    }
}

extension ModelDiagram.Attribute {
    fileprivate init(_ attribute: NSAttributeDescription, isUnique: Bool) {
        name = attribute.name
        type = GraphSchema.Attribute(attribute).type.swiftName + (attribute.isOptional ? "?" : "")
        isTransient = attribute.isTransient
        isDerived = attribute is NSDerivedAttributeDescription
        self.isUnique = isUnique
    }
}

extension ModelDiagram.Relationship {
    fileprivate init(_ relationship: NSRelationshipDescription) {
        name = relationship.name
        destination = relationship.destinationEntity?.name ?? ""
        isToMany = relationship.isToMany
        isOptional = relationship.isOptional
        isOrdered = relationship.isOrdered
    }
}

extension ModelDiagram {
    /// The lines that start at an entity: to the entities that inherit from it, and its relationships if it is the
    /// owner.
    private static func lines(of entity: NSEntityDescription, among names: Set<String>) -> [Line] {
        let name = entity.name ?? ""
        var lines = entity.subentities.compactMap(\.name).filter(names.contains).map {
            Line(from: name, to: $0, kind: .inheritance)
        }
        for relationship in entity.ownRelationships where isOwner(relationship) {
            guard let destination = relationship.destinationEntity?.name, names.contains(destination) else { continue }
            // The line ends at the entity that declares the inverse, which may be an ancestor or a descendant of the
            // destination.
            let inverse = relationship.inverseRelationship
            let end = inverse?.declaringEntityName.flatMap { names.contains($0) ? $0 : nil } ?? destination
            lines.append(
                Line(
                    from: name, to: end,
                    kind: .relationship(Relationship(relationship), inverse: inverse.map(Relationship.init))))
        }
        return lines
    }

    /// Whether the line of a relationship and its inverse starts at this relationship: at the to-many side, else at the
    /// cascading side, else at the first by name.
    private static func isOwner(_ relationship: NSRelationshipDescription) -> Bool {
        guard let inverse = relationship.inverseRelationship else { return true }
        if relationship === inverse { return true }
        if relationship.isToMany != inverse.isToMany { return relationship.isToMany }
        let owns = relationship.deleteRule == .cascadeDeleteRule
        if owns != (inverse.deleteRule == .cascadeDeleteRule) { return owns }
        let here = (relationship.declaringEntityName ?? "", relationship.name)
        return here < (inverse.declaringEntityName ?? "", inverse.name)
    }
}

extension ModelDiagram.Line {
    /// The label of the line: the names of the relationship and its inverse.
    var label: String {
        guard case .relationship(let relationship, let inverse) = kind else { return "" }
        return relationship.name + (inverse.map { " / \($0.name)" } ?? "")
    }
}

extension NSEntityDescription {
    /// The relationships that the entity does not inherit, sorted by name.
    fileprivate var ownRelationships: [NSRelationshipDescription] {
        let inherited = superentity?.relationshipsByName ?? [:]
        return relationshipsByName.filter { inherited[$0.key] == nil }.sorted { $0.key < $1.key }.map(\.value)
    }
}

extension NSRelationshipDescription {
    /// The topmost entity that has the relationship.
    fileprivate var declaringEntityName: String? {
        var declaring: NSEntityDescription? = entity
        while let parent = declaring?.superentity, parent.relationshipsByName[name] != nil { declaring = parent }
        return declaring?.name
    }
}

extension GraphValueType {
    /// The type in generated classes.
    var swiftName: String {
        switch self {
        case .undefined: "Any"
        case .integer16: "Int16"
        case .integer32: "Int32"
        case .integer64: "Int64"
        case .decimal: "Decimal"
        case .double: "Double"
        case .float: "Float"
        case .string: "String"
        case .boolean: "Bool"
        case .date: "Date"
        case .binaryData: "Data"
        case .uuid: "UUID"
        case .uri: "URL"
        case .transformable: "Transformable"
        case .objectID: "ObjectID"
        case .composite: "Composite"
        }
    }
}

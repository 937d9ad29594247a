import Coral

/// The columns of a hierarchy of entities.
struct PlainColumns {
    private let root: NSEntityDescription
    private let hierarchy: [NSEntityDescription]
    private let style: PlainStyle
    /// The names of the tables, by their topmost entities.
    private let tables: [String: String]
    private var names: NameChoice
    private var columns: [PlainTable.Column] = []

    /// The table of a topmost entity.
    var table: PlainTable {
        PlainTable(name: tables[root.name ?? ""] ?? "", entity: root, columns: columns, unique: uniqueness)
    }

    /// - Parameter twoSided: To-one relationships that have a column in addition to that of their inverse. These columns are
    ///   the last, so that the others keep their names.
    init(
        of root: NSEntityDescription, tables: [String: String], _ style: PlainStyle,
        twoSided: [NSRelationshipDescription]
    ) {
        self.root = root
        self.tables = tables
        self.style = style
        hierarchy = PlainSchema.hierarchy(of: root)
        names = NameChoice(taken: [], separator: style.separator)
        // An attribute keeps its name; the key gets another one.
        let attributes = Set(hierarchy.flatMap { $0.attributesByName.keys.map { style.name($0).lowercased() } })
        let key = attributes.contains("id") ? style.name("object", "id") : "id"
        columns.append(PlainTable.Column(name: names.choose(key), content: .key, isRequired: true))
        if hierarchy.count > 1 {
            let name = attributes.contains("type") ? style.name("entity", "type") : "type"
            columns.append(PlainTable.Column(name: names.choose(name), content: .entity, isRequired: true))
        }
        for entity in hierarchy {
            addAttributes(of: entity)
            for relationship in PlainSchema.ownRelationships(of: entity) where PlainSchema.hasColumn(relationship) {
                addReference(relationship, isRequired: !relationship.isOptional && entity === root)
            }
        }
        for relationship in hierarchy.flatMap(PlainSchema.ownRelationships)
        where twoSided.contains(where: { $0 === relationship }) { addReference(relationship, isRequired: false) }
    }

    private static func names(of entity: NSEntityDescription) -> Set<String> {
        Set(PlainSchema.hierarchy(of: entity).map { $0.name ?? "" })
    }

    private mutating func addAttributes(of entity: NSEntityDescription) {
        let own = entity.attributesByName.sorted { $0.key < $1.key }.map(\.value).filter {
            !$0.isTransient && entity.superentity?.attributesByName[$0.name] == nil
        }
        for attribute in own {
            for (path, part) in Self.parts(of: GraphSchema.Attribute(attribute), [attribute.name]) {
                columns.append(
                    PlainTable.Column(
                        name: names.choose(style.name(path)), content: .attribute(path, part),
                        entities: Self.names(of: entity),
                        isRequired: !attribute.isOptional && entity === root && path.count == 1))
            }
        }
    }

    private mutating func addReference(_ relationship: NSRelationshipDescription, isRequired: Bool) {
        guard let destination = relationship.destinationEntity,
            let target = tables[PlainSchema.root(of: destination).name ?? ""]
        else { return }
        let inverse = PlainSchema.inverse(relationship)
        columns.append(
            PlainTable.Column(
                name: names.choose(style.name(relationship.name, "id")), content: .reference(relationship),
                entities: Self.names(of: relationship.entity), target: (target, Self.action(of: inverse)),
                isRequired: isRequired))
        if let inverse, inverse.isToMany, inverse.isOrdered {
            columns.append(
                PlainTable.Column(
                    name: names.choose(style.name(relationship.name, "position")), content: .position(relationship),
                    entities: Self.names(of: relationship.entity)))
        }
    }

    /// The parts of an attribute that have a column each. Recursive; a composite does not contain itself.
    private static func parts(
        of attribute: GraphSchema.Attribute, _ path: [String]
    ) -> [(path: [String], attribute: GraphSchema.Attribute)] {
        guard attribute.type == .composite else { return [(path, attribute)] }
        return attribute.elements.flatMap { parts(of: $0, path + [$0.name]) }
    }

    /// What happens to a row when the row that it refers to is deleted: the delete rule of the inverse.
    private static func action(of inverse: NSRelationshipDescription?) -> String {
        switch inverse?.deleteRule {
        case .cascadeDeleteRule: "CASCADE"
        case .denyDeleteRule: "RESTRICT"
        default: "SET NULL"
        }
    }

    /// The uniqueness constraints of all entities; a constraint whose properties have no columns is omitted.
    private var uniqueness: [PlainTable.Uniqueness] {
        hierarchy.flatMap { entity -> [PlainTable.Uniqueness] in
            let inherited = Set(entity.superentity?.uniquenessConstraints.map(Self.properties) ?? [])
            return entity.uniquenessConstraints.map(Self.properties).filter { !inherited.contains($0) }.compactMap {
                let found = $0.compactMap { column($0, of: entity) }
                guard !found.isEmpty, found.count == $0.count else { return nil }
                return PlainTable.Uniqueness(
                    columns: found, entities: entity === root ? nil : Self.names(of: entity).sorted())
            }
        }
    }

    private static func properties(_ constraint: [Any]) -> [String] {
        constraint.compactMap { $0 as? String ?? ($0 as? NSPropertyDescription)?.name }
    }

    private func column(_ property: String, of entity: NSEntityDescription) -> String? {
        columns.first { column in
            guard column.entities.contains(entity.name ?? "") else { return false }
            return switch column.content {
            case .attribute(let path, _): path == [property]
            case .reference(let relationship): relationship.name == property
            case .key, .entity, .position: false
            }
        }?.name
    }
}

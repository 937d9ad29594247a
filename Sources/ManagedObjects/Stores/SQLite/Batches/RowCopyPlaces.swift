import Foundation

/// The rules of a copy operation, applied to a store's tables.
struct RowCopyPlaces {
    /// An entity whose rows may be copied.
    struct Place {
        let sql: SQLEntity
        /// The number of its root entity.
        let root: Int64
        let rules: RowCopyRequest.Rules

        var layout: EntityLayout { sql.entity.layout }

        /// Whether values come from copies of other entities, which must be inserted first.
        var followsOwners: Bool {
            rules.sources.values.contains { if case .owner = $0 { true } else { false } }
        }
    }

    /// The source of a column of a copy.
    enum Content {
        case original
        case uuid
        case null
        case value(Value)
        case reference(String)
    }

    let schema: SQLSchema
    let entities: [Place]
    /// The entities, ordered so that copies from which values are taken are inserted first.
    let inOrder: [Place]
    let roots: [SQLEntity]
    private let placeByIndex: [Int: Int]

    /// - Throws: `RowCopyRefusal` if a relationship is stored in a way that set operations cannot copy.
    init(_ request: RowCopyRequest, schema: SQLSchema) throws {
        self.schema = schema
        var entities: [Place] = []
        var roots: [SQLEntity] = []
        for rules in request.rules {
            guard let sql = schema.entity(rules.entity), let root = schema.entity(rules.entity.rootEntity),
                sql.columns.count == rules.entity.layout.slots.count
            else { throw RowCopyRefusal("The table of \(rules.entity.name ?? "") lacks columns.") }
            entities.append(Place(sql: sql, root: root.number, rules: rules))
            if !roots.contains(where: { $0.number == root.number }) { roots.append(root) }
        }
        self.entities = entities
        self.roots = roots
        inOrder = entities.filter { !$0.followsOwners } + entities.filter(\.followsOwners)
        placeByIndex = Dictionary(
            entities.enumerated().map { ($1.sql.entity.index, $0) }, uniquingKeysWith: { first, _ in first })
        try requireSets()
    }

    func place(entityIndex: Int) -> Place? { placeByIndex[entityIndex].map { entities[$0] } }

    /// The numbers of the entities whose rules for a relationship satisfy a condition, as a list for SQL; nil if there
    /// are none.
    func list(
        _ relationship: NSRelationshipDescription, where isMeant: (RowCopyRequest.Link) -> Bool = { _ in true }
    ) -> String? {
        let numbers = entities.filter { place in
            place.sql.entity.relationshipsByName[relationship.name].map { $0 === relationship } ?? false
                && place.rules.links[relationship.name].map(isMeant) ?? false
        }.map { "\($0.sql.number)" }
        return numbers.isEmpty ? nil : numbers.joined(separator: ", ")
    }

    /// The relationships of all rules, each once, in order.
    var relationships: [NSRelationshipDescription] {
        var met: Set<ObjectIdentifier> = []
        return entities.flatMap { place in
            place.rules.links.keys.sorted().compactMap { place.sql.entity.relationshipsByName[$0] }
        }.filter { met.insert(ObjectIdentifier($0)).inserted }
    }

    func root(of entity: NSEntityDescription?) -> SQLEntity? {
        entity.flatMap { schema.entity($0.rootEntity) }.flatMap { root in roots.first { $0.number == root.number } }
    }

    // MARK: - Limits of set operations

    private func requireSets() throws {
        for relationship in relationships {
            let reaches = list(relationship, where: \.reachesOthers) != nil
            let inverse = relationship.inverseRelationship
            // A member refers to its single owner, although the model declares no inverse.
            if reaches, relationship.isToMany, inverse == nil {
                throw RowCopyRefusal("\(relationship.name) is to-many and has no inverse.")
            }
            if inverse === relationship { throw RowCopyRefusal("\(relationship.name) is its own inverse.") }
            if relationship.isToMany, relationship.minCount > 0 || relationship.maxCount > 0 {
                throw RowCopyRefusal("The number of members of \(relationship.name) is limited.")
            }
        }
    }

    // MARK: - Walk

    /// The terms of the recursive statement: for each followed relationship, the rows that it reaches.
    var steps: [String] {
        relationships.compactMap { relationship -> String? in
            guard let numbers = list(relationship, where: \.follows),
                let source = schema.entity(relationship.entity.rootEntity),
                let destination = root(of: relationship.destinationEntity)
            else { return nil }
            let from = "\(destination.number), d.Z_PK, d.Z_ENT FROM walk w"
            let condition = " WHERE w.r = \(source.number) AND w.e IN (\(numbers))"
            if let pairs = schema.pairs(of: relationship) {
                return from + " CROSS JOIN \(pairs.table) p ON p.\(pairs.source) = w.k "
                    + "CROSS JOIN \(destination.table) d ON d.Z_PK = p.\(pairs.destination)" + condition
            }
            if relationship.isToMany {
                guard let owner = ownerColumn(of: relationship) else { return nil }
                return from + " CROSS JOIN \(destination.table) d ON d.\(owner) = w.k" + condition
            }
            guard let column = schema.column(named: relationship.name, in: relationship.entity)?.name else {
                return nil
            }
            return from + " CROSS JOIN \(source.table) s ON s.Z_PK = w.k "
                + "CROSS JOIN \(destination.table) d ON d.Z_PK = s.\(column)" + condition
        }
    }

    /// The column in which the members of a to-many relationship refer to their owner.
    func ownerColumn(of relationship: NSRelationshipDescription) -> String? {
        guard let destination = relationship.destinationEntity, let members = schema.entity(destination),
            let place = relationship.entity.layout.toMany.first(where: { $0.relationship === relationship }),
            case .memberSlot(let slot, _) = place.storage
        else { return nil }
        return members.columns[slot]?.name
    }

    // MARK: - Columns

    /// The source of a slot of a copy.
    func content(of slot: Int, in place: Place) throws -> Content {
        let description = place.layout.slots[slot]
        if let attribute = description.attribute { return try content(of: attribute, slot: description, in: place) }
        guard let relationship = description.property as? NSRelationshipDescription else { return .null }
        switch description.kind {
        case .position:
            // The position among the owner's members, if the copy has an owner.
            guard
                let owner = place.layout.slots.indices.first(where: { index in
                    place.layout.slots[index].kind == .toOne && place.layout.slots[index].property === relationship
                }), case .reference(let expression) = try content(of: owner, in: place),
                let column = place.sql.columns[slot]?.name
            else { return .null }
            return .reference("CASE WHEN \(expression) IS NULL THEN NULL ELSE o.\(column) END")
        default:
            let isHidden = description.isHidden
            return reference(relationship, isHidden: isHidden, column: place.sql.columns[slot]?.name ?? "", in: place)
        }
    }

    private func content(
        of attribute: NSAttributeDescription, slot: EntityLayout.Slot, in place: Place
    ) throws -> Content {
        if let derivation = Derivation(attribute) {
            switch derivation {
            case .now: return .value(.real(Date().timeIntervalSinceReferenceDate))
            case .copy(let name), .canonical(let name), .uppercase(let name), .lowercase(let name):
                guard case .original? = place.rules.sources[name] else {
                    throw RowCopyRefusal("\(attribute.name) is derived from \(name), whose value is not copied.")
                }
                return .original
            // Computed by triggers.
            case .count, .sum, .related, .relatedText: return .null
            }
        }
        let name = slot.name.map { $0.split(separator: ".").first.map(String.init) ?? $0 } ?? ""
        switch place.rules.sources[name] {
        case .original: return .original
        case .newUUID: return .uuid
        case .date(let date): return .value(.real(date.timeIntervalSinceReferenceDate))
        case .owner(let relationship, let attribute):
            return .reference(try owned(attribute, by: relationship, in: place))
        case .initial, nil: return .value(slot.initial)
        }
    }

    /// The value of an attribute of the copy to which a relationship refers.
    private func owned(_ attribute: String, by name: String, in place: Place) throws -> String {
        guard let slot = place.layout.slots.firstIndex(where: { $0.kind == .toOne && $0.name == name }),
            case .reference(let expression) = try content(of: slot, in: place),
            let relationship = place.sql.entity.relationshipsByName[name],
            let destination = relationship.destinationEntity, let owner = schema.entity(destination),
            let column = schema.column(named: attribute, in: destination), !column.hasStorageByte,
            !inOrder.contains(where: { $0.followsOwners && $0.sql.entity.isKindOf(entity: destination) })
        else { throw RowCopyRefusal("The value of \(attribute) of the owner is not a column.") }
        return "(SELECT a.\(column.name) FROM \(owner.table) a WHERE a.Z_PK = \(expression))"
    }

    /// The key in a reference of a copy: that of another copy, if either side of the relationship is copied; otherwise,
    /// if the rules say so, that of the original's destination.
    private func reference(
        _ relationship: NSRelationshipDescription, isHidden: Bool, column: String, in place: Place
    ) -> Content {
        let link = isHidden ? nil : place.rules.links[relationship.name]
        // A hidden slot belongs to the relationship of the owner to which it refers.
        let owner = isHidden ? relationship : relationship.inverseRelationship
        let destination = isHidden ? relationship.entityIfAny : relationship.destinationEntity
        var parts: [String] = []
        if let root = root(of: destination) {
            let copy = "SELECT new FROM \(RowCopyTables.map(root.number)) WHERE old = o.\(column)"
            if link != nil {
                parts.append("(\(copy))")
            } else if let numbers = owner.flatMap({ list($0) }) {
                parts.append("(\(copy) AND ent IN (\(numbers)))")
            }
        }
        if link?.reachesOthers == true, let table = destination.flatMap({ schema.entity($0.rootEntity)?.table }) {
            parts.append("(SELECT Z_PK FROM \(table) WHERE Z_PK = o.\(column))")
        }
        switch parts.count {
        case 0: return .null
        case 1: return .reference(parts[0])
        default: return .reference("IFNULL(\(parts.joined(separator: ", ")))")
        }
    }
}

/// The statements that compute the columns of derived attributes.
struct DerivedColumns {
    private let schema: MigratedSchema

    init(_ schema: MigratedSchema) { self.schema = schema }

    /// Computes attributes that are new or derived in another way.
    ///
    /// - Parameter includingOthers: Whether the others are computed too, because objects that they depend on may have been
    ///   deleted.
    func statements(includingOthers: Bool) -> [String] {
        schema.pairs.flatMap { pair in
            pair.new.entity.layout.derivedSlots.compactMap { slot -> String? in
                guard let column = pair.new.columns[slot],
                    let attribute = pair.new.entity.layout.slots[slot].attribute,
                    let derivation = Derivation(attribute),
                    pair.sources[slot]?.column == nil || includingOthers && derivation != .now,
                    let value = value(of: derivation, in: pair.new)
                else { return nil }
                return SQLiteDialect().text(
                    of: SQLUpdate(
                        pair.new.table, set: [.expression(value, of: column.name)], where: pair.new.isOfEntityItself()))
            }
        }
    }

    /// The value as SQL; nil for a derivation that a store does not compute.
    private func value(of derivation: Derivation, in entity: SQLEntity) -> String? {
        func function(_ name: PredicateFunctions.Name, _ text: String) -> String { "\(name.rawValue)(\(text))" }
        switch derivation {
        case .now: return "NSCoreDataNow()"
        case .copy(let name): return column(name, in: entity.entity)
        case .canonical(let name): return column(name, in: entity.entity).map { function(.canonical, $0) }
        case .uppercase(let name): return column(name, in: entity.entity).map { function(.uppercase, $0) }
        case .lowercase(let name): return column(name, in: entity.entity).map { function(.lowercase, $0) }
        case .related(let relationship, let attribute):
            return related(relationship, attribute, in: entity) { $0 }
        case .relatedText(let name, let relationship, let attribute):
            return related(relationship, attribute, in: entity) { function(name, $0) }
        case .count(let name):
            guard let relationship = entity.entity.relationshipsByName[name], relationship.isToMany else { return nil }
            if let pairs = schema.new.pairs(of: relationship) {
                return "(SELECT count(*) FROM \(pairs.table) AS m WHERE m.\(pairs.source) = \(entity.table).Z_PK)"
            }
            return members(of: relationship, in: entity).map {
                "(SELECT count(*) FROM \($0.table) AS m WHERE m.\($0.owner) = \(entity.table).Z_PK)"
            }
        case .sum(let name, let summed):
            guard let relationship = entity.entity.relationshipsByName[name],
                let members = members(of: relationship, in: entity), let destination = relationship.destinationEntity,
                let value = column(summed, in: destination)
            else { return nil }
            return "(SELECT IFNULL(sum(m.\(value)), 0) FROM \(members.table) AS m "
                + "WHERE m.\(members.owner) = \(entity.table).Z_PK)"
        }
    }

    private func column(_ name: String, in entity: NSEntityDescription) -> String? {
        schema.new.column(named: name, in: entity)?.name
    }

    private func related(
        _ relationship: String, _ attribute: String, in entity: SQLEntity, _ derived: (String) -> String
    ) -> String? {
        guard let destination = entity.entity.relationshipsByName[relationship]?.destinationEntity,
            let table = schema.new.entity(destination)?.table, let key = column(relationship, in: entity.entity),
            let value = column(attribute, in: destination)
        else { return nil }
        return "(SELECT \(derived("d.\(value)")) FROM \(table) AS d WHERE d.Z_PK = \(entity.table).\(key))"
    }

    private func members(
        of relationship: NSRelationshipDescription, in entity: SQLEntity
    ) -> (table: String, owner: String)? {
        guard let destination = relationship.destinationEntity.flatMap({ schema.new.entity($0) }),
            let place = entity.entity.layout.toMany.first(where: { $0.relationship === relationship }),
            case .memberSlot(let slot, _) = place.storage, let owner = destination.columns[slot]?.name
        else { return nil }
        return (destination.table, owner)
    }
}

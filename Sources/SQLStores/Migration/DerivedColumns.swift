import ManagedObjects
import SQLStatements

/// The statements that compute the columns of derived attributes.
struct DerivedColumns {
    private let schema: MigratedSchema
    private let includesOthers: Bool

    /// - Parameter includesOthers: Whether attributes that are derived as before are computed too, because objects that they
    ///   depend on may have been deleted.
    init(_ schema: MigratedSchema, includesOthers: Bool) {
        self.schema = schema
        self.includesOthers = includesOthers
    }

    /// A derived attribute of an entity whose values must be computed.
    private struct Column {
        let entity: SQLEntity
        let name: String
        let derivation: Derivation
    }

    private var columns: [Column] {
        schema.pairs.flatMap { pair in
            pair.new.columns.indices.compactMap { slot in
                guard let column = pair.new.columns[slot],
                    let derivation = pair.new.entity.slots[slot].attribute?.derivation,
                    pair.sources[slot]?.column == nil || includesOthers && derivation != .now
                        || !schema.keepsSources(of: derivation, in: pair)
                else { return nil }
                return Column(entity: pair.new, name: column.name, derivation: derivation)
            }
        }
    }

    /// Computes attributes that are new, or derived in another way or from other values.
    var statements: [SQLUpdate] {
        columns.compactMap { column in
            guard let value = value(of: column.derivation, in: column.entity) else { return nil }
            return SQLUpdate(
                column.entity.table, set: [.expression(value, of: column.name)],
                where: column.entity.isOfEntityItself())
        }
    }

    /// A column of texts that are derived by a function that the database does not have.
    struct Text {
        let table: String
        let column: String
        let derivation: Derivation
        /// Selects primary keys and the texts from which the values are derived.
        let sources: String
    }

    /// The columns whose values the database cannot compute.
    var texts: [Text] {
        columns.compactMap { column in
            guard let function = column.derivation.textFunction, schema.dialect.name(of: function) == nil else {
                return nil
            }
            let table = column.entity.table
            let source: String?
            switch column.derivation {
            case .canonical(let name), .uppercase(let name), .lowercase(let name):
                source = column.entity.column(named: name)?.name
            case .relatedText(_, let relationship, let attribute):
                source = related(relationship, attribute, in: column.entity) { $0 }
            default: source = nil
            }
            guard let source else { return nil }
            return Text(
                table: table, column: column.name, derivation: column.derivation,
                sources: schema.dialect.text(
                    of: SQLSelect(["Z_PK", source], from: table, where: column.entity.isOfEntityItself())))
        }
    }

    /// The value as SQL; nil for a derivation that a store does not compute.
    private func value(of derivation: Derivation, in entity: SQLEntity) -> String? {
        func function(_ name: PredicateFunctions.Name, _ text: String) -> String? {
            schema.dialect.name(of: name).map { "\($0)(\(text))" }
        }
        switch derivation {
        case .now: return schema.dialect.now
        case .copy(let name): return entity.column(named: name)?.name
        case .canonical(let name): return entity.column(named: name).flatMap { function(.canonical, $0.name) }
        case .uppercase(let name): return entity.column(named: name).flatMap { function(.uppercase, $0.name) }
        case .lowercase(let name): return entity.column(named: name).flatMap { function(.lowercase, $0.name) }
        case .related(let relationship, let attribute):
            return related(relationship, attribute, in: entity) { $0 }
        case .relatedText(let name, let relationship, let attribute):
            return related(relationship, attribute, in: entity) { function(name, $0) }
        case .count(let name):
            guard let relationship = schema.new.relationship(named: name, of: entity), relationship.isToMany else {
                return nil
            }
            if let pairs = schema.new.pairs(of: relationship) {
                return pairs.count(ofOwner: "\(entity.table).Z_PK")
            }
            return schema.new.membership(of: relationship).map {
                result("count(*)", of: $0.table, by: $0.owner, in: entity)
            }
        case .sum(let name, let summed):
            guard let relationship = schema.new.relationship(named: name, of: entity),
                let members = schema.new.membership(of: relationship),
                let value = members.members.column(named: summed)?.name
            else { return nil }
            return result("COALESCE(sum(m.\(value)), 0)", of: members.table, by: members.owner, in: entity)
        }
    }

    /// The result of an aggregate function of the rows of a table that have the key of an entity's row in a column.
    private func result(
        _ function: String, of table: String, by column: String, in entity: SQLEntity
    ) -> String {
        schema.dialect.expression(
            SQLSelect([function], from: "\(table) AS m", where: .text("m.\(column) = \(entity.table).Z_PK")))
    }

    private func related(
        _ relationship: String, _ attribute: String, in entity: SQLEntity, _ derived: (String) -> String?
    ) -> String? {
        guard
            let destination = schema.new.relationship(named: relationship, of: entity).flatMap(schema.new.destination),
            let key = entity.column(named: relationship)?.name,
            let value = destination.column(named: attribute)?.name, let derived = derived("d.\(value)")
        else { return nil }
        return schema.dialect.expression(
            SQLSelect([derived], from: "\(destination.table) AS d", where: .text("d.Z_PK = \(entity.table).\(key)")))
    }
}

import SQLStatements

// The tables of many-to-many relationships.

extension SQLSchemaBuilder {
    mutating func addJoinTables() {
        var seen: Set<Int> = []
        var claimed: Set<String> = []
        let byName = stored.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        for entity in byName {
            // If columns of two tables have the same name, the table whose inverse's entity comes first gets the name
            // without a number.
            let relationships = entity.toMany
                .map { relationship in
                    let inverse = model.inverse(of: relationship)
                    return (destination: inverse.map { model.entities[$0.entity].name } ?? "", relationship)
                }
                .sorted { ($0.0, $0.1.name) < ($1.0, $1.1.name) }
                .map(\.1)
            for relationship in relationships where !relationship.isTransient {
                guard let inverse = model.inverse(of: relationship), inverse.isToMany,
                    seen.insert(relationship.number).inserted
                else { continue }
                seen.insert(inverse.number)
                addJoinTable(of: relationship, inverse: inverse, claimed: &claimed)
            }
        }
    }

    private mutating func addJoinTable(
        of relationship: SchemaRelationship, inverse: SchemaRelationship, claimed: inout Set<String>
    ) {
        guard let number = numbers[relationship.entity], let otherNumber = numbers[inverse.entity] else { return }
        // The columns do not depend on the side that the table is named after.
        let names = ["Z_\(number)\(relationship.name.uppercased())", "Z_\(otherNumber)\(inverse.name.uppercased())"]
            .map(naming.fitting)
        let isReflexive = relationship.isReflexive
        let columns = [
            isReflexive ? "REFLEXIVE" : "Z_\(number)\(inverse.name.uppercased())",
            "Z_\(otherNumber)\(relationship.name.uppercased())",
        ]
        let table = existingJoinTable(named: names, columns: columns) ?? names[0]
        if table == names[1], !isReflexive {
            appendJoinTable(table, of: inverse, source: columns[1], destination: columns[0], claimed: &claimed)
        } else {
            appendJoinTable(table, of: relationship, source: columns[0], destination: columns[1], claimed: &claimed)
        }
    }

    /// The join table of an existing store: the one that the rules name, or the one with both columns. For two
    /// relationships of one entity no rule is known for the side that the table is named after, and other versions of the
    /// framework may have other rules.
    private func existingJoinTable(named names: [String], columns: [String]) -> String? {
        guard let followed else { return nil }
        if followed.hasTable(names[0]) { return names[0] }
        func tables(_ hasColumn: (_ column: String, _ name: String) -> Bool) -> [String] {
            followed.columns.filter { table, existing in
                // The name becomes a part of statements, and names of a file are not trusted.
                table.hasPrefix("Z_") && SQLSchema.isUsable(table) && !existing.contains("Z_PK")
                    && columns.allSatisfy { column in existing.contains { hasColumn(column, $0) } }
            }.map(\.key)
        }
        let exact = tables(==)
        let found = exact.isEmpty ? tables(Self.isNumbered) : exact
        return found.contains(names[1]) ? names[1] : found.count == 1 ? found[0] : nil
    }

    /// Whether the name of a column is the base with a number that distinguishes it from columns of other join tables.
    private static func isNumbered(_ base: String, _ name: String) -> Bool {
        name.hasPrefix(base) && name.dropFirst(base.count).allSatisfy(\.isNumber)
    }

    /// - Parameter source: The name of the column with the keys of the owner's objects, without a number; `destination`
    ///   is that with the keys of their members.
    private mutating func appendJoinTable(
        _ table: String, of owner: SchemaRelationship, source: String, destination: String,
        claimed: inout Set<String>
    ) {
        let existing = followed.map { $0.columns[table] ?? [] }
        if let catalog, !catalog.hasTable(table) { missing.append(table) }

        func column(_ base: String) -> String {
            let name = naming.fitting(base + Self.freeSuffix(for: base, in: &claimed))
            guard let existing, !existing.contains(name) else { return name }
            // The only other spelling is the same name with a numeric suffix.
            return existing.first { Self.isNumbered(base, $0) } ?? name
        }
        func positionColumn(of column: String, _ isOrdered: Bool) -> String? {
            guard isOrdered else { return nil }
            let name = naming.fitting("Z_FOK_" + column.dropFirst(2))
            if let existing = catalog?.columns[table], !existing.isEmpty, !existing.contains(name) {
                missing.append("\(table).\(name)")
                return nil
            }
            return name
        }
        let isReflexive = owner.isReflexive
        let sourceColumn = isReflexive ? "" : column(source)
        let destinationColumn = column(destination)
        joinTables.append(
            SQLJoinTable(
                owner: owner, name: table, sourceColumn: isReflexive ? destinationColumn : sourceColumn,
                destinationColumn: isReflexive ? "REFLEXIVE" : destinationColumn,
                sourcePositionColumn: isReflexive
                    ? nil : positionColumn(of: sourceColumn, model.inverse(of: owner)?.isOrdered ?? false),
                destinationPositionColumn: positionColumn(of: destinationColumn, owner.isOrdered),
                isReflexive: isReflexive))
    }
}

import PredicateLanguage
import SQLStatements

// The indexes of a new store.

extension SQLSchema {
    /// The statements that create the indexes, each index once: models may declare an index twice, and their stores
    /// have it once. Of two indexes with the same name the first is created.
    package func indexStatements(in dialect: some SQLDialect) -> [String] {
        var names: Set<String> = []
        return tables.flatMap(indexes).flatMap { $0.statements(in: dialect) }
            .filter { names.insert(Self.name(of: $0)).inserted }
    }

    /// An index of a table.
    package enum Index {
        case definition(SQLIndexDefinition)
        /// An R-tree, which only SQLite has.
        case spatial([String])

        func statements(in dialect: some SQLDialect) -> [String] {
            switch self {
            case .definition(let definition): [dialect.text(of: definition)]
            case .spatial(let statements): dialect.hasSpatialIndexes ? statements : []
            }
        }
    }

    /// The kind and name of the object that a statement creates, with the name as SQLite compares it.
    private static func name(of statement: String) -> String {
        let words = statement.split(separator: " ").lazy
        return words.prefix { $0 != "ON" && $0 != "USING" && $0 != "AFTER" }.joined(separator: " ").lowercased()
    }

    /// The indexes of a table, in the order in which Core Data creates them.
    package func indexes(of table: SQLTable) -> [Index] {
        let hierarchy = entities.filter { $0.entity.root == table.root.index }
        var definitions = table.referenceColumns.map { column in
            SQLIndexDefinition(name: "\(table.name)_\(column)_INDEX", table: table.name, terms: [.column(column)])
        }
        if hierarchy.count > 1, !table.root.omitsEntityIndex {
            definitions.append(
                SQLIndexDefinition(name: "\(table.name)_Z_ENT_INDEX", table: table.name, terms: [.column("Z_ENT")]))
        }
        var indexes = definitions.map(Index.definition)
        for entity in hierarchy {
            indexes += entity.entity.indexes.compactMap { definition(of: $0, in: entity) }.map(Index.definition)
            indexes += entity.entity.indexes.map { .spatial(spatialStatements(of: $0, in: entity)) }
            indexes += (attributeIndexes(of: entity) + constraintIndexes(of: entity)).map(Index.definition)
        }
        return indexes
            + joinTables(of: table).map { join in
                .definition(
                    SQLIndexDefinition(
                        name: "\(join.name)_\(join.destinationColumn)_INDEX", table: join.name,
                        terms: [.column(join.destinationColumn), .column(join.sourceColumn)]))
            }
    }

    /// Whether the model declares an index without a condition whose first column is this one. Cost: a step for each index of the
    /// table.
    func hasIndex(of column: String, in entity: SQLEntity) -> Bool {
        guard let table = tables.first(where: { $0.root.index == entity.entity.root }) else { return false }
        return indexes(of: table).contains { index in
            guard case .definition(let definition) = index, definition.condition == nil,
                case .ordered(column, _)? = definition.terms.first
            else { return false }
            return true
        }
    }

    /// A fetch index; nil if it would only repeat the index that every reference has, or names a property without a
    /// column.
    private func definition(of index: SchemaIndex, in entity: SQLEntity) -> SQLIndexDefinition? {
        if index.elements.count == 1, index.elements[0].isRelationship { return nil }
        guard !index.elements.isEmpty, !index.elements.contains(where: \.isSpatial) else { return nil }
        var terms: [SQLIndexDefinition.Term] = []
        for element in index.elements {
            guard let column = columnName(of: element, in: entity) else { return nil }
            terms.append(.ordered(column, ascending: element.isAscending))
        }
        // If the condition cannot be translated to SQL, the index contains all rows and serves the same fetches.
        return SQLIndexDefinition(
            name: "Z_\(entity.entity.name)_\(index.name)", table: entity.table, terms: terms,
            condition: index.condition.flatMap { condition($0, in: entity) })
    }

    private func columnName(of element: SchemaIndex.Element, in entity: SQLEntity) -> String? {
        if let expression = element.expression {
            switch expression {
            case .evaluatedObject: return "Z_PK"
            case .keyPath(base: .evaluatedObject, keys: ["entity"]): return "Z_ENT"
            case .keyPath(base: .evaluatedObject, let keys) where keys.count == 1:
                return entity.column(named: keys[0])?.name
            default: return nil
            }
        }
        return element.name.flatMap { entity.column(named: $0)?.name }
    }

    /// Attributes with the deprecated indexed flag that are in no fetch index.
    private func attributeIndexes(of entity: SQLEntity) -> [SQLIndexDefinition] {
        let indexed = Set(entity.entity.indexes.flatMap(\.elements).compactMap(\.name))
        return entity.entity.attributes.compactMap { attribute in
            guard attribute.isIndexed, !indexed.contains(attribute.name),
                let column = entity.column(named: attribute.name)
            else { return nil }
            return SQLIndexDefinition(
                name: "Z_\(entity.entity.name)_\(attribute.name)", table: entity.table,
                terms: [.ordered(column.name, ascending: true)])
        }
    }

    /// One unique index for each uniqueness constraint that the entity itself declares.
    private func constraintIndexes(of entity: SQLEntity) -> [SQLIndexDefinition] {
        entity.entity.constraints.compactMap { names in
            let columns = names.compactMap { entity.column(named: $0)?.name }
            guard !columns.isEmpty, columns.count == names.count else { return nil }
            return SQLIndexDefinition(
                name: "Z_\(entity.entity.name)_UNIQUE_\(names.joined(separator: "_"))", table: entity.table,
                terms: columns.map { .ordered($0, ascending: true) }, isUnique: true)
        }
    }

    // MARK: - Conditions of partial indexes

    /// Comparisons of columns with numbers, texts and nil; nil for anything else.
    private func condition(_ node: PredicateNode, in entity: SQLEntity) -> String? {
        switch node {
        case .and(let parts): return joined(parts, " AND ", in: entity)
        case .or(let parts): return joined(parts, " OR ", in: entity)
        case .comparison(let comparison):
            guard case .keyPath(base: .evaluatedObject, let keys) = comparison.left, keys.count == 1,
                let column = entity.column(named: keys[0])?.name,
                case .constant(let constant) = comparison.right, comparison.options.isEmpty
            else { return nil }
            if constant.value == nil {
                switch comparison.operation {
                case .equalTo: return "\(column) IS NULL"
                case .notEqualTo: return "\(column) IS NOT NULL"
                default: return nil
                }
            }
            guard let literal = Self.literal(constant.value), let symbol = Self.symbol(comparison.operation) else {
                return nil
            }
            return "\(column) \(symbol) \(literal)"
        default: return nil
        }
    }

    private func joined(_ parts: [PredicateNode], _ word: String, in entity: SQLEntity) -> String? {
        let conditions = parts.compactMap { condition($0, in: entity) }
        guard !conditions.isEmpty, conditions.count == parts.count else { return nil }
        return "(" + conditions.joined(separator: word) + ")"
    }

    private static func symbol(_ operation: ComparisonOperator) -> String? {
        switch operation {
        case .equalTo: "="
        case .notEqualTo: "<>"
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo: operation.symbol
        default: nil
        }
    }

    private static func literal(_ value: Any?) -> String? {
        switch value {
        case let flag as Bool: flag ? "1" : "0"
        case let number as Int: String(number)
        case let number as Int64: String(number)
        case let number as Double: number.isFinite ? String(number) : nil
        // A literal search: a quote and a combining mark are one `Character`, but SQLite reads the quote.
        case let text as String: "'" + text.replacingOccurrences(of: "'", with: "''", options: .literal) + "'"
        default: nil
        }
    }
}

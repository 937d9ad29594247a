import PredicateLanguage

// The indexes of a new store.

extension SQLSchema {
    /// The statements that create the indexes, each index once: models may declare an index twice, and their stores
    /// have it once. Of two indexes with the same name the first is created.
    var indexStatements: [String] {
        var names: Set<String> = []
        return tables.flatMap(indexStatements).filter { names.insert(Self.name(of: $0)).inserted }
    }

    /// The kind and name of the object that a statement creates, with the name as SQLite compares it.
    private static func name(of statement: String) -> String {
        let words = statement.split(separator: " ").lazy
        return words.prefix { $0 != "ON" && $0 != "USING" && $0 != "AFTER" }.joined(separator: " ").lowercased()
    }

    private func indexStatements(of table: SQLTable) -> [String] {
        let hierarchy = entities.filter { $0.entity.rootEntity === table.root }
        var statements = table.referenceColumns.map { column in
            "CREATE INDEX \(table.name)_\(column)_INDEX ON \(table.name) (\(column))"
        }
        let omitsEntity = table.root.userInfo?["_NSEntityOmitSubentityColumnIndex"] as? String == "YES"
        if hierarchy.count > 1, !omitsEntity {
            statements.append("CREATE INDEX \(table.name)_Z_ENT_INDEX ON \(table.name) (Z_ENT)")
        }
        for entity in hierarchy {
            statements += entity.entity.indexes.compactMap { indexStatement(of: $0, in: entity) }
            statements += entity.entity.indexes.flatMap { spatialStatements(of: $0, in: entity) }
            statements += attributeIndexStatements(of: entity)
            statements += constraintStatements(of: entity)
        }
        for join in joinTables(of: table) {
            statements.append(
                "CREATE INDEX \(join.name)_\(join.destinationColumn)_INDEX ON \(join.name) "
                    + "(\(join.destinationColumn), \(join.sourceColumn))")
        }
        return statements
    }

    /// A fetch index; nil if it would only repeat the index that every reference has, or names a property without a
    /// column.
    private func indexStatement(of index: NSFetchIndexDescription, in entity: SQLEntity) -> String? {
        if index.elements.count == 1, index.elements[0].property is NSRelationshipDescription { return nil }
        guard !index.elements.isEmpty, index.elements.allSatisfy({ $0.collationType == .binary }) else { return nil }
        var columns: [String] = []
        for element in index.elements {
            guard let column = columnName(of: element, in: entity) else { return nil }
            columns.append("\(column) COLLATE BINARY \(element.isAscending ? "ASC" : "DESC")")
        }
        let name = "Z_\(entity.entity.name ?? "")_\(index.name)"
        let statement = "CREATE INDEX \(name) ON \(entity.table) (\(columns.joined(separator: ", ")))"
        // If the condition cannot be translated to SQL, the index contains all rows and serves the same fetches.
        guard let predicate = index.partialIndexPredicate, let condition = condition(predicate.node, in: entity) else {
            return statement
        }
        return "\(statement) WHERE \(condition)"
    }

    private func columnName(of element: NSFetchIndexElementDescription, in entity: SQLEntity) -> String? {
        if let expression = (element.property as? NSExpressionDescription)?.expression {
            switch expression.node {
            case .evaluatedObject: return "Z_PK"
            case .keyPath(base: .evaluatedObject, keys: ["entity"]): return "Z_ENT"
            case .keyPath(base: .evaluatedObject, let keys) where keys.count == 1:
                return column(named: keys[0], in: entity.entity)?.name
            default: return nil
            }
        }
        return element.property.flatMap { column(named: $0.name, in: entity.entity)?.name }
    }

    /// Attributes with the deprecated indexed flag that are in no fetch index.
    private func attributeIndexStatements(of entity: SQLEntity) -> [String] {
        let indexed = Set(entity.entity.indexes.flatMap(\.elements).compactMap(\.propertyName))
        return entity.entity.sortedOwnProperties.compactMap { property in
            guard property.isIndexed, property is NSAttributeDescription, !indexed.contains(property.name),
                let column = column(named: property.name, in: entity.entity)
            else { return nil }
            return "CREATE INDEX Z_\(entity.entity.name ?? "")_\(property.name) ON \(entity.table) "
                + "(\(column.name) COLLATE BINARY ASC)"
        }
    }

    /// One unique index for each uniqueness constraint that the entity itself declares.
    private func constraintStatements(of entity: SQLEntity) -> [String] {
        entity.entity.uniquenessConstraints.map(NSEntityDescription.names).compactMap { names in
            let columns = names.compactMap { column(named: $0, in: entity.entity)?.name }
            guard !columns.isEmpty, columns.count == names.count else { return nil }
            let list = columns.map { "\($0) COLLATE BINARY ASC" }.joined(separator: ", ")
            return "CREATE UNIQUE INDEX Z_\(entity.entity.name ?? "")_UNIQUE_\(names.joined(separator: "_")) "
                + "ON \(entity.table) (\(list))"
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
                let column = column(named: keys[0], in: entity.entity)?.name,
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

#if PostgreSQL
    import ManagedObjects
    import PostgreSQLClient
    import SQLStatements
    import StoreSupport

    /// Writes the pairs of a relationship, many with one statement.
    struct PairStatements {
        let pairs: SQLPairs

        typealias Execution = (String, [PostgreSQLValue]) throws -> Void

        /// - Parameter execute: Executes a statement.
        func write(_ group: SavePlan.PairGroup, _ execute: Execution) throws {
            var rest = group.pairs[...]
            while let kind = rest.first?.kind {
                let pairsOfKind = rest.prefix { $0.kind == kind }
                rest = rest.dropFirst(pairsOfKind.count)
                switch kind {
                case .insert: try insert(pairsOfKind, execute)
                case .delete: try delete(pairsOfKind, execute)
                case .move: try move(pairsOfKind, execute)
                }
            }
        }

        /// A pair that exists keeps its positions, unless new ones are given; without a position, a new pair is the last.
        private func insert(_ new: ArraySlice<SavePlan.Pair>, _ execute: Execution) throws {
            var (sources, members) = (PostgreSQLArray(of: .integer), PostgreSQLArray(of: .integer))
            for pair in new {
                let isReversed = pairs.isReflexive && pair.destination < pair.source
                sources.append(isReversed ? pair.destination : pair.source)
                members.append(isReversed ? pair.source : pair.destination)
            }
            var parameters: [PostgreSQLValue] = [.array(sources), .array(members)]
            var rows = ["s", "d"]
            var columns = [pairs.source, pairs.destination]
            var values = ["w.s", "w.d"]
            for (column, owner, ownerColumn, position) in [
                (pairs.position, "s", pairs.source, \SavePlan.Pair.position),
                (pairs.inversePosition, "d", pairs.destination, \SavePlan.Pair.inversePosition),
            ] {
                guard let column else { continue }
                var positions = PostgreSQLArray(of: .integer)
                for pair in new {
                    if let number = pair[keyPath: position] { positions.append(number) } else { positions.appendNull() }
                }
                parameters.append(.array(positions))
                let name = "p\(owner)"
                rows.append(name)
                columns.append(column)
                let last = "(SELECT max(\(column)) FROM \(pairs.table) AS t WHERE t.\(ownerColumn) = w.\(owner))"
                let given = "max(w.\(name)) OVER (PARTITION BY w.\(owner))"
                let place = "count(*) FILTER (WHERE w.\(name) IS NULL) OVER (PARTITION BY w.\(owner) ORDER BY w.n)"
                values.append(
                    "COALESCE(w.\(name), COALESCE(GREATEST(\(last), \(given)), \(OrderedPositions.beforeFirst)) "
                        + "+ \(OrderedPositions.step) * \(place))")
            }
            let list = parameters.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
            let source = "unnest(\(list)) WITH ORDINALITY AS w(\(rows.joined(separator: ", ")), n)"
            if columns.count > 2 {
                let moved = zip(columns, rows).dropFirst(2).map { "\($0) = COALESCE(w.\($1), t.\($0))" }
                try execute(
                    "UPDATE \(pairs.table) AS t SET \(moved.joined(separator: ", ")) FROM \(source) "
                        + "WHERE t.\(pairs.source) = w.s AND t.\(pairs.destination) = w.d", parameters)
            }
            try execute(
                "INSERT INTO \(pairs.table) (\(columns.joined(separator: ", "))) "
                    + "SELECT \(values.joined(separator: ", ")) FROM \(source) ON CONFLICT DO NOTHING", parameters)
        }

        private func delete(_ old: ArraySlice<SavePlan.Pair>, _ execute: Execution) throws {
            // With the lists of keys the planner uses the index, as for rows.
            let isListed =
                "(t.\(pairs.source) = w.s AND t.\(pairs.destination) = w.d AND t.\(pairs.source) = ANY($1))"
            let isReversed =
                "(t.\(pairs.source) = w.d AND t.\(pairs.destination) = w.s AND t.\(pairs.source) = ANY($2))"
            try execute(
                "DELETE FROM \(pairs.table) AS t USING unnest($1, $2) AS w(s, d) "
                    + "WHERE \(isListed)\(pairs.isReflexive ? " OR \(isReversed)" : "")",
                [.array(PostgreSQLArray(old.map(\.source))), .array(PostgreSQLArray(old.map(\.destination)))])
        }

        private func move(_ moved: ArraySlice<SavePlan.Pair>, _ execute: Execution) throws {
            for (column, position) in [
                (pairs.position, \SavePlan.Pair.position), (pairs.inversePosition, \SavePlan.Pair.inversePosition),
            ] {
                let placed = moved.filter { $0[keyPath: position] != nil }
                guard let column, !placed.isEmpty else { continue }
                try execute(
                    "UPDATE \(pairs.table) AS t SET \(column) = w.p FROM unnest($1, $2, $3) AS w(s, d, p) "
                        + "WHERE t.\(pairs.source) = w.s AND t.\(pairs.destination) = w.d "
                        + "AND t.\(pairs.source) = ANY($1)",
                    [
                        .array(PostgreSQLArray(placed.map(\.source))),
                        .array(PostgreSQLArray(placed.map(\.destination))),
                        .array(PostgreSQLArray(placed.compactMap { $0[keyPath: position] })),
                    ])
            }
        }
    }
#endif

import GRDB

/// Asks for the members of a to-many relationship of many owners, and puts them in the order of the owners.
struct MemberQuery {
    let store: UInt16
    let content: SQLiteStore.Content
    let destination: SQLEntity
    let owners: [Int64]
    let includesRows: Bool

    var emptyResult: MemberResult {
        var result = MemberResult()
        result.starts = ContiguousArray(repeating: 0, count: owners.count + 1)
        return result
    }

    /// Members as the statements give them: each owner's together.
    private struct Found {
        var members: ContiguousArray<ObjectKey> = []
        var positions: ContiguousArray<Int64> = []
        /// Where each owner's members begin, and how many they are.
        var runs: [Int64: (start: Int, count: Int)] = [:]

        mutating func add(_ member: ObjectKey, of owner: Int64) {
            if let run = runs[owner] {
                runs[owner] = (run.start, run.count + 1)
            } else {
                runs[owner] = (members.count, 1)
            }
            members.append(member)
        }
    }

    // MARK: - By reference

    /// Members that refer to their owner: one statement for up to 500 owners.
    func membersByReference(slot: Int, position: Int?, in database: Database) throws -> MemberResult {
        guard let reference = destination.columns[slot]?.name else { return emptyResult }
        let positionColumn = position.flatMap { destination.columns[$0]?.name }
        let reader = includesRows ? content.reader(of: destination, store: store) : nil
        let columns = reader?.columns ?? ["Z_PK", "Z_ENT"]
        let selected = (columns + [reference]).joined(separator: ", ")
        let selection = "SELECT \(selected) FROM \(destination.table) WHERE \(reference) IN ("
        // The index of the reference ends with the row's key, so that members without an order need no sorting.
        let order = [reference, positionColumn, "Z_PK"].compactMap { $0 }.joined(separator: ", ")
        var found = Found()
        try SQLParameters.forEachSlice(of: owners) { slice in
            let capacity = SQLParameters.capacity(for: slice.count)
            let list = SQLParameters.placeholders(capacity) + ")"
            let statement = try SQLStatement(
                "\(selection)\(list)\(SQLiteStore.entityCondition(of: destination)) ORDER BY \(order)", in: database)
            defer { statement.finish() }
            SQLParameters.bind(slice, to: statement, capacity: capacity)
            while try statement.step() {
                guard let member = key(statement, columns: (0, 1)) else { continue }
                _ = reader?.readRow(statement.handle)
                found.add(member, of: statement.integer(columns.count))
            }
        }
        var result = inOrderOfOwners(found)
        result.pages = reader?.pages ?? []
        return result
    }

    private func key(_ statement: SQLStatement, columns: (key: Int, entity: Int)) -> ObjectKey? {
        guard let entity = content.schema.entityIndex(number: statement.integer(columns.entity)) else { return nil }
        return ObjectKey(
            store: store, entity: UInt16(truncatingIfNeeded: entity), number: statement.integer(columns.key))
    }

    // MARK: - By pairs

    /// Members in a table of pairs. Pairs whose member does not exist are left out.
    func membersByPairs(_ pairs: SQLPairs, in database: Database) throws -> MemberResult {
        var found = Found()
        try SQLParameters.forEachSlice(of: owners) { slice in
            let capacity = SQLParameters.capacity(for: slice.count)
            let list = SQLParameters.placeholders(capacity)
            let statement = try SQLStatement(sql(for: pairs, list: list), in: database)
            defer { statement.finish() }
            SQLParameters.bind(slice, to: statement, capacity: capacity)
            if pairs.isReflexive {
                SQLParameters.bind(slice, to: statement, from: capacity + 1, capacity: capacity)
            }
            while try statement.step() {
                guard let member = key(statement, columns: (1, 2)) else { continue }
                found.add(member, of: statement.integer(0))
                if pairs.position != nil { found.positions.append(statement.integer(3)) }
            }
        }
        return inOrderOfOwners(found)
    }

    private func sql(for pairs: SQLPairs, list: String) -> String {
        let (source, member, table) = (pairs.source, pairs.destination, destination.table)
        if pairs.isReflexive {
            // Stores hold one of the two directions, or both.
            return """
                SELECT p.source, p.member, t.Z_ENT FROM (
                SELECT \(source) AS source, \(member) AS member FROM \(pairs.table) WHERE \(source) IN (\(list)) UNION
                SELECT \(member), \(source) FROM \(pairs.table) WHERE \(member) IN (\(list))
                ) AS p JOIN \(table) AS t ON t.Z_PK = p.member ORDER BY p.source, p.member
                """
        }
        let position = pairs.position.map { ", p.\($0)" } ?? ""
        let order = pairs.position.map { "p.\($0), " } ?? ""
        return "SELECT p.\(source), p.\(member), t.Z_ENT\(position) FROM \(pairs.table) AS p "
            + "JOIN \(table) AS t ON t.Z_PK = p.\(member) WHERE p.\(source) IN (\(list)) "
            + "ORDER BY p.\(source), \(order)p.\(member)"
    }

    // MARK: - Order

    private func inOrderOfOwners(_ found: Found) -> MemberResult {
        var result = MemberResult()
        result.members.reserveCapacity(found.members.count)
        result.starts.reserveCapacity(owners.count + 1)
        for owner in owners {
            if let run = found.runs[owner] {
                result.members.append(contentsOf: found.members[run.start..<(run.start + run.count)])
                if !found.positions.isEmpty {
                    result.positions.append(contentsOf: found.positions[run.start..<(run.start + run.count)])
                }
            }
            result.starts.append(Int32(clamping: result.members.count))
        }
        return result
    }
}

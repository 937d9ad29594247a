import ManagedObjects
import SQLStatements

/// Queries the members of a to-many relationship of many owners, and returns them in the order of the owners.
struct MemberQuery<Content: SQLContent> {
    let store: UInt16
    let content: Content
    let destination: SQLEntity
    let owners: [Int64]
    let includesRows: Bool

    var emptyResult: MemberResult {
        var result = MemberResult()
        result.starts = ContiguousArray(repeating: 0, count: owners.count + 1)
        return result
    }

    // MARK: - References

    /// Members that refer to their owner.
    func membersByReference(slot: Int, position: Int?, in database: some SQLDatabase) throws -> MemberResult {
        guard let reference = destination.columns[slot]?.name else { return emptyResult }
        let positionColumn = position.flatMap { destination.columns[$0]?.name }
        let reader = includesRows ? content.reader(of: destination, store: store) : nil
        var (columns, columnCount) = ([reader?.plan.list ?? "Z_PK, Z_ENT"], reader?.plan.columnCount ?? 2)
        func index(of name: String) -> Int {
            if let index = reader?.plan.index(of: name) { return index }
            columns.append(name)
            columnCount += 1
            return columnCount - 1
        }
        let ownerIndex = index(of: reference)
        let positionIndex = positionColumn.map(index)
        let schema = content.schema
        var found = OwnedMembers(owners: owners)
        // The page of the previous row, and its number: most rows follow others of the same page.
        var (page, pageNumber) = (RowPage?.none, Int32(-1))
        // The index of the reference ends with the row's key, so SQLite does not sort. Ordered members are sorted here,
        // because SQLite's sorter would copy every column.
        try forEachRow(in: database) { [columns] keys in
            SQLSelect(
                columns, from: destination.table,
                where: .all([keys.first(reference), destination.isOfReadHierarchy()]), orderBy: [reference, "Z_PK"])
        } read: { statement in
            guard let reader else {
                guard let index = schema.entityIndex(number: statement.integer(1)) else { return }
                let member = ObjectKey(
                    store: store, entity: UInt16(truncatingIfNeeded: index), number: statement.integer(0))
                found.add(
                    member, of: statement.integer(ownerIndex), position: positionIndex.map { statement.integer($0) })
                return
            }
            guard let row = reader.readRow(statement) else { return }
            if row.page != pageNumber { (page, pageNumber) = (reader.pages[Int(row.page)], row.page) }
            guard let page else { return }
            let number = Int(row.row)
            // The row's own cells are faster than SQLite's functions. A subentity may have other slots.
            let isDestination = page.layout.index == destination.entity.index
            found.add(
                page.key(ofRow: number),
                of: isDestination
                    ? Int64(bitPattern: page.cell(row: number, slot: slot).payload) : statement.integer(ownerIndex),
                position: positionIndex.map { index in
                    guard isDestination, let position else { return statement.integer(index) }
                    return Int64(bitPattern: page.cell(row: number, slot: position).payload)
                },
                row: row)
        }
        var result = found.inOrderOfOwners(keepsPositions: false)
        result.pages = reader?.pages ?? []
        return result
    }

    /// Reads the rows of the owners.
    private func forEachRow<Database: SQLDatabase>(
        in database: Database, of selection: (SQLKeyCondition) -> SQLSelect, read: (Database.Cursor) throws -> Void
    ) throws {
        try database.forEachCursor(of: owners, selecting: selection) { cursor in
            while try cursor.step() { try read(cursor) }
        }
    }

    // MARK: - Join tables

    /// Members in a join table. Pairs whose member does not exist are omitted. Rows are returned for members that the
    /// caller does not have yet.
    func membersByPairs(
        _ pairs: SQLPairs, isKnown: (ObjectKey) -> Bool, in database: some SQLDatabase
    ) throws -> MemberResult {
        if pairs.isReflexive { return try membersByReflexivePairs(pairs, isKnown: isKnown, in: database) }
        // If the members' rows are read anyway, they show which members exist, and their entities.
        guard includesRows else { return try membersByJoin(pairs, in: database) }
        var found = OwnedMembers(owners: owners)
        let columns = [pairs.source, pairs.destination] + (pairs.position.map { [$0] } ?? [])
        let (entity, hasPosition) = (UInt16(truncatingIfNeeded: destination.entity.index), pairs.position != nil)
        try forEachRow(in: database) { keys in
            SQLSelect(
                columns, from: pairs.table, where: keys.first(pairs.source),
                orderBy: [pairs.source, pairs.destination])
        } read: { statement in
            found.add(
                ObjectKey(store: store, entity: entity, number: statement.integer(1)), of: statement.integer(0),
                position: hasPosition ? statement.integer(2) : nil)
        }
        let hasSubentities = destination.entity.subtree.count > 1
        var wanted = Set<Int64>()
        for member in found.members where hasSubentities || !isKnown(member) { wanted.insert(member.number) }
        let keys = wanted.sorted()
        let reader = content.reader(of: destination, store: store)
        try database.readRows(withKeys: keys, by: reader)
        let pages = reader.pages
        found.resolve(among: keys, by: pages)
        var result = found.inOrderOfOwners(keepsPositions: pairs.position != nil)
        result.pages = pages
        return result
    }

    private func membersByJoin(_ pairs: SQLPairs, in database: some SQLDatabase) throws -> MemberResult {
        var found = OwnedMembers(owners: owners)
        let (source, member) = ("p.\(pairs.source)", "p.\(pairs.destination)")
        let columns = [source, member, "t.Z_ENT"] + (pairs.position.map { ["p.\($0)"] } ?? [])
        try forEachRow(in: database) { keys in
            SQLSelect(
                columns, from: "\(pairs.table) AS p JOIN \(destination.table) AS t ON t.Z_PK = \(member)",
                where: keys.first(source), orderBy: [source, member])
        } read: { statement in
            guard let entity = content.schema.entityIndex(number: statement.integer(2)) else { return }
            let member = ObjectKey(
                store: store, entity: UInt16(truncatingIfNeeded: entity), number: statement.integer(1))
            found.add(
                member, of: statement.integer(0), position: pairs.position == nil ? nil : statement.integer(3))
        }
        return found.inOrderOfOwners(keepsPositions: pairs.position != nil)
    }

    /// A relationship that is its own inverse: stores contain one of the two directions, or both.
    private func membersByReflexivePairs(
        _ pairs: SQLPairs, isKnown: (ObjectKey) -> Bool, in database: some SQLDatabase
    ) throws -> MemberResult {
        var found = OwnedMembers(owners: owners)
        let (source, member, table) = (pairs.source, pairs.destination, pairs.table)
        let dialect = content.compiler.dialect
        try forEachRow(in: database) { keys in
            let owned = SQLSelect(
                ["\(source) AS source", "\(member) AS member"], from: table, where: keys.first(source))
            let inverse = SQLSelect([member, source], from: table, where: keys.again(member))
            return SQLSelect(
                ["p.source", "p.member", "t.Z_ENT"],
                from: "(\(owned.text(in: dialect)) UNION \(inverse.text(in: dialect))) AS p "
                    + "JOIN \(destination.table) AS t ON t.Z_PK = p.member",
                orderBy: ["p.source", "p.member"])
        } read: { statement in
            guard let entity = content.schema.entityIndex(number: statement.integer(2)) else { return }
            found.add(
                ObjectKey(store: store, entity: UInt16(truncatingIfNeeded: entity), number: statement.integer(1)),
                of: statement.integer(0), position: nil)
        }
        var result = found.inOrderOfOwners(keepsPositions: false)
        guard includesRows else { return result }
        var wanted = Set<Int64>()
        for member in result.members where !isKnown(member) { wanted.insert(member.number) }
        let reader = content.reader(of: destination, store: store)
        try database.readRows(withKeys: wanted.sorted(), by: reader)
        result.pages = reader.pages
        return result
    }
}

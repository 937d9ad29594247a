import GRDB

// Reads rows by their keys, and the members of relationships.

extension SQLiteStore {
    func rows(
        withKeys keys: [Int64], entity: NSEntityDescription, generation: (any StoreGeneration)?
    ) throws -> [RowPage] {
        let content = try content()
        guard let place = content.schema.entity(entity), !keys.isEmpty else { return [] }
        let pages = try reading(generation, consistently: keys.count > SQLParameters.limit) { database in
            try Self.rows(
                withKeys: keys, place: place, reader: content.reader(of: place, store: self.number), database: database)
        }
        try requireFiles(of: pages, generation)
        return pages
    }

    /// Rows by their keys: one statement for up to 500 keys.
    static func rows(
        withKeys keys: [Int64], place: SQLEntity, reader: RowReader, database: Database
    ) throws -> [RowPage] {
        var order: ContiguousArray<RowResult.Position> = []
        try SQLParameters.forEachSlice(of: keys) { slice in
            let capacity = SQLParameters.capacity(for: slice.count)
            let statement = try SQLStatement(reader.plan.selection(ofKeys: capacity), in: database)
            defer { statement.finish() }
            SQLParameters.bind(slice, to: statement, capacity: capacity)
            try reader.readAll(statement, order: &order)
        }
        return reader.pages
    }

    // MARK: - Members

    func members(
        of relationship: NSRelationshipDescription, owners: [Int64], ownerEntity: NSEntityDescription,
        includesRows: Bool, isKnown: (ObjectKey) -> Bool, generation: (any StoreGeneration)?
    ) throws -> MemberResult {
        let content = try content()
        guard let toMany = ownerEntity.layout.toMany.first(where: { $0.relationship === relationship }),
            let destination = content.schema.entity(toMany.destination), toMany.isPersistent, !owners.isEmpty
        else {
            var empty = MemberResult()
            empty.starts = ContiguousArray(repeating: 0, count: owners.count + 1)
            return empty
        }
        let query = MemberQuery(
            store: number, content: content, destination: destination, owners: owners, includesRows: includesRows)
        let several = owners.count > SQLParameters.limit || includesRows
        let result = try reading(generation, consistently: several) { database in
            switch toMany.storage {
            case .memberSlot(let slot, let position):
                return try query.membersByReference(slot: slot, position: position, in: database)
            case .pairs:
                guard let pairs = content.schema.pairs(of: relationship) else { return query.emptyResult }
                return try query.membersByPairs(pairs, isKnown: isKnown, in: database)
            }
        }
        try requireFiles(of: result.pages, generation)
        return result
    }
}

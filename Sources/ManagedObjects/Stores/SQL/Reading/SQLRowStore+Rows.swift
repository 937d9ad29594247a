// Reads rows by their keys, and the members of relationships.

extension SQLRowStore {
    func rows(
        withKeys keys: [Int64], entity: NSEntityDescription, generation: (any StoreGeneration)?
    ) throws -> [RowPage] {
        let content = try content()
        guard let sqlEntity = content.schema.entity(entity), !keys.isEmpty else { return [] }
        let reader = content.reader(of: sqlEntity, store: number)
        try reading(generation, consistently: needsSeveralStatements(forKeys: keys.count)) { database in
            try database.readRows(withKeys: keys, by: reader)
        }
        try requireFiles(of: reader.pages, generation)
        return reader.pages
    }

    private func needsSeveralStatements(forKeys count: Int) throws -> Bool {
        try content().compiler.dialect.keyCounts.last.map { count > $0 } ?? false
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
        let several = try includesRows || needsSeveralStatements(forKeys: owners.count)
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

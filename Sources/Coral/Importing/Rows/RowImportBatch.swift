#if !canImport(Darwin) && !CORAL_PUBLIC_API

    import CoreData
    @_spi(Stores) import ManagedObjects

    /// Records of one entity as they were read, and what is found out about them before they are written.
    final class RowImportBatch {
        /// A to-one relationship whose other end was not known when it was read.
        struct Waiting {
            var row: Int
            var link: Int
            var digest: KeyDigest
        }

        /// A member of a to-many relationship.
        struct Member {
            var digest: KeyDigest
            var owner: IdentityMap.Owner?
        }

        /// A to-many relationship of a row: its members end where those of the next list begin.
        struct List {
            var row: Int
            var link: Int
            var first: Int
        }

        let entity: RowEntity
        let rows: RowBatch
        /// The number of the first record in the document.
        private(set) var firstRecord = 0
        var waiting: [Waiting] = []
        private(set) var lists: [List] = []
        var members: [Member] = []
        /// For each row its key, once it is known.
        var keys: [Int64] = []
        /// The last key before those of the batch's new rows.
        var firstNewKey: Int64 = 0
        /// For each row that was found, the slots in which it differs.
        var changes: [UInt64] = []
        /// For each row that was found, what its to-one relationships lead to now.
        var references: [Int64] = []

        init(_ entity: RowEntity) {
            self.entity = entity
            rows = entity.table.makeBatch()
        }

        func begin(firstRecord: Int) {
            self.firstRecord = firstRecord
            rows.removeAll()
            waiting.removeAll(keepingCapacity: true)
            lists.removeAll(keepingCapacity: true)
            members.removeAll(keepingCapacity: true)
        }

        func addRow() -> Int { rows.addRow() }

        /// Throws a refusal where the record mentions the relationship twice, once by an earlier name of it.
        func beginList(_ row: Int, link: Int) throws {
            if lists.reversed().prefix(while: { $0.row == row }).contains(where: { $0.link == link }) {
                throw RowRefusal()
            }
            lists.append(List(row: row, link: link, first: members.count))
        }

        /// The members of a list.
        func members(of place: Int) -> Range<Int> {
            lists[place].first..<(place + 1 < lists.count ? lists[place + 1].first : members.count)
        }

        /// Makes room for what is found out.
        func prepare() {
            keys = Array(repeating: 0, count: rows.count)
            changes = Array(repeating: 0, count: rows.count)
            references = Array(repeating: 0, count: rows.count * entity.toOne.count)
        }
    }

    /// A reference to what was neither in the document yet nor in the store.
    struct ForwardReference {
        /// The row that has the relationship.
        var key: Int64
        var entity: RowEntity
        /// The place among the entity's `toOne` or `toMany`.
        var link: Int
        var isToMany: Bool
        var digest: KeyDigest
        /// The number of the record.
        var record: Int
    }

    /// A new row without a required object.
    struct IncompleteRow {
        var key: Int64
        var entity: RowEntity
        var link: Int
        var record: Int
    }

#endif

import Coral
import CoreData
import ManagedObjects
import SQLStores

/// Records of one entity as they were read, and the results of their lookup.
final class RowImportBatch {
    /// A to-one relationship whose destination was not known when it was read.
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
    /// The primary key of each row, once it is known; 0 before.
    var keys: [Int64] = []
    /// The records that are imported through objects, with the reasons.
    private(set) var left: [Int: ObjectsReason] = [:]
    /// The last primary key before those of the batch's new rows.
    var firstNewKey: Int64 = 0
    /// For each matched row, the slots that differ.
    var changes: [UInt64] = []
    /// For each matched row, the current destinations of its to-one relationships.
    var references: [Int64] = []

    init(_ entity: RowEntity) {
        self.entity = entity
        rows = entity.table.makeBatch()
    }

    func begin(firstRecord: Int) {
        self.firstRecord = firstRecord
        removeAll()
    }

    func removeAll() {
        rows.removeAll()
        waiting.removeAll(keepingCapacity: true)
        lists.removeAll(keepingCapacity: true)
        members.removeAll(keepingCapacity: true)
        keys.removeAll(keepingCapacity: true)
        left.removeAll()
    }

    /// Marks a record as one that is imported through objects: it is not written as a row.
    func leave(_ row: Int, because reason: ObjectsReason) {
        left[row] = reason
        waiting.removeAll { $0.row == row }
        if row < keys.count { keys[row] = Self.leftKey }
    }

    /// Whether a record is imported through objects.
    func isLeft(_ row: Int) -> Bool { keys[row] == Self.leftKey }

    private static let leftKey: Int64 = -1

    func addRow() -> Int { rows.addRow() }

    /// Throws `RowImportObstacle` if the record mentions the relationship twice, once by its earlier name.
    func beginList(_ row: Int, link: Int) throws {
        if lists.reversed().prefix(while: { $0.row == row }).contains(where: { $0.link == link }) {
            throw RowImportObstacle(
                "A record mentions \(entity.toMany[link].name) twice.", entity: entity.entity.name,
                property: entity.toMany[link].name)
        }
        lists.append(List(row: row, link: link, first: members.count))
    }

    /// The members of a list.
    func members(of list: Int) -> Range<Int> {
        lists[list].first..<(list + 1 < lists.count ? lists[list + 1].first : members.count)
    }

    /// Allocates the arrays for the results of the lookup.
    func prepare() {
        keys = Array(repeating: 0, count: rows.count)
        for row in left.keys { keys[row] = Self.leftKey }
        changes = Array(repeating: 0, count: rows.count)
        references = Array(repeating: 0, count: rows.count * entity.toOne.count)
    }
}

/// A reference to an object that was found neither in the document so far nor in the store.
struct ForwardReference {
    /// The row that has the relationship.
    var key: Int64
    var entity: RowEntity
    /// The index in the entity's `toOne` or `toMany`.
    var link: Int
    var isToMany: Bool
    var digest: KeyDigest
    /// The number of the record.
    var record: Int
}

import Foundation

/// What the engine asks of a store: rows in, rows out. SQLite and memory answer so; see ``ObjectStore`` for the stores whose
/// classes programs write.
///
/// Calls come on any queue; a store orders its own access. Nothing here knows objects or contexts.
protocol RowStore: AnyObject {
    /// The store's number in its coordinator, from 1: what `ObjectKey.store` holds.
    var number: UInt16 { get set }

    /// The store as a context asks it: another object where answers depend on who asks.
    func answering(_ context: NSManagedObjectContext) -> any RowStore
    /// Whether reading many rows costs less than reading them one by one: rows are then read before they are asked for.
    var readsRowsTogether: Bool { get }

    /// Begins to read a fixed state of the store, which does not block writers. By default the newest state at each reading: a
    /// store of a program's own class has no other.
    func pinGeneration() throws -> StoreGeneration
    /// Runs work whose reads see one state: that of a generation, or else the present one.
    func withGeneration<Result>(
        _ generation: StoreGeneration?, _ body: (StoreGeneration) throws -> Result
    ) throws -> Result

    /// The rows of a query, in its order.
    func rows(matching query: RowQuery, generation: StoreGeneration?) throws -> RowResult
    /// The keys alone, in the query's order.
    func keys(matching query: RowQuery, generation: StoreGeneration?) throws -> [ObjectKey]
    /// How many rows match, offset and limit applied.
    func count(matching query: RowQuery, generation: StoreGeneration?) throws -> Int
    /// Dictionaries of columns and expressions, grouped as the query says: an array of values per result.
    func values(matching query: ValueQuery, generation: StoreGeneration?) throws -> [[Any?]]

    /// The rows with these primary keys in the entity's hierarchy, in any order; absent ones are left out.
    func rows(
        withKeys keys: [Int64], entity: NSEntityDescription, generation: StoreGeneration?
    ) throws -> [RowPage]
    /// The members of a to-many relationship for many owners at once, each owner's members in order; where rows are to be
    /// included, those of members that are known already may be left out.
    func members(
        of relationship: NSRelationshipDescription, owners: [Int64], ownerEntity: NSEntityDescription,
        includesRows: Bool, isKnown: (ObjectKey) -> Bool, generation: StoreGeneration?
    ) throws -> MemberResult

    /// Reserves primary keys for new objects of the entity's hierarchy.
    func reserveKeys(entity: NSEntityDescription, count: Int) throws -> ClosedRange<Int64>
    /// Writes a plan in one transaction: all of it or nothing.
    ///
    /// - Throws: ``SaveConflicts`` when rows have changed since they were read, or break uniqueness constraints;
    ///   nothing is written then.
    func write(_ plan: SavePlan) throws -> SaveOutcome
}

extension RowStore {
    func answering(_ context: NSManagedObjectContext) -> any RowStore { self }

    var readsRowsTogether: Bool { true }

    func pinGeneration() throws -> StoreGeneration { NewestGeneration() }

    func withGeneration<Result>(
        _ generation: StoreGeneration?, _ body: (StoreGeneration) throws -> Result
    ) throws -> Result {
        try body(generation ?? pinGeneration())
    }

    /// The members for a caller who knows no rows yet.
    func members(
        of relationship: NSRelationshipDescription, owners: [Int64], ownerEntity: NSEntityDescription,
        includesRows: Bool, generation: StoreGeneration?
    ) throws -> MemberResult {
        try members(
            of: relationship, owners: owners, ownerEntity: ownerEntity, includesRows: includesRows,
            isKnown: { _ in false }, generation: generation)
    }
}

/// A state of a store held for reading. Letting it go ends it.
protocol StoreGeneration: AnyObject {}

/// The state of a store that holds none: whatever is newest at each reading.
final class NewestGeneration: StoreGeneration {}

/// What to fetch: the parts of a fetch request that a store answers.
struct RowQuery {
    var entity: NSEntityDescription
    var includesSubentities = true
    /// Must be something that the store can say: see `canEvaluate(_:)` of the store's query compiler.
    var predicate: NSPredicate?
    var sortDescriptors: [NSSortDescriptor] = []
    var offset = 0
    /// 0 is no limit.
    var limit = 0
    /// The fetch request that the query is part of, for stores that are given whole requests.
    var request: FetchSpecification?
}

/// Rows of a query: pages by leaf entity, and the order in which their rows came.
struct RowResult {
    struct Position {
        var page: Int32
        var row: Int32
    }

    var pages: [RowPage] = []
    var order: ContiguousArray<Position> = []
}

/// A query for dictionaries: columns, aggregates and expressions.
struct ValueQuery {
    var query: RowQuery
    /// Property names, `NSPropertyDescription`s or `NSExpressionDescription`s, resolved.
    var columns: [NSPropertyDescription]
    var groupBy: [NSPropertyDescription] = []
    var having: NSPredicate?
    var isDistinct = false
}

/// The members of a to-many relationship of several owners.
struct MemberResult {
    /// The members' keys, owner after owner as they were asked for.
    var members: ContiguousArray<ObjectKey> = []
    /// Where each owner's members begin in `members`; one more than owners.
    var starts: ContiguousArray<Int32> = [0]
    /// Positions in an ordered relationship that is kept in pairs, parallel to `members`; else empty.
    var positions: ContiguousArray<Int64> = []
    /// The members' rows, where they were asked for.
    var pages: [RowPage] = []
    /// Where each member's row lies in `pages`, parallel to `members`; empty where rows were not asked for, or were left
    /// out for members that the caller knows.
    var rows: ContiguousArray<RowResult.Position> = []
}

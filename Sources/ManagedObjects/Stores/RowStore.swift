import Foundation
import FoundationAdditions
import PredicateLanguage
import StoreSupport

/// The interface of a store to the engine, in terms of rows. SQLite stores and stores in memory implement it; see
/// ``ObjectStore`` for stores whose classes are part of a program.
///
/// Calls come from any queue; a store synchronises its own access. Stores have no access to objects or contexts.
package protocol RowStore: PlanTarget {
    var number: UInt16 { get set }

    /// The store itself if it executes batch requests, otherwise nil. A property is read in a step, where a cast to a protocol
    /// that the class does not have searches all conformances of the program, some sixty microseconds.
    var batchStore: (any BatchStore)? { get }
    /// The store itself if it is written by objects, otherwise nil.
    var objectStore: (any ObjectStore)? { get }

    /// Reads the content of a store whose rows are in memory. Called once, after the metadata have been read and the store has its
    /// number.
    func loadContent() throws
    /// Changes the location of later saves; false if the store does not support it.
    func move(to url: URL) -> Bool

    /// Whether the rows are in memory, so that predicates with a program's own code are evaluated, and transformable values that
    /// cannot be encoded are kept as they are, as in Core Data.
    var hasRowsInMemory: Bool { get }

    /// The store that answers the requests of a context: a different instance if answers depend on the context.
    func answering(_ context: NSManagedObjectContext) -> any RowStore
    /// Whether reading many rows together is cheaper than one by one: rows are then read ahead.
    var readsRowsTogether: Bool { get }
    /// The maximum number of faults by ID whose rows are read with one statement: higher if a statement is expensive.
    var faultBatchLimit: Int { get }

    /// Whether a save reserves the keys of new objects in the transaction in which it writes them: where others could not write
    /// at that time anyway.
    var reservesKeysInTransaction: Bool { get }

    /// Pins the present state of the store for reading, without blocking writers. By default each read returns the
    /// newest state: stores of a program's own class have no other.
    func pinGeneration() throws -> StoreGeneration
    /// Pins a state on another server, if the store can.
    func pinGeneration(from source: GenerationSource) throws -> StoreGeneration
    /// Runs work whose reads use one state: that of a generation, otherwise the present one.
    func withGeneration<Result>(
        _ generation: StoreGeneration?, _ body: (StoreGeneration) throws -> Result
    ) throws -> Result

    /// Runs work in a transaction in which conflicts are resolved; it is committed when the work ends, and rolled back if that
    /// throws. The work is repeated if a server has ended the transaction because of others.
    func inSaveTransaction<Result>(_ body: (any SaveTransaction) throws -> Result) throws -> Result

    /// The rows of a query, in its order.
    func rows(matching query: RowQuery, generation: StoreGeneration?) throws -> RowResult
    /// The keys only, in the query's order.
    func keys(matching query: RowQuery, generation: StoreGeneration?) throws -> [ObjectKey]
    /// The number of matching rows, with offset and limit applied.
    func count(matching query: RowQuery, generation: StoreGeneration?) throws -> Int
    /// Dictionaries of columns and expressions, grouped according to the query.
    func dictionaries(matching query: ValueQuery, generation: StoreGeneration?) throws -> [NSDictionary]

    /// The rows with primary keys in the entity's hierarchy, in any order; missing rows are omitted.
    func rows(
        withKeys keys: [Int64], entity: NSEntityDescription, generation: StoreGeneration?
    ) throws -> [RowPage]
    /// The members of a to-many relationship for many owners, each owner's members in order. If rows are included,
    /// those of already known members may be omitted.
    func members(
        of relationship: NSRelationshipDescription, owners: [Int64], ownerEntity: NSEntityDescription,
        includesRows: Bool, isKnown: (ObjectKey) -> Bool, generation: StoreGeneration?
    ) throws -> MemberResult
}

extension RowStore {
    package var batchStore: (any BatchStore)? { nil }
    package var objectStore: (any ObjectStore)? { nil }

    package func loadContent() throws {}
    package func move(to url: URL) -> Bool { false }
    package var hasRowsInMemory: Bool { false }

    package func answering(_ context: NSManagedObjectContext) -> any RowStore { self }

    package var readsRowsTogether: Bool { true }
    package var faultBatchLimit: Int { 256 }
    package var reservesKeysInTransaction: Bool { false }

    package func pinGeneration() throws -> StoreGeneration { NewestGeneration() }

    package func pinGeneration(from source: GenerationSource) throws -> StoreGeneration { try pinGeneration() }

    package func withGeneration<Result>(
        _ generation: StoreGeneration?, _ body: (StoreGeneration) throws -> Result
    ) throws -> Result {
        try body(generation ?? pinGeneration())
    }

    /// The members for a caller that has no rows yet.
    package func members(
        of relationship: NSRelationshipDescription, owners: [Int64], ownerEntity: NSEntityDescription,
        includesRows: Bool, generation: StoreGeneration?
    ) throws -> MemberResult {
        try members(
            of: relationship, owners: owners, ownerEntity: ownerEntity, includesRows: includesRows,
            isKnown: { _ in false }, generation: generation)
    }
}

/// A state of a store that is pinned for reading until it is deallocated.
package protocol StoreGeneration: AnyObject {}

/// The generation of a store that cannot pin a state: each read returns the newest state.
final class NewestGeneration: StoreGeneration {}

/// The parts of a fetch request that a store evaluates.
package struct RowQuery {
    package var entity: NSEntityDescription
    package var includesSubentities = true
    /// Must be supported by the store: see `canEvaluate(_:)` of the store's query compiler.
    package var predicate: NSPredicate?
    /// A predicate that is evaluated on the rows in memory. A store may omit rows that do not satisfy it.
    package var expectation: NSPredicate?
    package var sortDescriptors: [NSSortDescriptor] = []
    package var offset = 0
    /// 0 means no limit.
    package var limit = 0
    /// The keys of rows that are not part of the result; those of other stores have no effect.
    package var excluded: [ObjectKey] = []
    /// The fetch request of the query, for stores that receive whole requests.
    package var request: FetchSpecification?

    package init(
        entity: NSEntityDescription, includesSubentities: Bool = true, predicate: NSPredicate? = nil,
        expectation: NSPredicate? = nil, sortDescriptors: [NSSortDescriptor] = [], offset: Int = 0, limit: Int = 0,
        excluded: [ObjectKey] = [], request: FetchSpecification? = nil
    ) {
        self.entity = entity
        self.includesSubentities = includesSubentities
        self.predicate = predicate
        self.expectation = expectation
        self.sortDescriptors = sortDescriptors
        self.offset = offset
        self.limit = limit
        self.excluded = excluded
        self.request = request
    }
}

extension RowQuery {
    /// The index of the entity in the model.
    package var entityIndex: Int { entity.index }
}

/// The rows of a query: pages by leaf entity, and the order of the rows.
package struct RowResult {
    package struct Position {
        package var page: Int32
        package var row: Int32

        @inlinable
        package init(page: Int32, row: Int32) {
            self.page = page
            self.row = row
        }
    }

    package var pages: [RowPage] = []
    package var order: ContiguousArray<Position> = []

    package init(pages: [RowPage] = [], order: ContiguousArray<Position> = []) {
        self.pages = pages
        self.order = order
    }
}

/// A query for dictionaries: columns, aggregates and expressions.
package struct ValueQuery {
    package var query: RowQuery
    /// Property names, `NSPropertyDescription`s or `NSExpressionDescription`s, resolved.
    package var columns: [NSPropertyDescription]
    package var groupBy: [NSPropertyDescription] = []
    package var having: NSPredicate?
    package var isDistinct = false

    package init(
        query: RowQuery, columns: [NSPropertyDescription], groupBy: [NSPropertyDescription] = [],
        having: NSPredicate? = nil, isDistinct: Bool = false
    ) {
        self.query = query
        self.columns = columns
        self.groupBy = groupBy
        self.having = having
        self.isDistinct = isDistinct
    }
}

extension ValueQuery {
    /// A column as a store reads it.
    package struct Column {
        package enum Source {
            /// The property with the column's name.
            case property
            /// Nil if the column's expression is missing.
            case expression(ExpressionNode?)
        }

        package let name: String
        package let source: Source
        /// The type of the result; nil for a to-one relationship, and if the type is that of the expression's value.
        package let kind: EntityLayout.Slot.Kind?

        package init(_ column: NSPropertyDescription) {
            name = column.name
            switch column {
            case let computed as NSExpressionDescription:
                source = .expression(computed.expression?.node)
                let type = EntityLayout.Slot.Kind(ofResult: computed.expressionResultType)
                kind = type == .undefined ? nil : type
            default:
                source = .property
                kind = (column as? NSAttributeDescription).map { EntityLayout.Slot.Kind($0.attributeType) }
            }
        }
    }
}

/// The results of a query for dictionaries, made from the values of one row after the other.
package struct RowDictionaries {
    package private(set) var dictionaries: [NSDictionary] = []
    private let names: [NSString]
    // With Foundation's objects as keys and values: setting them one by one casts and boxes each, which takes more than twice the time.
    private var keys: [NSObject] = []
    private var objects: [AnyObject] = []

    package init(of query: ValueQuery) {
        names = query.columns.map { NSString(string: $0.name) }
    }

    /// Sets the value of a column in the row that ``endRow()`` ends.
    package mutating func set(_ object: AnyObject, column: Int) {
        keys.append(names[column])
        objects.append(object)
    }

    package mutating func endRow() {
        dictionaries.append(NSMutableDictionary(objects: objects, forKeys: keys, count: objects.count))
        keys.removeAll(keepingCapacity: true)
        objects.removeAll(keepingCapacity: true)
    }

    /// Adds the dictionary of a row whose values have the types of key-value coding.
    package mutating func append(_ values: [Any?]) {
        for (column, value) in values.enumerated() {
            if let value { set(Self.object(of: value), column: column) }
        }
        endRow()
    }

    /// The object in which Foundation keeps a value of a dictionary.
    package static func object(of value: Any) -> AnyObject {
        if let text = value as? String { return NSString(string: text) }
        return (value as? NSNumber) ?? (value as AnyObject)
    }
}

/// The members of a to-many relationship of several owners.
package struct MemberResult {
    /// The members' keys, in the order of the requested owners.
    package var members: ContiguousArray<ObjectKey> = []
    /// The start of each owner's members in `members`; one more than the number of owners.
    package var starts: ContiguousArray<Int32> = [0]
    /// Positions in an ordered relationship that is stored as pairs, parallel to `members`; otherwise empty.
    package var positions: ContiguousArray<Int64> = []
    /// The members' rows, if requested.
    package var pages: [RowPage] = []
    /// The position of each member's row in `pages`, parallel to `members`; empty if rows were not requested, or were
    /// omitted for members that the caller already has.
    package var rows: ContiguousArray<RowResult.Position> = []

    package init(
        members: ContiguousArray<ObjectKey> = [], starts: ContiguousArray<Int32> = [0],
        positions: ContiguousArray<Int64> = [], pages: [RowPage] = [], rows: ContiguousArray<RowResult.Position> = []
    ) {
        self.members = members
        self.starts = starts
        self.positions = positions
        self.pages = pages
        self.rows = rows
    }
}

extension MemberResult {
    /// Appends the members of another owner.
    package mutating func append(_ keys: some Sequence<ObjectKey>, to toMany: EntityLayout.ToMany) {
        let isInPairs = if case .pairs = toMany.storage { true } else { false }
        for (index, key) in keys.enumerated() {
            members.append(key)
            if isInPairs, toMany.isOrdered { positions.append(OrderedPositions.position(ofMember: index)) }
        }
        starts.append(Int32(truncatingIfNeeded: members.count))
    }
}

/// A store that can change many rows in one request, without objects.
package protocol BatchStore: RowStore {
    /// Executes a batch insert, update or delete in one transaction.
    ///
    /// - Returns: Nil if the store's configuration does not contain the entity.
    func executeBatch(
        _ request: NSPersistentStoreRequest, for context: NSManagedObjectContext
    ) throws -> NSPersistentStoreResult?
}

extension BatchStore {
    package var batchStore: (any BatchStore)? { self }
}

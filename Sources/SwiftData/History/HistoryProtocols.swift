import Foundation

/// A position in the history of stores.
public protocol HistoryToken: Comparable, Decodable, Encodable, Hashable, Identifiable, Sendable {
    associatedtype TokenType: Decodable, Encodable, Hashable, Sendable
    var tokenValue: TokenType? { get }
}

/// One save, as the history keeps it.
public protocol HistoryTransaction: Hashable, Identifiable, Sendable {
    associatedtype TokenType: Comparable, Hashable, Identifiable, Sendable
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
    var author: String? { get }
    var changes: [HistoryChange] { get }
    var storeIdentifier: String { get }
    var timestamp: Date { get }
    var token: TokenType { get }
    var transactionIdentifier: TransactionIdentifier { get }
}

/// One change of one model.
public enum HistoryChange: Sendable {
    case insert(any HistoryInsert)
    case update(any HistoryUpdate)
    case delete(any HistoryDelete)

    /// The identifier of the model.
    public var changedPersistentIdentifier: PersistentIdentifier {
        switch self {
        case .insert(let change): change.changedPersistentIdentifier
        case .update(let change): change.changedPersistentIdentifier
        case .delete(let change): change.changedPersistentIdentifier
        }
    }
}

/// The insertion of a model.
public protocol HistoryInsert<Model>: Sendable {
    associatedtype Model: PersistentModel
    associatedtype ChangeIdentifier: Comparable, Hashable, Sendable
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
    var changeIdentifier: ChangeIdentifier { get }
    var changedPersistentIdentifier: PersistentIdentifier { get }
    var transactionIdentifier: TransactionIdentifier { get }
}

/// The update of a model.
public protocol HistoryUpdate<Model>: Sendable {
    associatedtype Model: PersistentModel
    associatedtype ChangeIdentifier: Comparable, Hashable, Sendable
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
    typealias PropertyUpdate = PartialKeyPath<Model> & Sendable
    var changeIdentifier: ChangeIdentifier { get }
    var changedPersistentIdentifier: PersistentIdentifier { get }
    var transactionIdentifier: TransactionIdentifier { get }
    /// The key paths of the changed properties.
    var updatedAttributes: [any PartialKeyPath<Model> & Sendable] { get }
}

/// The deletion of a model.
public protocol HistoryDelete<Model>: Sendable {
    associatedtype Model: PersistentModel
    associatedtype ChangeIdentifier: Comparable, Hashable, Sendable
    associatedtype TransactionIdentifier: Comparable, Hashable, Sendable
    var changeIdentifier: ChangeIdentifier { get }
    var changedPersistentIdentifier: PersistentIdentifier { get }
    var transactionIdentifier: TransactionIdentifier { get }
    /// The values of the properties with the option `.preserveValueOnDeletion`.
    var tombstone: HistoryTombstone<Model> { get }
}

/// The values of a deleted model that the history has preserved.
public struct HistoryTombstone<Model: PersistentModel>: Sequence,
    @unchecked Sendable  // because the values are not changed
{
    public typealias Element = Any
    private let values: [(keyPath: AnyKeyPath, value: any Sendable)]

    init(_ values: [(keyPath: AnyKeyPath, value: any Sendable)]) { self.values = values }

    /// The preserved value of a property; nil if it was not preserved.
    public subscript(keyPath: PartialKeyPath<Model>) -> (any Sendable)? {
        if let value = values.first(where: { $0.keyPath == keyPath })?.value { return value }
        // An inherited property has the superclass as root where the values are, and the class itself in the program.
        let other = ModelClass.of(Model.self).property(keyPath)?.keyPath
        return other.flatMap { other in values.first { $0.keyPath == other }?.value }
    }

    public func makeIterator() -> Iterator { Iterator(values: values.map(\.value).makeIterator()) }

    public struct Iterator: IteratorProtocol {
        public typealias Element = Any
        fileprivate var values: IndexingIterator<[any Sendable]>
        public mutating func next() -> Any? { values.next() }
    }
}

/// Which transactions to fetch or to delete.
///
/// The predicate may compare `token`, `author`, `timestamp`, `transactionIdentifier` and every other property: it is evaluated in
/// memory, after the store has left out what a comparison with `token` excludes.
public struct HistoryDescriptor<TransactionType: HistoryTransaction> {
    public var predicate: Predicate<TransactionType>?
    /// The order; by default the order in which the transactions were written.
    public var sortBy: [SortDescriptor<TransactionType>] = []
    /// The largest number of transactions; 0 means all.
    public var fetchLimit: UInt64 = 0

    public init(predicate: Predicate<TransactionType>? = nil) { self.predicate = predicate }

    public init(predicate: Predicate<TransactionType>? = nil, sortBy: [SortDescriptor<TransactionType>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}

/// A store with a history.
public protocol HistoryProviding {
    associatedtype HistoryType: HistoryTransaction
    static var historyType: HistoryType.Type { get }
    func fetchHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws -> [HistoryType]
    func deleteHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws
}

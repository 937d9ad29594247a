import Foundation

/// Which models to fetch, in which order, and how many.
///
/// ```swift
/// var descriptor = FetchDescriptor<Trip>(
///     predicate: #Predicate { $0.days > 3 }, sortBy: [SortDescriptor(\.name)])
/// descriptor.fetchLimit = 10
/// let trips = try context.fetch(descriptor)
/// ```
public struct FetchDescriptor<T: PersistentModel>: @unchecked Sendable {
    // Unchecked, because of the key paths: they name properties of models and capture nothing, but their type does not say so.
    /// The condition; nil means all models.
    public var predicate: Predicate<T>?
    public var sortBy: [SortDescriptor<T>]
    public var fetchLimit: Int?
    public var fetchOffset: Int?
    /// Whether unsaved changes count; true by default.
    public var includePendingChanges = true
    /// The attributes to load at once; empty means all. The others are loaded when they are read.
    public var propertiesToFetch: [PartialKeyPath<T>] = []
    /// The relationships whose objects are loaded with the models.
    public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []

    public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}

/// The result of a fetch in batches: an array whose elements are loaded when they are read.
public struct FetchResultsCollection<Element>: RandomAccessCollection {
    public typealias Index = Int
    public typealias Indices = Range<Int>
    public typealias SubSequence = Slice<FetchResultsCollection<Element>>
    public typealias Iterator = IndexingIterator<FetchResultsCollection<Element>>

    public let endIndex: Int
    private let element: (Int) -> Element

    public var startIndex: Int { 0 }

    init(count: Int, element: @escaping (Int) -> Element) {
        endIndex = count
        self.element = element
    }

    public subscript(position: Int) -> Element {
        precondition(position >= 0 && position < endIndex, "The index \(position) is outside of \(endIndex) results.")
        return element(position)
    }
}

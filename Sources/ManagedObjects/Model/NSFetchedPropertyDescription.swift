import Foundation

/// A property whose value is the result of a fetch request.
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {  // because its superclass is
    /// The request. In its predicate `$FETCH_SOURCE` is the object and `$FETCHED_PROPERTY` this description.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? { willSet { requireEditable() } }

    /// Creates a fetched property without a request.
    public required init() {
        super.init()
        isTransient = true
    }

    public required init?(coder: NSCoder) { super.init(coder: coder) }

    internal override func assign(from original: NSPropertyDescription) {
        super.assign(from: original)
        guard let original = original as? NSFetchedPropertyDescription else { return }
        fetchRequest = original.fetchRequest?.copy() as? NSFetchRequest<any NSFetchRequestResult>
    }
}

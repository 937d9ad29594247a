import Foundation

/// The collections of large to-many relationships that were created last.
///
/// Key-value coding returns a set of all members. A loop that asks for the same large relationship at each step gets the
/// same set as long as the relationship is unchanged, so that a step does not cost one for each member. Collections keep
/// their members in memory, so the context releases them when it releases objects.
struct RecentCollections {
    /// The form of a collection; the same relationship may have one of each.
    enum Form { case fixed, mutable }

    /// The state of a relationship from which a collection was created.
    enum Origin {
        case run(MemberBatch.Run)
        case state(ToManyState, revision: Int)

        fileprivate func isSame(as other: Origin) -> Bool {
            switch (self, other) {
            case (.run(let one), .run(let other)): one.isSame(as: other)
            case (.state(let one, let revision), .state(let other, let otherRevision)):
                one === other && revision == otherRevision
            default: false
            }
        }
    }

    private struct Entry {
        var owner: NSManagedObject
        var index: Int
        var form: Form
        var origin: Origin
        var collection: NSObject
    }

    /// The number of members from which a collection is kept.
    static let fewestMembers = 64
    /// The number of collections that are kept.
    private static let limit = 4
    private var entries: [Entry] = []

    /// The collection of a relationship, if it was created from the same state.
    func collection(of owner: NSManagedObject, at index: Int, _ form: Form, origin: Origin) -> NSObject? {
        entries.first {
            $0.owner === owner && $0.index == index && $0.form == form && $0.origin.isSame(as: origin)
        }?.collection
    }

    mutating func keep(
        _ collection: NSObject, of owner: NSManagedObject, at index: Int, _ form: Form, origin: Origin
    ) {
        entries.removeAll { $0.owner === owner && $0.index == index && $0.form == form }
        if entries.count == Self.limit { entries.removeFirst() }
        entries.append(Entry(owner: owner, index: index, form: form, origin: origin, collection: collection))
    }

    mutating func removeAll() {
        if !entries.isEmpty { entries = [] }
    }
}

extension NSManagedObject {
    /// The state of a to-many relationship's members, which are loaded if necessary; nil if there are too few for a
    /// collection to be kept.
    private final func collectionOrigin(at index: Int) -> RecentCollections.Origin? {
        if let run = currentRun(at: index) {
            return run.count < RecentCollections.fewestMembers ? nil : .run(run)
        }
        let state = loadedToManyState(at: index)
        return state.count < RecentCollections.fewestMembers ? nil : .state(state, revision: state.revision)
    }

    /// The collection of a relationship's members that was created last, if the relationship is unchanged; else a new one.
    final func recentCollection<Collection: NSObject>(
        at index: Int, _ form: RecentCollections.Form, create: () -> Collection
    ) -> Collection {
        guard let context, let origin = collectionOrigin(at: index) else { return create() }
        let kept = context.recentCollections.collection(of: self, at: index, form, origin: origin)
        if let kept = kept as? Collection { return kept }
        let collection = create()
        context.recentCollections.keep(collection, of: self, at: index, form, origin: origin)
        return collection
    }

    /// Keeps a mutable collection for the state after a change that the collection itself has made.
    final func keepCollection(_ collection: NSObject, at index: Int) {
        guard let context, let origin = collectionOrigin(at: index) else { return }
        context.recentCollections.keep(collection, of: self, at: index, .mutable, origin: origin)
    }
}

import CoreData

/// The result of copying: a map from originals to copies.
///
///     let copies = try GraphCopier().copy(notes)
///     copies[note]
///
/// Contains the copies, and the IDs of the originals. Belongs to the queue of the copies' context.
public struct CopyMap: Sequence {
    /// The copies of the requested objects, in their order.
    public let roots: [NSManagedObject]
    /// Links that were omitted although no rule requires it.
    public let omissions: CountedEntries<CopyOmission>
    /// Properties, as `Entity.property`, that the copies' model does not have.
    package let missingProperties: [String]

    private let originals: [NSManagedObjectID]
    private let copies: [NSManagedObject]
    private let index: ObjectIDTable<Int>
    /// Unsaved originals, by object identity, because their IDs change when they are saved.
    private let unsaved: [ObjectIdentifier: (original: NSManagedObject, index: Int)]

    init(
        originals: [NSManagedObjectID], copies: [NSManagedObject], index: ObjectIDTable<Int>,
        unsaved: [(NSManagedObject, Int)], roots: [NSManagedObject], omissions: CountedEntries<CopyOmission>,
        missingProperties: Set<String>
    ) {
        self.originals = originals
        self.copies = copies
        self.index = index
        self.unsaved = Dictionary(
            unsaved.map { (ObjectIdentifier($0), ($0, $1)) }, uniquingKeysWith: { first, _ in first })
        self.roots = roots
        self.omissions = omissions
        self.missingProperties = missingProperties.sorted()
    }

    /// The number of objects that were copied.
    public var count: Int { originals.count }

    /// The copy of an object; nil if it was not copied, or the copy has another class. Cost: O(1).
    public subscript<Object: NSManagedObject>(original: Object) -> Object? {
        (unsaved[ObjectIdentifier(original)]?.index ?? index[original.objectID]).flatMap { copies[$0] as? Object }
    }

    /// The copy of the object that had this ID when it was copied; nil if it was not copied. Cost: O(1).
    public subscript(id: NSManagedObjectID) -> NSManagedObject? {
        index[id].map { copies[$0] }
    }

    /// The current IDs of originals and copies: those of unsaved copies are temporary.
    public var objectIDs: [NSManagedObjectID: NSManagedObjectID] {
        Dictionary(map { ($0.original, $0.copy.objectID) }, uniquingKeysWith: { first, _ in first })
    }

    /// The originals' IDs and the copies, in the order of the walk.
    public func makeIterator() -> AnyIterator<(original: NSManagedObjectID, copy: NSManagedObject)> {
        var pairs = zip(originals, copies).makeIterator()
        return AnyIterator { pairs.next().map { (original: $0.0, copy: $0.1) } }
    }
}

import CoreDataErrors
import Foundation

/// The objects of a fetch, which are created batch by batch when they are asked for. An addition to Core Data's API.
///
/// ```swift
/// let notes = try context.fetch(Note.fetchRequest(), batchSize: 100)
/// print(notes.count)
/// for note in notes { print(note.title ?? "") }
/// ```
///
/// The fetch reads the keys of the results, and keeps sixteen bytes for each. The first element of a batch that is asked for costs an
/// object for each element of the batch; the first value that is read costs one statement for the rows of the batch. The four batches
/// that were used last are kept. Objects of other batches are released, unless the program keeps or has changed them.
///
/// An array with ``NSFetchRequest/fetchBatchSize`` creates an object for each result at once, because a Swift array contains its
/// elements. In a child context, and where a store reads all rows itself, this collection contains such an array.
///
/// Use it on the queue of its context.
public struct FetchedBatches<Element: NSManagedObject>: RandomAccessCollection {
    public typealias Index = Int
    public typealias Indices = Range<Int>
    public typealias SubSequence = Slice<FetchedBatches<Element>>
    public typealias Iterator = IndexingIterator<FetchedBatches<Element>>

    private let objects: BatchedObjects

    fileprivate init(_ objects: BatchedObjects) { self.objects = objects }

    public var startIndex: Int { 0 }
    public var endIndex: Int { objects.count }

    public subscript(position: Int) -> Element {
        precondition(position >= 0 && position < endIndex, "The index \(position) is outside of \(endIndex) results.")
        // The classes of the entities have been checked by the fetch.
        return unsafeDowncast(objects.object(at: position), to: Element.self)
    }
}

extension NSManagedObjectContext {
    /// The objects that a request describes, created batch by batch when they are asked for: one statement for the keys.
    ///
    /// - Parameter batchSize: The number of objects in a batch; that of the request has no effect.
    /// - Throws: The errors of `fetch(_:)`, and code 134060 if the objects are not of the request's class or the request asks for
    ///   results of another kind.
    public func fetch<T: NSManagedObject>(_ request: NSFetchRequest<T>, batchSize: Int) throws -> FetchedBatches<T> {
        checkQueue()
        var specification = request.specification
        specification.fetchBatchSize = Swift.max(batchSize, 1)
        guard specification.resultType == .managedObjectResultType else {
            throw CocoaError(
                .coreData, userInfo: [NSLocalizedDescriptionKey: "Only objects can be fetched in batches."])
        }
        if isOfSubclass {
            // The subclass may override the fetch.
            let sized = NSFetchRequest<T>(specification: specification)
            return FetchedBatches(BatchedObjects(all: try fetch(sized)))
        }
        let objects = try batchedObjects(specification)
        guard objects.entity?.withSubentities.allSatisfy({ $0.layout.objectClass is T.Type }) ?? true else {
            throw CocoaError(
                .coreData,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "The objects of “\(objects.entity?.name ?? "")” are not of the class \(T.self)."
                ])
        }
        return FetchedBatches(objects)
    }
}

/// Objects by their position in a result.
package final class BatchedObjects {
    private enum Content {
        /// The context is retained, as an array of objects retains it by its objects.
        case keys(FetchBatches, origin: RowPage, NSManagedObjectContext)
        case all([NSManagedObject])
    }

    private let content: Content
    /// The fetched entity; nil if the classes of the objects are known.
    fileprivate let entity: NSEntityDescription?
    /// The results that the store does not have yet. They are kept, because a rollback ends their registration.
    private let unsaved: [ObjectKey: NSManagedObject]
    /// The objects of the batches that were used last, the latest at the end.
    private var recent: [(batch: Int, objects: [NSManagedObject])] = []

    init(all objects: [NSManagedObject], of entity: NSEntityDescription? = nil) {
        content = .all(objects)
        unsaved = [:]
        self.entity = entity
    }

    init(_ fetched: FetchBatches, in context: NSManagedObjectContext) {
        content = .keys(fetched, origin: RowPage(fetched: fetched, layout: fetched.entity.layout), context)
        unsaved = fetched.keys.reduce(into: [:]) { unsaved, key in
            if key.isTemporary { unsaved[key] = context.registeredObject(for: key) }
        }
        entity = fetched.entity
    }

    package var count: Int {
        switch content {
        case .keys(let fetched, _, _): fetched.keys.count
        case .all(let objects): objects.count
        }
    }

    package func object(at position: Int) -> NSManagedObject {
        switch content {
        case .all(let objects): return objects[position]
        case .keys(let fetched, let origin, let context):
            let batch = fetched.batch(of: position)
            let offset = position - batch * fetched.size
            if let last = recent.last, last.batch == batch { return last.objects[offset] }
            let objects: [NSManagedObject]
            if let known = recent.firstIndex(where: { $0.batch == batch }) {
                objects = recent.remove(at: known).objects
            } else {
                if recent.count == FetchBatches.recentLimit { recent.removeFirst() }
                objects = fetched.positions(inBatch: batch).map { position in
                    unsaved[fetched.keys[position]]
                        ?? context.object(at: position, of: fetched, origin: origin, isYoung: true)
                }
            }
            recent.append((batch, objects))
            return objects[offset]
        }
    }
}

import CoreData
import Foundation
import OpenCombine

// Publishers of Core Data: the changes of a managed object, the values of its property, and the results of a fetch.

extension NSManagedObject: @retroactive ObservableObject {
    /// Publishes before a property of the object is set, and after a merge or a refresh has given it other values. The same publisher
    /// each time. Ask for it on the queue of the object's context.
    public var objectWillChange: ObservableObjectPublisher { ObjectPublishers.shared.publisher(of: self) }
}

/// The publishers of objects that have been asked for theirs.
private final class ObjectPublishers: @unchecked Sendable {  // because every access holds the lock
    static let shared = ObjectPublishers()

    private struct Entry {
        weak var object: NSManagedObject?
        let publisher: ObservableObjectPublisher
        let observation: NSKeyValueObservation
    }

    private let lock = NSLock()
    private var entries: [ObjectIdentifier: Entry] = [:]
    /// The number of entries at which those of deallocated objects are removed.
    private var limit = 64

    func publisher(of object: NSManagedObject) -> ObservableObjectPublisher {
        lock.withLock {
            let id = ObjectIdentifier(object)
            // A deallocated object may have had the same address.
            if let entry = entries[id], entry.object === object { return entry.publisher }
            if entries.count >= limit {
                entries = entries.filter { $1.object != nil }
                limit = max(64, 2 * entries.count)
            }
            let publisher = ObservableObjectPublisher()
            let observation = object.observeChanges { _ in publisher.send() }
            entries[id] = Entry(object: object, publisher: publisher, observation: observation)
            return publisher
        }
    }
}

extension KeyValueObservable where Self: NSManagedObject {
    /// A publisher of the values of a property, starting with the current one unless the options say otherwise. Subscribe on the
    /// queue of the object's context; values are published there.
    ///
    /// - Parameter keyPath: A property that has a name; see `KeyPathRegistry`.
    public func publisher<Value>(
        for keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [.initial, .new]
    ) -> ManagedObjectPublisher<Self, Value> {
        ManagedObjectPublisher(object: self, keyPath: keyPath, options: options)
    }
}

/// The publisher of the values of a managed object's property.
public struct ManagedObjectPublisher<Object: NSManagedObject, Value>: Publisher {
    public typealias Output = Value
    public typealias Failure = Never

    /// The object, which the publisher and its subscriptions retain.
    public let object: Object
    /// The property.
    public let keyPath: KeyPath<Object, Value>
    /// Whether the current value is published first.
    public let options: NSKeyValueObservingOptions

    public func receive<S: Subscriber>(subscriber: S) where S.Input == Value, S.Failure == Never {
        let subject = PassthroughSubject<Value, Never>()
        let observation = object.observe(keyPath, options: options.subtracting(.initial)) { object, _ in
            subject.send(object[keyPath: keyPath])
        }
        let end = { observation.invalidate() }
        if options.contains(.initial) {
            subject.prepend(object[keyPath: keyPath]).handleEvents(receiveCancel: end).buffer(
                size: .max, prefetch: .keepFull, whenFull: .dropOldest
            ).receive(subscriber: subscriber)
        } else {
            subject.handleEvents(receiveCancel: end).buffer(size: .max, prefetch: .keepFull, whenFull: .dropOldest)
                .receive(subscriber: subscriber)
        }
    }
}

extension NSManagedObjectContext {
    /// A publisher of the results of a request: first those of a fetch, then the new ones whenever objects of the context have
    /// changed them. Subscribe on the queue of the context; results are published there.
    ///
    /// An addition to Core Data's API, instead of a delegate of `NSFetchedResultsController`, which it uses: the request needs a sort
    /// descriptor. A fetch that fails ends the publisher with its error.
    public func publisher<Object: NSManagedObject>(for request: NSFetchRequest<Object>) -> FetchedObjectsPublisher<
        Object
    > {
        FetchedObjectsPublisher(request: request, context: self)
    }
}

/// The publisher of the results of a request.
public struct FetchedObjectsPublisher<Object: NSManagedObject>: Publisher {
    public typealias Output = [Object]
    public typealias Failure = any Error

    /// The request.
    public let request: NSFetchRequest<Object>
    /// The context whose objects are published.
    public let context: NSManagedObjectContext

    public func receive<S: Subscriber>(subscriber: S) where S.Input == [Object], S.Failure == any Error {
        let controller = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        let results = CurrentValueSubject<[Object], any Error>([])
        let follower = Follower { [weak controller] in results.send(controller?.fetchedObjects ?? []) }
        controller.delegate = follower
        do {
            try controller.performFetch()
            results.value = controller.fetchedObjects ?? []
        } catch {
            results.send(completion: .failure(error))
        }
        // The subscription retains both: a controller does not retain its delegate.
        results.handleEvents(receiveCancel: {
            withExtendedLifetime((controller, follower)) { controller.delegate = nil }
        })
        .receive(subscriber: subscriber)
    }

    private final class Follower: NSObject, NSFetchedResultsControllerDelegate {
        private let changed: () -> Void
        init(_ changed: @escaping () -> Void) { self.changed = changed }
        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
            changed()
        }
    }
}

import Combine
import CoreData
import Testing

@Suite struct CombineTests {
    private func context() throws -> NSManagedObjectContext {
        let title = NSAttributeDescription()
        title.name = "title"
        title.attributeType = .stringAttributeType
        let entity = NSEntityDescription()
        entity.name = "Note"
        entity.managedObjectClassName = NSStringFromClass(Note.self)
        entity.properties = [title]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    final class Note: NSManagedObject {
        var title: String? {
            get { value(forKey: "title") as? String }
            set { setValue(newValue, forKey: "title") }
        }

        override class func registerKeyPaths() { KeyPathRegistry.register(\Note.title, as: "title") }
    }

    /// https://developer.apple.com/documentation/combine/performing-key-value-observing-with-combine
    @Test func propertiesOfObjectsArePublished() throws {
        let context = try context()
        let note = Note(context: context)
        var titles: [String?] = []
        let subscription = note.publisher(for: \.title).sink { titles.append($0) }
        note.title = "a"
        note.title = "b"
        #expect(titles == [nil, "a", "b"])
        subscription.cancel()
        note.title = "c"
        #expect(titles == [nil, "a", "b"])
        var later: [String?] = []
        let other = note.publisher(for: \.title, options: .new).sink { later.append($0) }
        note.title = "d"
        #expect(later == ["d"])
        other.cancel()
    }

    /// NSManagedObject conforms to ObservableObject; the publisher "emits before the object has changed".
    @Test func changesOfObjectsAreAnnounced() throws {
        let context = try context()
        let note = Note(context: context)
        note.title = "a"
        try context.save()
        var titles: [String?] = []
        let subscription = note.objectWillChange.sink { titles.append(note.title) }
        #expect(note.objectWillChange === note.objectWillChange)
        note.title = "b"
        #expect(titles == ["a"])
        note.objectWillChange.send()
        context.refresh(note, mergeChanges: false)
        context.processPendingChanges()
        #expect(titles.count == 3)
        subscription.cancel()
        note.title = "c"
        #expect(titles.count == 3)
    }

    @Test func resultsOfFetchesArePublished() throws {
        let context = try context()
        let request = NSFetchRequest<Note>(entityName: "Note")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        var results: [[String]] = []
        let subscription = context.publisher(for: request).sink(
            receiveCompletion: { _ in }, receiveValue: { results.append($0.compactMap(\.title)) })
        context.performAndWait { Note(context: context).title = "b" }
        context.performAndWait { Note(context: context).title = "a" }
        #expect(results == [[], ["b"], ["a", "b"]])
        subscription.cancel()
        context.performAndWait { Note(context: context).title = "c" }
        #expect(results.count == 3)
    }

    /// https://developer.apple.com/documentation/combine/publishers/merge
    @Test func publishersAreMergedAndCombined() {
        let (first, second) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>())
        var merged: [Int] = []
        var combined: [String] = []
        var ended = 0
        var subscriptions: Set<AnyCancellable> = []
        Publishers.Merge(first, second).sink(
            receiveCompletion: { _ in ended += 1 }, receiveValue: { merged.append($0) }
        )
        .store(in: &subscriptions)
        first.combineLatest(second).sink { combined.append("\($0) \($1)") }.store(in: &subscriptions)
        first.send(1)
        second.send(2)
        first.send(3)
        first.send(completion: .finished)
        #expect(ended == 0)
        second.send(4)
        second.send(completion: .finished)
        #expect(merged == [1, 2, 3, 4] && ended == 1)
        #expect(combined == ["1 2", "3 2", "3 4"])
    }

    @Test func notificationsAndQueuesPublish() async throws {
        let context = try context()
        let center = NotificationCenter.default
        let saves = center.publisher(for: .NSManagedObjectContextDidSave, object: context)
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        let subscription = saves.receive(on: DispatchQueue.main).map { _ in "saved" }.sink { continuation.yield($0) }
        let timer = Timer.publish(every: 0.01, on: .main, in: .common)
        _ = timer
        try context.performAndWait {
            _ = Note(context: context)
            try context.save()
        }
        var iterator = stream.makeAsyncIterator()
        #expect(await iterator.next() == "saved")
        subscription.cancel()
    }

    /// A queue that delivers at once.
    struct Counter: DeliveryQueue {
        let ocombine = ImmediateScheduler.shared
    }

    /// The operators that stand in for those of OpenCombine where it has left the conformances of queues out.
    @Test func queuesAreSchedulers() {
        let numbers = PassthroughSubject<Int, Never>()
        let counter = Counter()
        var received: [Int] = []
        let subscription = numbers.receive(on: counter).subscribe(on: counter).delay(for: 1, scheduler: counter)
            .debounce(for: 1, scheduler: counter).sink { received.append($0) }
        numbers.send(1)
        numbers.send(2)
        #expect(received == [1, 2])
        subscription.cancel()
        numbers.send(3)
        #expect(received == [1, 2])
    }

    final class Model: ObservableObject {
        @Published var titles: [String] = []
    }

    @Test func observableObjectsPublish() {
        let model = Model()
        var changes = 0
        let subscription = model.objectWillChange.sink { changes += 1 }
        model.titles.append("a")
        #expect(changes == 1)
        subscription.cancel()
    }
}

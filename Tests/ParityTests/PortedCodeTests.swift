import CoreData
import Testing

final class TagWithInitial: NSManagedObject {
    #if canImport(Darwin)
        @NSManaged var name: String?
        @objc var initial: String { String(name?.prefix(1) ?? "") }
        @objc var weight: NSNumber?
    #else
        var name: String? { value(forKey: "name") as? String }
        var initial: String { String(name?.prefix(1) ?? "") }
        var weight: NSNumber?

        override class func registerKeyPaths() {
            super.registerKeyPaths()
            KeyPathRegistry.register(\TagWithInitial.initial, as: "initial")
            KeyPathRegistry.register(\TagWithInitial.weight, as: "weight")
        }
    #endif
}

extension NSManagedObjectContext {
    /// The function that many programs declare, because Core Data's own came later. It hides Core Data's in this file:
    /// https://oleb.net/blog/2018/02/performandwait/
    @discardableResult
    fileprivate func performAndWait<T>(_ block: () throws -> T) throws -> T {
        var result: Result<T, any Error>?
        performAndWait { result = Result(catching: block) }
        return try #require(result).get()
    }
}

/// Behaviour that code written for Apple's platforms relies on, and that is easily different elsewhere.
@Suite struct PortedCodeTests {
    /// The main queue is that of the main actor, also after a suspension:
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontextconcurrencytype/mainqueueconcurrencytype
    @Test @MainActor func theMainActorIsOnTheMainQueue() async throws {
        let diary = try Diary()
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = diary.coordinator
        for name in ["a", "b", "c"] {
            await Task.yield()
            context.performAndWait { _ = context.insert("Tag", ["name": name]) }
            try context.save()
        }
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag")) == 3)
    }

    /// A child that merges its parent's saves can be used while the parent's queue saves:
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/automaticallymergeschangesfromparent
    @Test @MainActor func aChildThatMergesDoesNotBlockItsParent() throws {
        let diary = try Diary()
        let parent = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        parent.persistentStoreCoordinator = diary.coordinator
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        child.automaticallyMergesChangesFromParent = true
        for name in ["a", "b"] {
            _ = parent.insert("Tag", ["name": name])
            try parent.save()
            let found = try child.performAndWait { try child.names("Tag") }
            #expect(found.contains(name))
        }
    }

    /// CoreDataPlus, `destroyStore(at:options:)`: "leaves an empty database behind", which its caller removes.
    /// https://github.com/alemar11/CoreDataPlus
    @Test func aDestroyedStoreLeavesAnEmptyFile() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("store.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: DiaryModel.make())
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        try coordinator.remove(store)
        try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
        try FileManager.default.removeItem(at: url)
        // `test_Metadata` destroys the store at the same location again.
        try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
        try FileManager.default.removeItem(at: url)
    }

    /// CoreDataPlus, `test_ObserveInsertionsAndInvalidationsOnDidChangeNotification`, reads an array of IDs after a reset.
    @Test func aResetPostsTheIDsOfItsObjects() throws {
        let diary = try Diary()
        let context = diary.context()
        nonisolated(unsafe) var posted: [NSManagedObjectID]?
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { posted = $0.userInfo?[NSInvalidatedAllObjectsKey] as? [NSManagedObjectID] }
        defer { NotificationCenter.default.removeObserver(observer) }
        try context.performAndWait { () throws in
            let notes = ["one", "two"].map { context.insert("Note", ["title": $0]) }
            try context.save()
            let unsaved = context.insert("Note")
            let ids = Set((notes + [unsaved]).map(\.objectID))
            context.reset()
            #expect(posted.map { Set($0) } == ids)
        }
    }

    /// CoreDataPlus compares tokens in predicates, in `test_InvestigationHistoryTokens`. In this test the token before the
    /// first transaction has expired: https://github.com/alemar11/CoreDataPlus
    @Test func tokensInPredicatesOfTheHistory() throws {
        let diary = try Diary(options: [NSPersistentHistoryTrackingKey: true])
        let context = diary.context()
        try context.performAndWait { () throws in
            func token() throws -> NSPersistentHistoryToken {
                try #require(diary.coordinator.currentPersistentHistoryToken(fromStores: [diary.store]))
            }
            func count(_ format: String, _ token: NSPersistentHistoryToken) throws -> Int? {
                let entity = try #require(NSPersistentHistoryTransaction.entityDescription(with: context))
                let fetch = NSFetchRequest<any NSFetchRequestResult>()
                fetch.entity = entity
                fetch.predicate = NSPredicate(format: format, token)
                let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
                request.resultType = .transactionsOnly
                let result = try context.execute(request) as? NSPersistentHistoryResult
                return (result?.result as? [NSPersistentHistoryTransaction])?.count
            }
            let before = try token()
            var tokens: [NSPersistentHistoryToken] = []
            for title in ["one", "two", "three"] {
                _ = context.insert("Note", ["title": title])
                try context.save()
                tokens.append(try token())
            }
            #expect(try count("token == %@", tokens[1]) == 1)
            #expect(try count("token >= %@", tokens[1]) == 2)
            #expect(try count("token <= %@", tokens[2]) == 3)
            #expect(try count("NOT token > %@", tokens[0]) == 1)
            let error = #expect(throws: CocoaError.self) { try count("token > %@", before) }
            #expect(error?.errorCode == NSPersistentHistoryTokenExpiredError)
        }
    }

    /// CoreDataPlus, `test_BatchInserWithNSFetchedResultController`, follows a request with an empty array of sort descriptors, and
    /// in `test_SectionsChanges` a deleted section has no objects.
    @Test func resultsWithoutOrderAndDeletedSections() throws {
        final class Delegate: NSObject, NSFetchedResultsControllerDelegate {
            var deleted: [Int] = []
            func controller(
                _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
                didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
                for type: NSFetchedResultsChangeType
            ) {
                if type == .delete { deleted += [sectionInfo.objects?.count ?? -1, sectionInfo.numberOfObjects] }
            }
        }
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait { () throws in
            let tags = ["a", "b"].map { context.insert("Tag", ["name": $0]) }
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
            request.sortDescriptors = []
            let unordered = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            let observer = Delegate()
            unordered.delegate = observer
            try unordered.performFetch()
            _ = context.insert("Tag", ["name": "c"])
            context.processPendingChanges()
            #expect(Set(unordered.fetchedObjects ?? []).count == 3)
            let sorted = NSFetchRequest<NSManagedObject>(entityName: "Tag")
            sorted.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let sections = NSFetchedResultsController(
                fetchRequest: sorted, managedObjectContext: context, sectionNameKeyPath: "name", cacheName: nil)
            let delegate = Delegate()
            sections.delegate = delegate
            try sections.performFetch()
            context.delete(tags[0])
            context.processPendingChanges()
            #expect(delegate.deleted == [0, 0])
        }
    }

    /// "If you want to change a model that is in use, create a copy":
    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectmodel
    @Test func aCopyOfAModelInUseCanBeChanged() throws {
        let model = DiaryModel.make()
        _ = NSPersistentStoreCoordinator(managedObjectModel: model)
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        let entity = try #require(copy.entitiesByName["Note"])
        entity.userInfo = ["a": "1"]
        entity.attributesByName["title"]?.userInfo = ["b": "2"]
        #expect(entity.userInfo?["a"] as? String == "1")
        #expect(entity.attributesByName["title"]?.userInfo?["b"] as? String == "2")
        #expect(model.entitiesByName["Note"]?.userInfo?["a"] == nil)
    }

    /// Groot's `testSerializationFromIdentifiersFailsWithoutIdentityAttribute` and `testSerializationToJSONWithNestedDictionaries`
    /// change the user info of an entity and of an attribute of a coordinator's model: https://github.com/gonzalezreal/Groot
    @Test func theUserInfoOfAModelInUseCanBeChanged() throws {
        let diary = try Diary()
        let entity = try #require(diary.coordinator.managedObjectModel.entitiesByName["Note"])
        entity.userInfo = ["identityAttributes": "title"]
        entity.attributesByName["title"]?.userInfo = ["JSONKeyPath": "title.foo"]
        entity.relationshipsByName["items"]?.userInfo?["JSONKeyPath"] = "parts"
        let context = diary.context()
        context.performAndWait {
            let used = context.insert("Note").entity
            #expect(used.userInfo?["identityAttributes"] as? String == "title")
            #expect(used.attributesByName["title"]?.userInfo?["JSONKeyPath"] as? String == "title.foo")
            #expect(used.relationshipsByName["items"]?.userInfo?["JSONKeyPath"] as? String == "parts")
        }
    }

    /// Objects of these classes can be created without arguments, since `init()` of `NSObject` is inherited. Code uses them as the
    /// initial values of variables and in tests: CoreDataRepository's `TransactionTests` expect an error with
    /// `NSConstraintConflict()`, https://github.com/roanutil/CoreDataRepository
    @Test func placeholdersAreCreatedWithoutArguments() throws {
        let conflict = NSConstraintConflict()
        #expect(conflict.constraint.isEmpty && conflict.databaseObject == nil && conflict.conflictingObjects.isEmpty)
        #expect(
            [NSBatchDeleteResult().result, NSBatchInsertResult().result, NSBatchUpdateResult().result].allSatisfy {
                $0 == nil
            })
        let (one, other) = (NSManagedObjectID(), NSManagedObjectID())
        #expect(one == one && one != other)
        #expect(Note().managedObjectContext == nil)
        #expect(NSPersistentStoreCoordinator().persistentStores.isEmpty)
        #expect(NSPersistentContainer().managedObjectModel.entities.isEmpty)
        var controller: NSFetchedResultsController<Note> = NSFetchedResultsController()
        #expect(controller.fetchedObjects == nil)
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait { () throws in
            #expect(throws: (any Error).self) { try context.existingObject(with: one) }
            let request = NSFetchRequest<Note>(entityName: "Note")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
            try controller.performFetch()
            #expect(controller.fetchedObjects == [])
        }
    }

    private final class ChosenResult: NSBatchDeleteResult {
        var chosen: Any?
        override var result: Any? { chosen }
    }

    private final class NamedID: NSManagedObjectID, @unchecked Sendable {
        var name = ""
        override var description: String { name }
    }

    private final class EmptyController: NSFetchedResultsController<Note> {
        var fetchCount = 0
        override func performFetch() throws { fetchCount += 1 }
    }

    /// Their subclasses inherit `init()`: SwiftDatastore's tests replace results, IDs and controllers by such.
    /// https://github.com/tomkuku/SwiftDatastore
    @Test func subclassesOfPlaceholdersAreCreatedWithoutArguments() throws {
        let result = ChosenResult()
        result.chosen = 3
        #expect((result as NSBatchDeleteResult).result as? Int == 3)
        let id = NamedID()
        id.name = "one"
        #expect((id as NSManagedObjectID).description == "one" && id == id && id.isTemporaryID)
        let controller = EmptyController()
        try (controller as NSFetchedResultsController<Note>).performFetch()
        #expect(controller.fetchCount == 1 && controller.fetchedObjects == nil)
    }

    /// Properties that a class implements itself, and exposes to Objective-C, have keys:
    /// https://developer.apple.com/documentation/coredata/nsfetchedresultscontroller/init(fetchrequest:managedobjectcontext:sectionnamekeypath:cachename:)
    @Test func propertiesOfAClassHaveKeys() throws {
        let model = DiaryModel.make()
        try #require(model.entitiesByName["Tag"]).managedObjectClassName = NSStringFromClass(TagWithInitial.self)
        let diary = try Diary(model: model)
        let context = diary.context()
        try context.performAndWait { () throws in
            let tags = ["blue", "black", "red"].map { context.insert("Tag", ["name": $0]) }
            #expect(tags.map { $0.value(forKey: "initial") as? String } == ["b", "b", "r"])
            tags[0].setValue(3, forKey: "weight")
            #expect((tags[0] as? TagWithInitial)?.weight == 3)
            tags[0].setValue(nil, forKey: "weight")
            #expect(tags[0].value(forKey: "weight") == nil)
            #expect(NSPredicate(format: "initial == 'b'").evaluate(with: tags[1]))
            try context.save()
            let request = NSFetchRequest<TagWithInitial>(entityName: "Tag")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "initial", cacheName: nil)
            try controller.performFetch()
            #expect(controller.sections?.map(\.name) == ["b", "r"])
            request.predicate = NSPredicate(format: "initial == 'b'")
            #expect(throws: (any Error).self) { try context.fetch(request) }
        }
    }

    /// A token of no transaction, after which all of the history is fetched:
    /// https://developer.apple.com/documentation/coredata/nspersistenthistorychangerequest/fetchhistory(after:)-4crw0
    @Test func anEmptyHistoryToken() throws {
        let diary = try Diary(options: [NSPersistentHistoryTrackingKey: true])
        let context = diary.context()
        try context.performAndWait { () throws in
            _ = context.insert("Note", ["title": "one"])
            try context.save()
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: NSPersistentHistoryToken())
            let result = try context.execute(request) as? NSPersistentHistoryResult
            #expect((result?.result as? [NSPersistentHistoryTransaction])?.count == 1)
        }
    }

    /// CoreDataRepository's errors have texts of this kind; Apple's key has a format specifier for each value:
    /// https://developer.apple.com/documentation/swift/string/localizationvalue
    @Test func textsAreLocalized() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".bundle")
        let table = folder.appendingPathComponent("en.lproj/Localizable.strings")
        try FileManager.default.createDirectory(
            at: table.deletingLastPathComponent(), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try #""%lld notes in %@" = "%2$@ has %1$lld notes";"#.write(to: table, atomically: true, encoding: .utf8)
        let bundle = try #require(Bundle(url: folder))
        let (count, name) = (3, "Work")
        let locale = Locale(identifier: "en_US_POSIX")
        #expect(String(localized: "\(count) notes in \(name)", bundle: bundle, locale: locale) == "Work has 3 notes")
        #expect(String(localized: "\(count) notes of \(name)", bundle: bundle, locale: locale) == "3 notes of Work")
        #expect(String(localized: "100% of \(1.5) in \("%@")", locale: locale) == "100% of 1.500000 in %@")
        #expect(String(localized: "100%", comment: "a share") == "100%")
        #expect(String(localized: "share", defaultValue: "\(count) of them", locale: locale) == "3 of them")
    }

    /// DuckDuckGo's data layer waits for its store in a run loop, which a message to a port wakes:
    /// https://developer.apple.com/documentation/foundation/runloop/run(mode:before:)
    @Test(arguments: [RunLoop.Mode.default, RunLoop.Mode("org.example.waiting")])
    func aMessageToAPortEndsTheTurnOfARunLoop(mode: RunLoop.Mode) throws {
        #if canImport(ObjectiveC)
            @Sendable func makePort() -> Port { Port() }
        #else
            @Sendable func makePort() -> Port { LocalPort() }
        #endif
        // A thread of its own, because other tests may use the run loop of this one.
        let outcome = PortOutcome()
        let thread = Thread {
            let port = makePort()
            // Unsafe for the compiler only: a message may be sent from every thread.
            nonisolated(unsafe) let receiver = port
            RunLoop.current.add(port, forMode: mode)
            let start = Date()
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) {
                _ = receiver.send(before: Date(), components: nil, from: makePort(), reserved: 0)
            }
            let wasHandled = RunLoop.current.run(mode: mode, before: Date(timeIntervalSinceNow: 30))
            let seconds = Date().timeIntervalSince(start)
            RunLoop.current.remove(port, forMode: mode)
            // Without a port the mode has nothing to wait for.
            let empty = RunLoop.Mode("org.example.empty")
            let remains = RunLoop.current.run(mode: empty, before: Date(timeIntervalSinceNow: 30))
            port.invalidate()
            // The run loop keeps a port that nobody else has.
            let kept = RunLoop.Mode("org.example.kept")
            RunLoop.current.add(makePort(), forMode: kept)
            let before = Date()
            let waited = RunLoop.current.run(mode: kept, before: Date(timeIntervalSinceNow: 0.1))
            let isKept = waited && Date().timeIntervalSince(before) >= 0.09
            outcome.finish(wasHandled && seconds >= 0.04 && seconds < 20 && !remains && !port.isValid && isKept)
        }
        thread.start()
        #expect(outcome.wait())
    }

    /// Operation-iOS tells by the queue of an observer whether it is on that queue already, in `CoreDataContextObservable.swift`:
    /// https://github.com/novasamatech/Operation-iOS
    @Test func queuesAreEqualIfTheyAreIdentical() {
        let (first, second) = (DispatchQueue(label: "a"), DispatchQueue(label: "a"))
        #expect(first == first)
        #expect(first != second)
        let operations = OperationQueue()
        operations.underlyingQueue = first
        #expect(operations.underlyingQueue == first)
        #expect(Set([first, second, first]).count == 2)
        let (group, semaphore) = (DispatchGroup(), DispatchSemaphore(value: 0))
        #expect(group == group)
        #expect([semaphore: 1][semaphore] == 1)
    }
}

/// What a thread has found.
private final class PortOutcome: @unchecked Sendable {  // because the semaphore orders the accesses
    private let semaphore = DispatchSemaphore(value: 0)
    private var isExpected = false

    func finish(_ isExpected: Bool) {
        self.isExpected = isExpected
        semaphore.signal()
    }

    func wait() -> Bool { semaphore.wait(timeout: .now() + 60) == .success && isExpected }
}

import CoreData
import Testing

/// A class that overrides key-value coding.
final class CountingNote: NSManagedObject {
    var paths: [String] = []

    override func value(forKeyPath keyPath: String) -> Any? {
        paths.append(keyPath)
        return super.value(forKeyPath: keyPath)
    }
    override func setValuesForKeys(_ keyedValues: [String: Any]) {
        super.setValuesForKeys(keyedValues.filter { $0.key != "ignored" })
    }
    override func mutableSetValue(forKey key: String) -> NSMutableSet {
        paths.append(key)
        return super.mutableSetValue(forKey: key)
    }
}

/// Subclasses override methods of Core Data's classes, like the test doubles of many packages. The signatures are those of
/// Apple's documentation: https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext
@Suite struct OverridingTests {
    /// A context that records the calls of its methods.
    final class SpyContext: NSManagedObjectContext, @unchecked Sendable {  // because its queue guards it
        var calls: [String] = []

        override func performAndWait(_ block: () -> Void) {
            calls.append("performAndWait")
            super.performAndWait(block)
        }
        override func perform(_ block: @escaping () -> Void) {
            calls.append("perform")
            super.perform(block)
        }
        override func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>) throws -> [Any] {
            calls.append("fetch \(request.entityName ?? "")")
            return try super.fetch(request)
        }
        override func count(for request: NSFetchRequest<any NSFetchRequestResult>) throws -> Int {
            calls.append("count")
            return try super.count(for: request)
        }
        override func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
            calls.append("execute")
            return try super.execute(request)
        }
        override func insert(_ object: NSManagedObject) {
            calls.append("insert")
            super.insert(object)
        }
        override func delete(_ object: NSManagedObject) {
            calls.append("delete")
            super.delete(object)
        }
        override func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
            calls.append("refresh")
            super.refresh(object, mergeChanges: flag)
        }
        override func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
            calls.append("existingObject")
            return try super.existingObject(with: objectID)
        }
        override func object(with objectID: NSManagedObjectID) -> NSManagedObject {
            calls.append("object")
            return super.object(with: objectID)
        }
        override func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
            calls.append("obtainPermanentIDs")
            try super.obtainPermanentIDs(for: objects)
        }
        override var hasChanges: Bool {
            calls.append("hasChanges")
            return super.hasChanges
        }
        override var insertedObjects: Set<NSManagedObject> {
            calls.append("insertedObjects")
            return super.insertedObjects
        }
        override func processPendingChanges() {
            calls.append("processPendingChanges")
            super.processPendingChanges()
        }
        override func save() throws {
            calls.append("save")
            try super.save()
        }
        override func rollback() {
            calls.append("rollback")
            super.rollback()
        }
        override func reset() {
            calls.append("reset")
            super.reset()
        }
        override func mergeChanges(fromContextDidSave notification: Notification) {
            calls.append("mergeChanges")
            super.mergeChanges(fromContextDidSave: notification)
        }
    }

    /// Each overridden method is called once, and has the same effect as without the override.
    @Test func aContextIsOverridden() throws {
        let diary = try Diary()
        let context = SpyContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = diary.coordinator
        func calls() -> [String] {
            defer { context.calls = [] }
            return context.calls
        }
        try context.performAndWait { () throws in
            #expect(calls() == ["performAndWait"])
            let note = Note(
                entity: try #require(diary.coordinator.managedObjectModel.entitiesByName["Note"]), insertInto: context)
            #expect(calls() == ["insert"])
            note.setValue("one", forKey: "title")
            #expect(context.hasChanges)
            #expect(context.insertedObjects == [note])
            #expect(calls() == ["hasChanges", "insertedObjects"])
            try context.obtainPermanentIDs(for: [note])
            try context.save()
            #expect(calls() == ["obtainPermanentIDs", "save"])

            let request = NSFetchRequest<Note>(entityName: "Note")
            #expect(try context.fetch(request) == [note])
            #expect(try context.count(for: request) == 1)
            #expect(calls() == ["fetch Note", "count"])
            let untyped = NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
            let objects: [Any] = try context.fetch(untyped)
            #expect(objects.count == 1 && objects.first as? Note === note)
            #expect(try context.count(for: untyped) == 1)
            #expect(calls() == ["fetch Note", "count"])
            untyped.resultType = .dictionaryResultType
            #expect((try context.fetch(untyped) as? [[String: Any]])?.count == 1)
            _ = calls()

            // `execute(_:)` passes requests to the store; a fetch does not call it:
            // https://developer.apple.com/documentation/coredata/nsmanagedobjectcontext/execute(_:)
            let people = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
            _ = try context.execute(NSBatchDeleteRequest(fetchRequest: people))
            #expect(calls() == ["execute"])

            context.refresh(note, mergeChanges: false)
            #expect(try context.existingObject(with: note.objectID) === note)
            #expect(context.object(with: note.objectID) === note)
            #expect(calls() == ["refresh", "existingObject", "object"])
            context.delete(note)
            context.processPendingChanges()
            #expect(calls() == ["delete", "processPendingChanges"])
            #expect(note.isDeleted)
            context.rollback()
            #expect(calls() == ["rollback"])
            #expect(!note.isDeleted)
            context.reset()
            context.mergeChanges(fromContextDidSave: Notification(name: .NSManagedObjectContextDidSave))
            #expect(calls() == ["reset", "mergeChanges"])
        }
    }

    /// A request with additional information for the code that executes it.
    final class MarkedRequest: NSFetchRequest<NSFetchRequestResult> {
        var mark = ""
    }

    /// A context that reads the marks of requests.
    final class MarkReadingContext: NSManagedObjectContext, @unchecked Sendable {  // because its queue guards it
        var marks: [String] = []

        override func fetch(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> [Any] {
            marks.append((request as? MarkedRequest)?.mark ?? "none")
            return try super.fetch(request)
        }
        override func count(for request: NSFetchRequest<NSFetchRequestResult>) throws -> Int {
            marks.append((request as? MarkedRequest)?.mark ?? "none")
            return try super.count(for: request)
        }
    }

    /// An overridden method receives the request itself, also one of a subclass.
    @Test func aRequestOfASubclassIsNotCopied() throws {
        let diary = try Diary()
        let context = MarkReadingContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = diary.coordinator
        try context.performAndWait { () throws in
            _ = context.insert("Tag", ["name": "a"])
            let request = MarkedRequest(entityName: "Tag")
            request.mark = "tags"
            #expect(try context.fetch(request).count == 1)
            #expect(try context.count(for: request) == 1)
            #expect(context.marks == ["tags", "tags"])
        }
    }

    /// A context whose fetches and saves are determined by a test, as in many packages on GitHub.
    final class MockContext: NSManagedObjectContext, @unchecked Sendable {  // because its queue guards it
        struct Failure: Error {}
        var results: [Any]?

        override func fetch(_ request: NSFetchRequest<NSFetchRequestResult>) throws -> [Any] {
            guard let results else { throw Failure() }
            return results
        }
        override func save() throws { throw Failure() }
        override var hasChanges: Bool { true }
        override func performAndWait(_ block: () -> Void) { block() }
    }

    /// All callers get the result of the override, and no store is needed.
    @Test func aMockReplacesTheStore() throws {
        let mock = MockContext(concurrencyType: .privateQueueConcurrencyType)
        #expect(throws: MockContext.Failure.self) {
            try mock.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
        }
        #expect(throws: MockContext.Failure.self) { try mock.save() }
        #expect(mock.hasChanges)
        mock.results = [["name": "Ada"]]
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Note")
        #expect((try mock.fetch(request) as? [[String: String]])?.first?["name"] == "Ada")
        mock.results = []
        #expect(try mock.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).isEmpty)
        #expect(mock.performAndWait { 7 } == 7)
    }

    /// A coordinator that refuses stores, and counts those that are destroyed.
    // Unchecked because a test uses it from one thread.
    final class RefusingCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {
        struct Refusal: Error {}
        var destroyed: [URL] = []

        override func addPersistentStore(
            ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
            options: [AnyHashable: Any]? = nil
        ) throws -> NSPersistentStore {
            throw Refusal()
        }
        override func destroyPersistentStore(
            at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
        ) throws {
            destroyed.append(url)
        }
    }

    /// Adding a store by its description calls the overridden method:
    /// https://developer.apple.com/documentation/coredata/nspersistentstorecoordinator/addpersistentstore(with:completionhandler:)
    @Test func aCoordinatorIsOverridden() throws {
        let coordinator = RefusingCoordinator(managedObjectModel: DiaryModel.make())
        var error: (any Error)?
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        coordinator.addPersistentStore(with: description) { error = $1 }
        #expect(error is RefusingCoordinator.Refusal)
        let url = URL(fileURLWithPath: "/nowhere")
        try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
        #expect(coordinator.destroyed == [url])
    }

    @Test func keyValueCodingIsOverridden() throws {
        let model = DiaryModel.make()
        model.entitiesByName["Note"]?.managedObjectClassName = NSStringFromClass(CountingNote.self)
        let diary = try Diary(NSInMemoryStoreType, model: model)
        let context = diary.context()
        try context.performAndWait { () throws in
            let note = try #require(context.insert("Note") as? CountingNote)
            note.setValuesForKeys(["title": "one", "ignored": 1])
            #expect(note.value(forKeyPath: "title") as? String == "one")
            note.mutableSetValue(forKey: "tags").add(context.insert("Tag", ["name": "a"]))
            #expect(note.value(forKeyPath: "tags.@count") as? Int == 1)
            #expect(note.paths == ["title", "tags", "tags.@count"])
        }
    }

    /// A model in use cannot be changed, but a copy can:
    /// https://developer.apple.com/documentation/coredata/nspropertydescription
    @Test func aCopyOfAModelInUseIsEditable() throws {
        let diary = try Diary(NSInMemoryStoreType)
        let copy = try #require(diary.coordinator.managedObjectModel.copy() as? NSManagedObjectModel)
        let note = try #require(copy.entitiesByName["Note"])
        note.userInfo = ["exported": "yes"]
        note.propertiesByName["title"]?.userInfo = ["key": "name"]
        copy.versionIdentifiers = ["2"]
        let used = NSPersistentStoreCoordinator(managedObjectModel: copy).managedObjectModel
        #expect(used.entitiesByName["Note"]?.userInfo?["exported"] as? String == "yes")
        #expect(used.entitiesByName["Note"]?.propertiesByName["title"]?.userInfo?["key"] as? String == "name")
        #expect(diary.coordinator.managedObjectModel.entitiesByName["Note"]?.userInfo?.isEmpty == true)
    }

    /// `Note.fetchRequest()` is assigned without a type, and `autoreleasepool` returns what its block returns and throws:
    /// https://developer.apple.com/documentation/coredata/nsmanagedobject/fetchrequest()
    @Test func codeForApplesPlatformsCompilesUnchanged() throws {
        let diary = try Diary(NSInMemoryStoreType)
        let context = diary.context()
        try context.performAndWait { () throws in
            let note = Note(context: context)
            note.setValue("one", forKey: "title")
            let request = Note.fetchRequest()
            request.predicate = NSPredicate(format: "title == %@", "one")
            #expect((try context.fetch(request) as? [Note]) == [note])
            let count = try autoreleasepool { try context.count(for: request) }
            #expect(count == 1)
        }
    }
}

import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects

/// Adding and removing stores, and finding rows by URI.
@Suite struct StoreCoordinatorTests {
    @Test func `stores are numbered from one, and numbers are not reused`() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NotesModel.make())
        let first = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let second = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        #expect(coordinator.persistentStores == [first, second])
        #expect(coordinator.rowStores.map(\.number) == [1, 2])
        try coordinator.remove(first)
        #expect(coordinator.persistentStore(number: 1) == nil)
        #expect(first.persistentStoreCoordinator == nil)
        _ = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        #expect(coordinator.rowStores.map(\.number) == [2, 3])
        #expect(throws: CocoaError.self) { try coordinator.remove(first) }
    }

    @Test func `notifications list the stores`() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NotesModel.make())
        final class Log: @unchecked Sendable { var lines: [String] = [] }  // because it is used on one thread
        let log = Log()
        let observers = [
            NSNotification.Name.NSPersistentStoreCoordinatorStoresDidChange,
            .NSPersistentStoreCoordinatorWillRemoveStore,
        ].map { name in
            // The first notification's object is the coordinator, the second one's is the store.
            NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { note in
                let store = note.object as? NSPersistentStore
                guard (note.object as AnyObject) === coordinator || store?.persistentStoreCoordinator === coordinator
                else { return }
                let keys = (note.userInfo ?? [:]).keys.compactMap { $0 as? String }.sorted()
                log.lines.append("\(name.rawValue.contains("Will") ? "will" : "did") \(keys)")
            }
        }
        defer { observers.forEach(NotificationCenter.default.removeObserver) }
        let store = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        try coordinator.remove(store)
        #expect(log.lines == ["did [\"added\"]", "will [\"removed\"]", "did [\"removed\"]"])
    }

    @Test func unknownTypesAreRefused() {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NotesModel.make())
        for type in [NSBinaryStoreType, "Clay"] {
            let error = #expect(throws: CocoaError.self) {
                try coordinator.addPersistentStore(
                    ofType: type, configurationName: nil, at: URL(fileURLWithPath: "/tmp/none"), options: nil)
            }
            #expect(error?.errorCode == 134000)
        }
    }

    @Test func `a registered class is instantiated but must be atomic or incremental`() {
        final class Empty: NSPersistentStore, @unchecked Sendable {}
        NSPersistentStoreCoordinator.registerStoreClass(Empty.self, forStoreType: "Empty")
        defer { NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: "Empty") }
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes["Empty"] != nil)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NotesModel.make())
        let error = #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(
                ofType: "Empty", configurationName: nil, at: URL(fileURLWithPath: "/tmp/none"), options: nil)
        }
        #expect(error?.errorCode == 134000)
        #expect(coordinator.persistentStores.isEmpty)
    }

    @Test func `URIs are converted to keys`() throws {
        let bench = try RowBench(NSInMemoryStoreType)
        let key = bench.key("Note", 12)
        let id = bench.coordinator.objectID(for: key)
        let uri = id.uriRepresentation()
        #expect(uri.absoluteString == "x-coredata://\(bench.store.identifier ?? "")/Note/p12")
        #expect(bench.coordinator.key(forURIRepresentation: uri) == key)
        #expect(bench.coordinator.managedObjectID(forURIRepresentation: uri) == id)
        #expect(id.persistentStore === bench.store)

        let temporary = bench.coordinator.objectID(for: .temporary(entity: bench.entity("Note").index))
        let temporaryURI = temporary.uriRepresentation()
        #expect(temporaryURI.absoluteString.hasPrefix("x-coredata:///Note/t"))
        #expect(bench.coordinator.key(forURIRepresentation: temporaryURI) == temporary.key)
    }

    @Test(arguments: [
        "https://example.org/Note/p1", "x-coredata:///Note/p1", "x-coredata://nowhere/Note/p1",
        "x-coredata://ID/Note/p-1",
        "x-coredata://ID/Note/p0", "x-coredata://ID/Note/p", "x-coredata://ID/Note/q1", "x-coredata://ID/Nothing/p1",
        "x-coredata://ID/Note/p1/2", "x-coredata://ID/Note/p99999999999999999999", "x-coredata://ID/Note/p+1",
        "x-coredata:///Note/t", "x-coredata:///Note/t00000000-0000-0000-0000-0000000000001",
    ])
    func otherURIsLeadNowhere(text: String) throws {
        let bench = try RowBench(NSInMemoryStoreType)
        let uri = try #require(URL(string: text.replacingOccurrences(of: "ID", with: bench.store.identifier ?? "")))
        #expect(bench.coordinator.managedObjectID(forURIRepresentation: uri) == nil)
    }

    @Test func `configurations determine the store of an object`() throws {
        let model = NotesModel.make()
        func entities(_ names: [String]) -> [NSEntityDescription] { names.compactMap { model.entitiesByName[$0] } }
        model.setEntities(entities(["Folder", "Note"]), forConfigurationName: "Papers")
        model.setEntities(entities(["Item"]), forConfigurationName: "Things")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let papers = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: "Papers", at: nil, options: nil)
        let things = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: "Things", at: nil, options: nil)
        func number(_ name: String, _ assigned: NSPersistentStore? = nil) throws -> UInt16 {
            try coordinator.rowStore(for: entities([name])[0], assigned: assigned).number
        }
        #expect(try number("Note") == papers.number)
        // A subentity is stored with its superentity.
        #expect(try number("SpecialItem") == things.number)
        for attempt in [{ try number("Tag") }, { try number("Note", things) }] {
            let error = #expect(throws: CocoaError.self) { try attempt() }
            #expect(error?.errorCode == 134020)
        }
        #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: "Nowhere", at: nil, options: nil)
        }
    }

    @Test func `a read-only store is not written`() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NotesModel.make())
        let closed = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil,
            options: [NSReadOnlyPersistentStoreOption: true])
        #expect(closed.isReadOnly)
        let tag = try #require(coordinator.managedObjectModel.entitiesByName["Tag"])
        var plan = SavePlan()
        plan.inserts = [
            SavePlan.Group(entity: tag, changes: [SavePlan.Insert(key: 1, values: tag.layout.initialValues)])
        ]
        let error = #expect(throws: CocoaError.self) { try coordinator.rowStores[0].write(plan) }
        #expect(error?.code == .fileWriteNoPermission)
        // New objects are stored in the writable store.
        let open = try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        #expect(try coordinator.rowStore(for: tag, assigned: nil).number == open.number)
    }

    @Test func `the queue runs blocks one after another`() async throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NotesModel.make())
        #expect(await coordinator.perform { 1 + 1 } == 2)
        await #expect(throws: CocoaError.self) { try await coordinator.perform { throw CocoaError(.coreData) } }
        let nested = coordinator.performAndWait { coordinator.performAndWait { 7 } }
        #expect(nested == 7)
    }

    @Test func metadataCanBeSetAndAreMarkedForSaving() throws {
        let bench = try RowBench(NSInMemoryStoreType)
        #expect(bench.store.changedMetadata == nil)
        #expect(bench.store.metadata[NSStoreTypeKey] as? String == NSInMemoryStoreType)
        var metadata = bench.coordinator.metadata(for: bench.store)
        metadata["colour"] = "red"
        bench.coordinator.setMetadata(metadata, for: bench.store)
        var plan = SavePlan()
        plan.metadata = bench.store.changedMetadata
        #expect(plan.metadata != nil)
        _ = try bench.rows.write(plan)
        #expect(bench.store.changedMetadata == nil)
        #expect(bench.coordinator.metadata(for: bench.store)["colour"] as? String == "red")
    }
}

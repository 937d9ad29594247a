import Foundation
import Testing

@testable import EngineTesting

@testable import FollowedResults
@testable import FoundationAdditions
@testable import ManagedObjects

/// Every public method of a context and of an object is called from a queue that is not the context's. The list is compared
/// with the public methods in the engine's sources.
@Suite struct QueueCheckTests {
    private struct Use {
        let name: String
        let call: (NSManagedObjectContext, NSManagedObject) throws -> Void

        init(_ name: String, _ call: @escaping (NSManagedObjectContext, NSManagedObject) throws -> Void) {
            self.name = name
            self.call = call
        }
    }

    private static var uses: [Use] {
        let request = { NSFetchRequest<NSManagedObject>(entityName: "Note") }
        return [
            // The context: what it holds.
            Use("registeredObjects") { context, _ in _ = context.registeredObjects },
            Use("registeredObject(for:)") { context, note in _ = context.registeredObject(for: note.objectID) },
            Use("object(with:)") { context, note in _ = context.object(with: note.objectID) },
            Use("existingObject(with:)") { context, note in _ = try context.existingObject(with: note.objectID) },
            Use("insertedObjects") { context, _ in _ = context.insertedObjects },
            Use("updatedObjects") { context, _ in _ = context.updatedObjects },
            Use("deletedObjects") { context, _ in _ = context.deletedObjects },
            Use("hasChanges") { context, _ in _ = context.hasChanges },
            // The context: the store.
            Use("fetch(_:)") { context, _ in _ = try context.fetch(request()) },
            Use("fetch(_:) of IDs") { context, _ in
                let request = NSFetchRequest<NSManagedObjectID>(entityName: "Note")
                request.resultType = .managedObjectIDResultType
                _ = try context.fetch(request)
            },
            Use("fetch(_:batchSize:)") { context, _ in _ = try context.fetch(request(), batchSize: 10) },
            Use("count(for:)") { context, _ in _ = try context.count(for: request()) },
            Use("execute(_:)") { context, _ in
                let request = NSBatchUpdateRequest(entityName: "Note")
                request.propertiesToUpdate = ["title": "other"]
                _ = try context.execute(request)
            },
            Use("refresh(_:mergeChanges:)") { context, note in context.refresh(note, mergeChanges: true) },
            Use("refreshAllObjects()") { context, _ in context.refreshAllObjects() },
            Use("setQueryGenerationFrom(_:)") { context, _ in try context.setQueryGenerationFrom(nil) },
            Use("mergeChanges(fromContextDidSave:)") { context, _ in
                context.mergeChanges(fromContextDidSave: Notification(name: .NSManagedObjectContextDidSave))
            },
            // The context: changes.
            Use("insert(_:)") { context, note in context.insert(note) },
            Use("delete(_:)") { context, note in context.delete(note) },
            Use("assign(_:to:)") { context, note in
                if let store = context.persistentStoreCoordinator?.persistentStores.first {
                    context.assign(note, to: store)
                }
            },
            Use("detectConflicts(for:)") { context, note in context.detectConflicts(for: note) },
            Use("obtainPermanentIDs(for:)") { context, note in try context.obtainPermanentIDs(for: [note]) },
            Use("processPendingChanges()") { context, _ in context.processPendingChanges() },
            Use("undo()") { context, _ in context.undo() },
            Use("redo()") { context, _ in context.redo() },
            Use("save()") { context, _ in try context.save() },
            Use("rollback()") { context, _ in context.rollback() },
            // The object.
            Use("init(entity:insertInto:)") { context, note in
                _ = NSManagedObject(entity: note.entity, insertInto: context)
            },
            Use("observe(key:options:changeHandler:)") { _, note in
                _ = note.observe(key: "title") { _, _ in }
            },
            Use("value(forKey:)") { _, note in _ = note.value(forKey: "title") },
            Use("value(forKeyPath:)") { _, note in _ = note.value(forKeyPath: "title") },
            Use("setValue(_:forKey:)") { _, note in note.setValue("other", forKey: "title") },
            Use("setValue(_:forKeyPath:)") { _, note in note.setValue("other", forKeyPath: "title") },
            Use("dictionaryWithValues(forKeys:)") { _, note in _ = note.dictionaryWithValues(forKeys: ["title"]) },
            Use("setValuesForKeys(_:)") { _, note in note.setValuesForKeys(["title": "other"]) },
            Use("primitiveValue(forKey:)") { _, note in _ = note.primitiveValue(forKey: "title") },
            Use("setPrimitiveValue(_:forKey:)") { _, note in note.setPrimitiveValue("other", forKey: "title") },
            Use("mutableOrderedSetValue(forKey:)") { _, note in
                note.mutableOrderedSetValue(forKey: "items").removeAllObjects()
            },
            Use("mutableSetValue(forKey:)") { _, note in note.mutableSetValue(forKey: "items").removeAllObjects() },
            Use("mutableArrayValue(forKey:)") { _, note in _ = note.mutableArrayValue(forKey: "title") },
            Use("mutableArrayValue(forKeyPath:)") { _, note in _ = note.mutableArrayValue(forKeyPath: "title") },
            Use("mutableSetValue(forKeyPath:)") { _, note in _ = note.mutableSetValue(forKeyPath: "items").count },
            Use("mutableOrderedSetValue(forKeyPath:)") { _, note in
                _ = note.mutableOrderedSetValue(forKeyPath: "items").count
            },
            Use("hasFault(forRelationshipNamed:)") { _, note in _ = note.hasFault(forRelationshipNamed: "items") },
            Use("objectIDs(forRelationshipNamed:)") { _, note in _ = note.objectIDs(forRelationshipNamed: "items") },
            Use("changedValues()") { _, note in _ = note.changedValues() },
            Use("changedValuesForCurrentEvent()") { _, note in _ = note.changedValuesForCurrentEvent() },
            Use("committedValues(forKeys:)") { _, note in _ = note.committedValues(forKeys: nil) },
            Use("hasPersistentChangedValues") { _, note in _ = note.hasPersistentChangedValues },
            Use("willAccessValue(forKey:)") { _, note in note.willAccessValue(forKey: "title") },
            Use("willChangeValue(forKey:)") { _, note in note.willChangeValue(forKey: "title") },
            Use("willChangeValue(forKey:withSetMutation:using:)") { _, note in
                note.willChangeValue(forKey: "items", withSetMutation: .union, using: [])
            },
            Use("validateValue(_:forKey:)") { _, note in
                var value: Any? = "other"
                try note.validateValue(&value, forKey: "title")
            },
            Use("validateForInsert()") { _, note in try note.validateForInsert() },
            Use("validateForUpdate()") { _, note in try note.validateForUpdate() },
            Use("validateForDelete()") { _, note in try note.validateForDelete() },
            Use("reset()") { context, _ in context.reset() },
        ]
    }

    /// The public members that are not in the table, with the reason.
    private static let others: [(reason: String, members: Set<String>)] = [
        (
            "Runs its work on the context's queue.",
            [
                "perform(_:)", "performAndWait(_:)", "perform(schedule:isolation:_:)",
                "results(of:sectionNameKeyPath:)",
                "results(of:as:)", "counts(of:)", "aggregates(_:of:over:)", "observe(_:as:)",
                "mergeChanges(fromRemoteContextSave:into:)",
            ]
        ),
        (
            "A setting, which is set before the context is used, or a constant.",
            [
                "isObservable", "name", "transactionAuthor", "mergePolicy",
                "propagatesDeletesAtEndOfEvent", "retainsRegisteredObjects", "shouldDeleteInaccessibleFaults",
                "stalenessInterval", "undoManager", "automaticallyMergesChangesFromParent", "concurrencyType",
                "persistentStoreCoordinator", "parent", "queryGenerationToken", "entity", "entity()", "fetchRequest()",
                "contextShouldIgnoreUnmodeledPropertyChanges", "registerKeyPaths()", "hash", "isEqual(_:)",
                "_cVarArgEncoding", "predicateIdentity", "predicateRank",
            ]
        ),
        (
            "Creates a context, or an object without one, or calls init(entity:insertInto:).",
            ["init(concurrencyType:)", "init(_:)", "init()", "init(context:)"]
        ),
        ("Locks the context.", ["lock()", "unlock()", "tryLock()"]),
        (
            "Reads a state that is one word, as on Apple's platforms.",
            [
                "objectID", "isInserted", "isUpdated", "isDeleted", "isFault", "hasChanges", "faultingState",
                "description",
            ]
        ),
        (
            "Called by the engine; does nothing unless a program overrides it, or only what it says.",
            [
                "awakeFromInsert()", "awakeFromFetch()", "awake(fromSnapshotEvents:)", "willSave()", "didSave()",
                "prepareForDeletion()", "willTurnIntoFault()", "didTurnIntoFault()", "didAccessValue(forKey:)",
                "shouldHandleInaccessibleFault(_:for:triggeredByProperty:)", "value(forUndefinedKey:)",
                "setValue(_:forUndefinedKey:)", "predicateValue(forKey:)",
                "comparableValue(forKey:)",
            ]
        ),
        (
            "Follows a method that checks the queue, as the end of a change.",
            ["didChangeValue(forKey:)", "didChangeValue(forKey:withSetMutation:using:)"]
        ),
        (
            "Calls willChangeValue(forKey:) or didChangeValue(forKey:).",
            ["willChange(_:valuesAt:forKey:)", "didChange(_:valuesAt:forKey:)"]
        ),
        (
            "Called by generated accessors, which check the queue at the first change only.",
            [
                "managedValueIfAny(of:in:)", "setManagedValueIfAny(_:of:in:)", "missingManagedValue(of:in:)",
            ]
        ),
        (
            "Calls the same function as observe(key:options:changeHandler:).",
            ["observe(_:options:changeHandler:)", "observeChanges(_:)", "values(of:)"]
        ),
    ]

    @Test func `the table has every public method`() throws {
        let named = Set(Self.uses.map { String($0.name.prefix { $0 != " " }) })
        var listed = named
        for (_, members) in Self.others { listed.formUnion(members) }
        let classes = ["NSManagedObjectContext", "NSManagedObject", "KeyValueObservable"]
        let declared = Set(try classes.flatMap { try PublicMembers.names(of: $0) })
        #expect(declared.count > 90)
        #expect(declared.subtracting(listed) == [])
        #expect(listed.subtracting(declared) == [])
    }

    @Test func `every method checks the queue`() async throws {
        let run = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            setenv(ConcurrencyDebug.name, "1", 1)
            nonisolated(unsafe) var violations = 0
            ConcurrencyDebug.violation = { _ in violations += 1 }
            var unchecked: [String] = []
            for use in QueueCheckTests.uses {
                let context = try TestStack().context(.privateQueueConcurrencyType)
                let note = try? context.performAndWait {
                    let note = context.insert("Note", ["title": "one"])
                    try context.save()
                    return note
                }
                guard let note else {
                    unchecked.append("\(use.name) without an object")
                    continue
                }
                if violations > 0 { unchecked.append("\(use.name), wrongly before its call") }
                violations = 0
                try? use.call(context, note)
                if violations == 0 { unchecked.append(use.name) }
                violations = 0
            }
            FileHandle.standardError.write(Data("Unchecked: [\(unchecked.joined(separator: ", "))]\n".utf8))
            exit(EXIT_SUCCESS)
        }
        let unchecked = String(decoding: try #require(run).standardErrorContent, as: UTF8.self)
        // The testing library may write to the same stream.
        #expect(unchecked.contains("Unchecked: []"), "\(unchecked)")
    }

    @Test func `a child merges what a parent on the main queue has saved while the main queue waits for the child`()
        async throws
    {
        let stack = try TestStack()
        try await MainActor.run {
            let parent = stack.context(.mainQueueConcurrencyType)
            let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            child.parent = parent
            child.automaticallyMergesChangesFromParent = true
            let note = parent.insert("Note", ["title": "one"])
            try parent.save()
            for round in 0..<50 {
                let title = child.performAndWait {
                    (child.object(with: note.objectID).value(forKey: "title") as? String) ?? ""
                }
                #expect(!title.isEmpty)
                note.setValue("round \(round)", forKey: "title")
                try parent.save()
            }
            let last = child.performAndWait { child.object(with: note.objectID).value(forKey: "title") as? String }
            #expect(last == "round 49")
        }
    }

    @Test func `a grandchild merges while its grandparent waits for it`() async throws {
        let stack = try TestStack()
        let contexts = (0..<3).map { _ in NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType) }
        contexts[0].persistentStoreCoordinator = stack.coordinator
        contexts[1].parent = contexts[0]
        contexts[2].parent = contexts[1]
        contexts[2].automaticallyMergesChangesFromParent = true
        let id = try contexts[0].performAndWait {
            let note = contexts[0].insert("Note", ["title": "one"])
            try contexts[0].save()
            return note.objectID
        }
        for round in 0..<50 {
            try contexts[1].performAndWait {
                contexts[1].object(with: id).setValue("round \(round)", forKey: "title")
                try contexts[1].save()
            }
            let title = contexts[0].performAndWait {
                contexts[2].performAndWait { contexts[2].object(with: id).value(forKey: "title") as? String }
            }
            #expect(title?.isEmpty == false)
        }
    }

    @Test func `the main queue is the main context's queue, also for the main actor`() async throws {
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            DispatchQueue.main.async {
                #expect(context.queue.isCurrent)
                continuation.resume()
            }
        }
        #expect(await MainActor.run { context.queue.isCurrent })
        let isCurrentElsewhere = await Task.detached { context.queue.isCurrent }.value
        #expect(!isCurrentElsewhere)
    }

    /// CoreDataEvolution observes the objects that the main thread reads.
    @Test @MainActor func theMainActorExecutesTheMainQueue() async {
        #expect(Thread.executesMainQueue)
        #expect(await Task.detached { Thread.executesMainQueue }.value == false)
    }

    /// CoreDataPlus and Skopelos expect that observers of a background context, whose block the main thread waits for, are called on it.
    @Test @MainActor func aBlockThatTheMainQueueWaitsForIsExecutedOnItsThread() async {
        let outer = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let inner = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        #expect(outer.performAndWait { Thread.executesMainQueue })
        #expect(outer.performAndWait { inner.performAndWait { Thread.executesMainQueue } })
        #expect(await outer.perform { Thread.executesMainQueue } == false)
        #expect(await outer.perform { inner.performAndWait { Thread.executesMainQueue } } == false)
    }
}

import CoreDataErrors
import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects

/// Many contexts that change the same row at once, with a merge policy: every save succeeds, and no change is lost.
@Suite(.serialized) struct ContendedSaveTests {
    /// A type of store, with its journal mode.
    struct Kind: CustomTestStringConvertible, Sendable {
        let type: String
        var journalMode: String?

        var testDescription: String { [type, journalMode].compactMap(\.self).joined(separator: ", ") }

        static let all =
            TestStores.rowTypes.filter { $0 != NSSQLiteStoreType }.map { Kind(type: $0) } + [
                Kind(type: NSSQLiteStoreType, journalMode: "wal"), Kind(type: NSSQLiteStoreType, journalMode: "delete"),
                Kind(type: NSXMLStoreType),
            ]
    }

    /// A store with one folder and one note, whose count is 0.
    private final class Shared: Sendable {
        let stack: TestStack
        let note: NSManagedObjectID
        let folderID: NSManagedObjectID
        private let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("Contended-\(UUID().uuidString)")

        init(_ kind: Kind, model: NSManagedObjectModel = NotesModel.make()) throws {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let options = kind.journalMode.map { [NSSQLitePragmasOption: ["journal_mode": $0]] }
            let isFile = [NSSQLiteStoreType, NSXMLStoreType].contains(kind.type)
            stack = try TestStack(
                model: model, type: kind.type,
                url: isFile ? folder.appendingPathComponent("Notes") : URL(fileURLWithPath: "/dev/null"),
                options: options)
            let context = stack.context(.privateQueueConcurrencyType)
            (note, folderID) = try context.performAndWait {
                let note = context.insert("Note", ["title": "shared", "count": 0])
                let folder = context.insert("Folder", ["name": "shared"])
                try context.save()
                return (note.objectID, folder.objectID)
            }
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        /// Runs a change and a save in many contexts at once.
        func contend(
            _ count: Int = 200, policy: NSMergePolicy,
            _ change: @escaping @Sendable (NSManagedObjectContext, Int) throws -> Void
        ) async throws {
            try await withThrowingTaskGroup { group in
                for number in 0..<count {
                    let context = stack.context(.privateQueueConcurrencyType)
                    context.mergePolicy = policy
                    group.addTask {
                        try await context.perform {
                            try change(context, number)
                            try context.save()
                        }
                    }
                }
                try await group.waitForAll()
            }
        }

        /// The state of the store, read by a new context.
        func read<Result>(_ body: (NSManagedObjectContext) throws -> Result) throws -> Result {
            let context = stack.context(.privateQueueConcurrencyType)
            return try context.performAndWait { try body(context) }
        }
    }

    @Test(arguments: Kind.all) func `a set value conflicts with no save`(kind: Kind) async throws {
        let shared = try Shared(kind)
        let note = shared.note
        try await shared.contend(policy: .mergeByPropertyObjectTrump) { context, number in
            let note = try context.existingObject(with: note)
            note.setValue(number, forKey: number.isMultiple(of: 2) ? "count" : "small")
        }
        try shared.read { context in
            let note = try context.existingObject(with: note)
            #expect((note.value(forKey: "count") as? Int ?? 1).isMultiple(of: 2))
            #expect(!(note.value(forKey: "small") as? Int ?? 0).isMultiple(of: 2))
        }
    }

    @Test(arguments: Kind.all) func `children of a shared parent are all kept`(kind: Kind) async throws {
        let shared = try Shared(kind)
        let (note, folder) = (shared.note, shared.folderID)
        try await shared.contend(policy: .mergeByPropertyObjectTrump) { context, number in
            let note = try context.existingObject(with: note)
            let folder = try context.existingObject(with: folder)
            context.insert("Note", ["title": "\(number)"]).setValue(folder, forKey: "folder")
            folder.setValue("\(number)", forKey: "name")
            note.mutableOrderedSetValue(forKey: "items").add(context.insert("Item", ["name": "\(number)"]))
        }
        let names = Set((0..<200).map(String.init))
        try shared.read { context in
            let items = try context.existingObject(with: note).value(forKey: "items") as? NSOrderedSet
            let notes = try context.existingObject(with: folder).value(forKey: "notes") as? Set<NSManagedObject>
            let added = items?.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
            #expect(Set(added ?? []) == names)
            #expect(Set(notes?.compactMap { $0.value(forKey: "title") as? String } ?? []) == names)
            #expect(context.brokenInvariants() == [])
        }
    }

    /// Adds the increments of both sides.
    private final class Sum: NSMergePolicy, @unchecked Sendable {  // because it is immutable
        init() { super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType) }

        override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
            let sums = list.map { conflict in
                func count(_ values: [String: Any]?) -> Int { values?["count"] as? Int ?? 0 }
                let mine = conflict.sourceObject.value(forKey: "count") as? Int ?? 0
                return mine - count(conflict.cachedSnapshot) + count(conflict.persistedSnapshot)
            }
            try super.resolve(optimisticLockingConflicts: list)
            for (conflict, sum) in zip(list, sums) { conflict.sourceObject.setValue(sum, forKey: "count") }
        }
    }

    @Test(arguments: Kind.all) func `a policy that adds both changes counts every save`(kind: Kind) async throws {
        let shared = try Shared(kind)
        let note = shared.note
        try await shared.contend(policy: Sum()) { context, _ in
            let note = try context.existingObject(with: note)
            note.setValue((note.value(forKey: "count") as? Int ?? 0) + 1, forKey: "count")
        }
        let count = try shared.read { try $0.existingObject(with: note).value(forKey: "count") as? Int }
        #expect(count == 200)
    }

    /// Every context inserts the object of one unique name, and refers to it.
    @Test(arguments: Kind.all.filter { $0.type != NSXMLStoreType })
    func `one object of a unique name remains`(kind: Kind) async throws {
        let model = NotesModel.make()
        model.entitiesByName["Tag"]?.uniquenessConstraints = [["name"]]
        let shared = try Shared(kind, model: model)
        try await shared.contend(policy: .mergeByPropertyObjectTrump) { context, number in
            let tag = context.insert("Tag", ["name": "home"])
            context.insert("Item", ["name": "\(number)"]).setValue(NSSet(object: tag), forKey: "tags")
        }
        try shared.read { context in
            let tags = try context.all("Tag")
            #expect(tags.count == 1)
            #expect((tags.first?.value(forKey: "items") as? NSSet)?.count == 200)
        }
    }

    /// Saves another context while it resolves conflicts.
    private final class Saving: NSMergePolicy, @unchecked Sendable {  // because a test uses it on one thread at a time
        let other: NSManagedObjectContext

        init(_ other: NSManagedObjectContext) {
            self.other = other
            super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        }

        override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
            try other.performAndWait { try other.save() }
            try super.resolve(optimisticLockingConflicts: list)
        }
    }

    @Test(arguments: Kind.all) func `a policy that saves is an error`(kind: Kind) throws {
        let shared = try Shared(kind)
        let note = shared.note
        let (first, second) = (
            shared.stack.context(.privateQueueConcurrencyType), shared.stack.context(.privateQueueConcurrencyType)
        )
        try first.performAndWait { () throws in
            try first.existingObject(with: note).setValue(1, forKey: "count")
        }
        try second.performAndWait { () throws in
            try second.existingObject(with: note).setValue(2, forKey: "count")
            try second.save()
            _ = second.insert("Note", ["title": "unsaved"])
        }
        try first.performAndWait { () throws in
            first.mergePolicy = Saving(second)
            let error = #expect(throws: (any Error).self) { try first.save() } as NSError?
            #expect(error?.code == NSPersistentStoreSaveError && first.hasChanges)
            first.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try first.save()
        }
        try second.performAndWait { try second.save() }
        let count = try shared.read { try $0.existingObject(with: note).value(forKey: "count") as? Int }
        #expect(count == 1)
    }

    /// A pinned context resolves conflicts with the newest rows, and is pinned to them afterwards.
    @Test(arguments: Kind.all) func `a pinned context resolves conflicts`(kind: Kind) throws {
        let shared = try Shared(kind)
        let note = shared.note
        let (first, second) = (shared.stack.context(), shared.stack.context())
        try first.setQueryGenerationFrom(.current)
        first.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let mine = try first.existingObject(with: note)
        mine.setValue(1, forKey: "count")
        try second.existingObject(with: note).setValue("theirs", forKey: "title")
        try second.save()
        try first.save()
        #expect(mine.value(forKey: "title") as? String == "theirs" && first.queryGenerationToken != nil)
    }

    /// Uses the saving context as code does that does not know from where it is called.
    private final class Waiting: NSMergePolicy, @unchecked Sendable {  // because it has no state
        override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
            for conflict in list {
                let object = conflict.sourceObject
                object.managedObjectContext?.performAndWait { object.setValue("resolved", forKey: "title") }
            }
            try super.resolve(optimisticLockingConflicts: list)
        }
    }

    @Test(arguments: Kind.all) func `a policy may wait for the queue of the saving context`(kind: Kind) throws {
        let shared = try Shared(kind)
        let saving = shared.stack.context(.privateQueueConcurrencyType)
        saving.mergePolicy = Waiting(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        try saving.performAndWait { try saving.existingObject(with: shared.note).setValue(1, forKey: "count") }
        try shared.read { context in
            try context.existingObject(with: shared.note).setValue(2, forKey: "count")
            try context.save()
        }
        let isSaved = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            #expect(throws: Never.self) { try saving.performAndWait { try saving.save() } }
            isSaved.signal()
        }
        // Returns at once, or the save waits for ever.
        try #require(isSaved.wait(timeout: .now() + 60) == .success)
        try shared.read { context in
            let note = try context.existingObject(with: shared.note)
            #expect(note.value(forKey: "title") as? String == "resolved" && note.value(forKey: "count") as? Int == 1)
        }
    }
}

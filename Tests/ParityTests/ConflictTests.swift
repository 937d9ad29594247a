import CoreData
import Testing

/// The behaviour that programs rely on when two contexts, or two objects, conflict over a row.
///
/// Page: https://developer.apple.com/documentation/coredata/nsmergepolicy
@Suite struct ConflictTests {
    /// Two contexts change the same note; the first save succeeds, and the policy determines the result of the second.
    private func conflict(
        _ policy: NSMergePolicy, _ body: (NSManagedObjectContext, NSManagedObject) throws -> Void
    ) throws {
        let diary = try Diary()
        let first = diary.context()
        let second = diary.context()
        second.mergePolicy = policy
        let id = try first.performAndWait {
            let note = first.insert("Note", ["title": "one", "rank": 1])
            try first.save()
            return note.objectID
        }
        let mine = try second.performAndWait {
            let mine = try second.existingObject(with: id)
            mine.setValue("mine", forKey: "title")
            return mine
        }
        try first.performAndWait {
            let note = try first.existingObject(with: id)
            note.setValue("theirs", forKey: "title")
            note.setValue(2, forKey: "rank")
            try first.save()
        }
        try second.performAndWait { try body(second, mine) }
    }

    /// https://developer.apple.com/documentation/coredata/nsmergepolicytype/errormergepolicytype
    @Test func conflictsAreErrorsByDefault() throws {
        try conflict(.error) { context, note in
            let error = #expect(throws: (any Error).self) { try context.save() } as NSError?
            #expect(error?.code == NSManagedObjectMergeError)
            let conflict = (error?.userInfo["conflictList"] as? [NSMergeConflict])?.first
            #expect(conflict?.sourceObject === note)
            #expect(conflict?.oldVersionNumber == 1 && conflict?.newVersionNumber == 2)
            #expect(conflict?.persistedSnapshot?["title"] as? String == "theirs" || conflict?.cachedSnapshot != nil)
            #expect(conflict?.objectSnapshot?["title"] as? String == "one")
            let rows = [conflict?.cachedSnapshot?["title"], conflict?.persistedSnapshot?["title"]]
            #expect(rows.compactMap { $0 as? String }.last == "theirs")
            #expect(context.hasChanges && note.value(forKey: "title") as? String == "mine")
            context.refresh(note, mergeChanges: true)
            try context.save()
            #expect(note.value(forKey: "title") as? String == "mine" && note.value(forKey: "rank") as? Int == 2)
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsmergepolicytype
    @Test func everyPolicyResolvesConflicts() throws {
        for (policy, title, rank) in [
            (NSMergePolicy.mergeByPropertyStoreTrump, "theirs", 2), (.mergeByPropertyObjectTrump, "mine", 2),
            (.overwrite, "mine", 1), (.rollback, "theirs", 2),
        ] {
            try conflict(policy) { context, note in
                try context.save()
                #expect(!context.hasChanges)
                context.refresh(note, mergeChanges: false)
                #expect(note.value(forKey: "title") as? String == title, "\(policy.mergeType)")
                #expect(note.value(forKey: "rank") as? Int == rank, "\(policy.mergeType)")
            }
        }
    }

    private final class Longest: NSMergePolicy, @unchecked Sendable {
        init() { super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType) }
        override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
            for conflict in list { conflict.sourceObject.setValue("settled", forKey: "title") }
            try super.resolve(optimisticLockingConflicts: list)
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsmergepolicy/resolve(optimisticlockingconflicts:)
    @Test func aCustomPolicyResolvesConflicts() throws {
        try conflict(Longest()) { context, note in
            try context.save()
            context.refresh(note, mergeChanges: false)
            #expect(note.value(forKey: "title") as? String == "settled")
            #expect(note.value(forKey: "rank") as? Int == 2)
        }
    }

    /// Many contexts change one row at once, and refer to it from new objects: with a policy every save succeeds, and nothing is lost.
    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func contendedSavesSucceed(type: String) async throws {
        let diary = try Diary(type)
        let first = diary.context()
        let id = try first.performAndWait {
            let note = first.insert("Note", ["title": "shared", "rank": -1])
            try first.save()
            return note.objectID
        }
        try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                let context = diary.context()
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                group.addTask {
                    try await context.perform {
                        let note = try context.existingObject(with: id)
                        note.setValue(number, forKey: "rank")
                        context.insert("Tag", ["name": "\(number)"]).setValue(Set([note]), forKey: "notes")
                        try context.save()
                    }
                }
            }
            try await group.waitForAll()
        }
        let after = diary.context()
        try after.performAndWait {
            let note = try after.existingObject(with: id)
            let tags = note.value(forKey: "tags") as? Set<NSManagedObject>
            let names = tags?.compactMap { $0.value(forKey: "name") as? String }
            #expect(Set(names ?? []) == Set((0..<200).map(String.init)))
            #expect(note.value(forKey: "rank") as? Int != -1)
        }
    }

    /// The other context has deleted the row that this one has changed, or changed the one that this one deletes.
    @Test func deletionsConflict() throws {
        for deletesSecond in [true, false] {
            let diary = try Diary()
            let first = diary.context()
            let second = diary.context()
            let id = try first.performAndWait {
                let note = first.insert("Note", ["title": "one"])
                try first.save()
                return note.objectID
            }
            try second.performAndWait {
                let note = try second.existingObject(with: id)
                if deletesSecond { second.delete(note) } else { note.setValue("mine", forKey: "title") }
            }
            try first.performAndWait {
                let note = try first.existingObject(with: id)
                if deletesSecond { note.setValue("theirs", forKey: "title") } else { first.delete(note) }
                try first.save()
            }
            try second.performAndWait {
                let error = #expect(throws: (any Error).self) { try second.save() } as NSError?
                #expect(error?.code == NSManagedObjectMergeError, "deletes: \(deletesSecond)")
                second.mergePolicy = NSMergePolicy.rollback
                try second.save()
                #expect(!second.hasChanges)
            }
            let after = diary.context()
            #expect(
                try after.performAndWait { try after.names("Note", "title") } == (deletesSecond ? ["theirs"] : []))
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsconstraintconflict
    @Test func aTakenUniqueValueIsMerged() throws {
        let diary = try Diary()
        let context = diary.context()
        try context.performAndWait {
            let stored = context.insert("Tag", ["name": "home"])
            try context.save()
            let again = context.insert("Tag", ["name": "home"])
            again.setValue(NSSet(object: context.insert("Note", ["title": "one"])), forKey: "notes")
            let error = #expect(throws: (any Error).self) { try context.save() } as NSError?
            #expect(error?.code == NSManagedObjectConstraintMergeError)
            let conflict = (error?.userInfo["conflictList"] as? [NSConstraintConflict])?.first
            #expect(conflict?.constraint == ["name"])
            #expect(conflict?.constraintValues["name"] as? String == "home")
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            #expect(try context.all("Tag").count == 1)
            #expect(try context.all("Tag").first?.objectID == stored.objectID)
        }
        let after = diary.context()
        try after.performAndWait {
            let note = try #require(try after.all("Note").first)
            #expect((note.value(forKey: "tags") as? NSSet)?.count == 1)
        }
    }

    // MARK: - The content of a conflict

    private enum Change: CaseIterable { case update, delete }

    /// A context saves a change of a note that another has changed or deleted since; returns the conflict.
    private func conflict(of own: Change, with others: Change) throws -> (
        conflict: NSMergeConflict, author: NSManagedObjectID
    ) {
        let diary = try Diary()
        let first = diary.context()
        let second = diary.context()
        let (id, author) = try first.performAndWait {
            let author = first.insert("Person", ["name": "Ann"])
            let note = first.insert("Note", ["title": "one", "author": author])
            try first.save()
            return (note.objectID, author.objectID)
        }
        func change(_ note: NSManagedObject, _ change: Change, _ title: String) {
            if change == .delete {
                note.managedObjectContext?.delete(note)
            } else {
                note.setValue(title, forKey: "title")
            }
        }
        try second.performAndWait { change(try second.existingObject(with: id), own, "mine") }
        try first.performAndWait {
            change(try first.existingObject(with: id), others, "theirs")
            try first.save()
        }
        return try second.performAndWait {
            let error = #expect(throws: (any Error).self) { try second.save() } as NSError?
            #expect(error?.code == NSManagedObjectMergeError)
            let list = try #require(error?.userInfo["conflictList"] as? [NSMergeConflict])
            let conflict = try #require(list.first { $0.sourceObject.objectID == id })
            #expect(conflict.sourceObject.managedObjectContext === second)
            return (conflict, author)
        }
    }

    /// Both have changed the row. The current row is in the persisted snapshot, or in the cached one where the
    /// coordinator has it. To-one relationships are IDs, and to-many relationships are not included.
    ///
    /// https://developer.apple.com/documentation/coredata/nsmergeconflict
    @Test func aConflictOfTwoUpdatesHasBothRows() throws {
        let (conflict, author) = try conflict(of: .update, with: .update)
        #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
        let object = try #require(conflict.objectSnapshot)
        #expect(object["title"] as? String == "one" && object["author"] as? NSManagedObjectID == author)
        #expect(object["tags"] == nil && object["items"] == nil)
        let present = try #require(conflict.persistedSnapshot ?? conflict.cachedSnapshot)
        #expect(present["title"] as? String == "theirs" && present["author"] as? NSManagedObjectID == author)
        #expect(conflict.cachedSnapshot != nil)
    }

    /// The object to be deleted has been changed: the snapshots are as in a conflict of two updates.
    @Test func aDeletionConflictsWithAnUpdate() throws {
        let conflict = try conflict(of: .delete, with: .update).conflict
        #expect(conflict.sourceObject.isDeleted)
        #expect(conflict.oldVersionNumber == 1 && conflict.newVersionNumber == 2)
        #expect(conflict.objectSnapshot?["title"] as? String == "one")
        #expect((conflict.persistedSnapshot ?? conflict.cachedSnapshot)?["title"] as? String == "theirs")
    }

    /// The row of the changed object is deleted: the new version is 0, and there is no persisted snapshot.
    @Test func anUpdateConflictsWithADeletion() throws {
        let conflict = try conflict(of: .update, with: .delete).conflict
        #expect(conflict.sourceObject.value(forKey: "title") as? String == "mine")
        #expect(conflict.newVersionNumber == 0)
        #expect(conflict.persistedSnapshot == nil)
        #expect(conflict.objectSnapshot?["title"] as? String == "one")
    }

    /// In a conflict with the store one object is conflicting, and the row's object and values are given; among unsaved
    /// objects both are conflicting, and there is no row.
    ///
    /// https://developer.apple.com/documentation/coredata/nsconstraintconflict
    @Test func aConstraintConflictHasTheObjectsWithTheValues() throws {
        let diary = try Diary()
        let context = diary.context()
        func conflict() throws -> NSConstraintConflict {
            let error = #expect(throws: (any Error).self) { try context.save() } as NSError?
            #expect(error?.code == NSManagedObjectConstraintMergeError)
            return try #require((error?.userInfo["conflictList"] as? [NSConstraintConflict])?.first)
        }
        try context.performAndWait {
            let one = context.insert("Tag", ["name": "home"])
            let other = context.insert("Tag", ["name": "home"])
            let unsaved = try conflict()
            #expect(unsaved.databaseObject == nil && unsaved.databaseSnapshot == nil)
            #expect(Set(unsaved.conflictingObjects) == [one, other])
            #expect(unsaved.conflictingSnapshots.count == 2)
            context.delete(other)
            try context.save()
            let again = context.insert("Tag", ["name": "home"])
            let stored = try conflict()
            #expect(stored.databaseObject === one && stored.conflictingObjects == [again])
            #expect(stored.databaseSnapshot?["name"] as? String == "home")
            #expect(stored.conflictingSnapshots.count == 1)
            #expect(stored.constraint == ["name"] && stored.constraintValues["name"] as? String == "home")
        }
    }

    // MARK: - Custom policies

    private struct Refused: Error {}

    private final class Collector: NSMergePolicy, @unchecked Sendable {
        var stale: [NSMergeConflict] = []
        var taken: [NSConstraintConflict] = []
        var refuses = false

        override func resolve(mergeConflicts list: [Any]) throws {
            if refuses { throw Refused() }
            try super.resolve(mergeConflicts: list)
        }
        override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
            stale += list
            try super.resolve(optimisticLockingConflicts: list)
        }
        override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
            taken += list
            try super.resolve(constraintConflicts: list)
        }
    }

    /// A subclass receives both kinds of conflicts, and lets its superclass resolve them.
    @Test func aCustomPolicyReceivesBothKindsOfConflicts() throws {
        let policy = Collector(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        try conflict(policy) { context, note in
            for _ in 0..<2 { _ = context.insert("Tag", ["name": "home"]) }
            try context.save()
            #expect(policy.stale.map(\.sourceObject) == [note])
            #expect(policy.taken.count == 1)
            #expect(try context.names("Tag") == ["home"])
            #expect(note.value(forKey: "title") as? String == "mine" && note.value(forKey: "rank") as? Int == 2)
        }
    }

    /// An error of a policy is the error of the save; nothing is written and nothing is lost.
    @Test func aPolicyCanFailTheSave() throws {
        let policy = Collector(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        policy.refuses = true
        try conflict(policy) { context, note in
            #expect(throws: Refused.self) { try context.save() }
            #expect(context.hasChanges && note.value(forKey: "title") as? String == "mine")
            policy.refuses = false
            try context.save()
            #expect(!context.hasChanges && note.value(forKey: "title") as? String == "mine")
        }
    }

    /// Objects whose values a policy has changed are reported as refreshed, with their current values.
    ///
    /// https://developer.apple.com/documentation/coredata/nsrefreshedobjectskey
    @Test func objectsChangedByAPolicyAreReportedAsRefreshed() throws {
        for policy in [NSMergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .rollback] {
            try conflict(policy) { context, note in
                // Unsafe because the notification is posted on the thread that saves.
                nonisolated(unsafe) var refreshed: Set<NSManagedObject> = []
                let token = NotificationCenter.default.addObserver(
                    forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
                ) { refreshed.formUnion($0.userInfo?[NSRefreshedObjectsKey] as? Set<NSManagedObject> ?? []) }
                defer { NotificationCenter.default.removeObserver(token) }
                try context.save()
                #expect(refreshed == [note], "\(policy.mergeType)")
                #expect(note.value(forKey: "rank") as? Int == 2)
            }
        }
    }
}

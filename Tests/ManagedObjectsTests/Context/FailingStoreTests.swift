import Foundation
import Testing

import class FoundationAdditions.NSPredicate
import class FoundationAdditions.NSSortDescriptor
import class FoundationAdditions.UndoManager

@testable import EngineTesting

@testable import FollowedResults
@testable import FoundationAdditions
@testable import ManagedObjects

/// Every operation of a context that reads or writes, with an error at each call of the store. Afterwards the context is as it was,
/// or the operation is complete; and the next try gives what it gives without an error.
@Suite struct FailingStoreTests {
    /// What the context of a scene is.
    enum Place: CaseIterable {
        /// A context of the coordinator, whose objects are mostly read.
        case warm
        /// The same with faults whose rows and relationships are not read.
        case cold
        /// A child of such a context; the changes of both are unsaved.
        case child
    }

    @Test(arguments: Operation.all, Place.allCases)
    func `an error at any call loses nothing`(operation: Operation, place: Place) throws {
        guard operation.places.contains(place) else { return }
        // Reading the state of a scene reads its faults, so each scene is read once.
        let before = try Scene(operation, place).state()
        let undisturbed = try Scene(operation, place)
        let result = try undisturbed.run(failingAt: nil)
        let count = undisturbed.store.callCount
        let after = undisturbed.state()
        let stored = try undisturbed.finish()
        try #require(count > 0, "The operation calls no store.")
        for number in 1...count {
            let label = Comment(rawValue: "call \(number) of \(count)")
            let failed = try Scene(operation, place)
            let failedResult = try? failed.run(failingAt: number)
            // With an error an operation may take another way, with fewer calls.
            if failed.store.callCount < number { break }
            let left = failed.state()
            #expect(failed.brokenInvariants() == [], label)
            let isDone = left == after && failedResult == result
            if !isDone {
                expect(left, before, label)
                #expect(failedResult == nil || operation.reports, label)
            }
            let repeated = try Scene(operation, place)
            _ = try? repeated.run(failingAt: number)
            if !isDone { #expect(try repeated.run(failingAt: nil) == result, label) }
            expect(repeated.state(), after, label)
            #expect(repeated.brokenInvariants() == [], label)
            #expect(try repeated.finish() == stored, label)
        }
    }

    /// Compares two states line by line, so that a failure names the objects that differ.
    private func expect(
        _ state: [String], _ expected: [String], _ label: Comment, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let (lost, found) = (expected.filter { !state.contains($0) }, state.filter { !expected.contains($0) })
        #expect(found == lost, label, sourceLocation: sourceLocation)
    }
}

extension FailingStoreTests {
    /// An operation of a context.
    struct Operation: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var places: [Place] = Place.allCases
        /// Whether the operation cannot throw, so that an error is only reported.
        var reports = false
        /// Prepares the scene, before its state is compared.
        var prepare: @Sendable (Scene) throws -> Void = { _ in }
        let run: @Sendable (Scene) throws -> String

        init(
            _ name: String, in places: [Place] = Place.allCases, reports: Bool = false,
            prepare: @escaping @Sendable (Scene) throws -> Void = { _ in },
            _ run: @escaping @Sendable (Scene) throws -> String
        ) {
            testDescription = name
            (self.places, self.reports, self.prepare, self.run) = (places, reports, prepare, run)
        }

        static let all = reading + changing + merging + saving + others + history

        private static let reading: [Operation] = [
            Operation("fetch") {
                try $0.names(of: $0.notes { $0.relationshipKeyPathsForPrefetching = ["items.tags"] })
            },
            Operation("fetch by a predicate through relationships") {
                try $0.names(of: $0.notes { $0.predicate = NSPredicate(format: "ANY items.tags.name == '1'") })
            },
            Operation("fetch in batches") {
                let found = try $0.notes { $0.fetchBatchSize = 2 }
                return "\(found.map { $0.value(forKey: "title") as? String })"
            },
            Operation("fetch without changes") { try $0.names(of: $0.notes { $0.includesPendingChanges = false }) },
            Operation("fetch of refreshed objects") {
                try $0.names(of: $0.notes { $0.shouldRefreshRefetchedObjects = true })
            },
            Operation("fetch of IDs") { scene in
                let request = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
                request.resultType = .managedObjectIDResultType
                request.predicate = NSPredicate(format: "note.count > 0")
                return "\(try scene.mine.fetch(request).count)"
            },
            Operation("fetch of dictionaries") { scene in
                let request = NSFetchRequest<NSDictionary>(entityName: "Item")
                request.resultType = .dictionaryResultType
                request.propertiesToFetch = ["index"]
                return "\(try scene.mine.fetch(request).compactMap { $0["index"] as? Int }.sorted())"
            },
            Operation("count") { "\(try $0.mine.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")))" },
            Operation("count by a predicate") { scene in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                request.predicate = NSPredicate(format: "note.title == 'old'")
                return "\(try scene.mine.count(for: request))"
            },
            Operation("existing object", in: [.cold]) { scene in
                try scene.name(of: scene.mine.existingObject(with: scene.ids["Item 14"]!))
            },
            Operation("results controller") { scene in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                request.sortDescriptors = [
                    NSSortDescriptor(key: "note.count", ascending: true),
                    NSSortDescriptor(key: "index", ascending: true),
                ]
                let controller = NSFetchedResultsController(
                    fetchRequest: request, managedObjectContext: scene.mine, sectionNameKeyPath: "note.count",
                    cacheName: nil)
                try controller.performFetch()
                return "\(controller.sections?.map { "\($0.name) \($0.numberOfObjects)" } ?? [])"
            },
            Operation("faults", in: [.cold], reports: true) { scene in
                "\(scene.mine.object(with: scene.ids["Item 14"]!).value(forKeyPath: "note.cover.name") ?? "nil")"
            },
            Operation("fetched property", reports: true) { scene in
                let property = NSFetchedPropertyDescription()
                (property.name, property.fetchRequest) = ("others", NSFetchRequest(entityName: "Note"))
                property.fetchRequest?.predicate = NSPredicate(format: "count > $FETCH_SOURCE.count")
                return "\(scene.mine.fetchedValue(of: property, source: scene["Note 1"]).count)"
            },
            Operation("asynchronous fetch") { scene in
                let request = NSAsynchronousFetchRequest(
                    fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Item"), completionBlock: nil)
                let result = try scene.mine.execute(request) as? NSAsynchronousFetchResult<NSManagedObject>
                if let error = result?.operationError { throw error }
                return "\(result?.finalResult?.count ?? -1)"
            },
            Operation("relationships", reports: true) { scene in
                let note = scene.mine.object(with: scene.ids["Note 4"]!)
                let names = try #require(note.value(forKeyPath: "items.tags.name") as? NSOrderedSet)
                let counts = names.map { ($0 as? NSSet)?.count ?? -1 }.sorted()
                return "\(counts) \((note.value(forKey: "related") as? NSSet)?.count ?? 0)"
            },
        ]

        private static let changing: [Operation] = [
            Operation("value of a fault", in: [.cold], reports: true) { scene in
                scene["Item 14"].setValue("mine", forKey: "name")
                return ""
            },
            Operation("primitive values of a fault", in: [.cold], reports: true) { scene in
                scene["Item 14"].setPrimitiveValue("mine", forKey: "name")
                return ""
            },
            Operation("announced primitive value of a fault", in: [.cold], reports: true) { scene in
                let item = scene["Item 13"]
                item.willChangeValue(forKey: "name")
                item.setPrimitiveValue("mine", forKey: "name")
                item.didChangeValue(forKey: "name")
                return ""
            },
            Operation("to-one relationship", reports: true) { scene in
                scene["Item 14"].setValue(scene["Note 0"], forKey: "note")
                return ""
            },
            Operation("one-to-one relationship", in: [.cold], reports: true) { scene in
                scene["Note 1"].setValue(scene["Item 12"], forKey: "cover")
                return ""
            },
            Operation("ordered members", reports: true) { scene in
                scene["Note 2"].mutableOrderedSetValue(forKey: "items").insert(scene["Item 13"], at: 1)
                return ""
            },
            Operation("members", reports: true) { scene in
                scene["Item 13"].setValue(NSSet(objects: scene["Tag 0"], scene["Tag 2"]), forKey: "tags")
                return ""
            },
            Operation("added and removed members", reports: true) { scene in
                scene["Item 12"].mutableSetValue(forKey: "tags").remove(scene["Tag 4"])
                return ""
            },
            Operation("deletion of a fault", in: [.cold], reports: true) { scene in
                scene.mine.delete(scene["Item 14"])
                return ""
            },
            Operation(
                "delete rules", reports: true, prepare: { $0.mine.delete($0["Note 4"]) }
            ) { scene in
                scene.mine.processPendingChanges()
                return ""
            },
            Operation(
                "delete rules of a member", in: [.warm, .cold], reports: true,
                prepare: { $0.mine.delete($0["Item 12"]) }
            ) { scene in
                scene.mine.processPendingChanges()
                return ""
            },
            Operation(
                "undo", in: [.warm, .cold], reports: true,
                prepare: { scene in
                    let manager = UndoManager()
                    scene.mine.undoManager = manager
                    scene["Item 14"].setValue(scene["Note 1"], forKey: "note")
                    scene["Note 2"].setValue(scene["Item 12"], forKey: "cover")
                    scene["Item 13"].mutableSetValue(forKey: "tags").add(scene["Tag 2"])
                    scene.mine.delete(scene["Note 4"])
                    scene.mine.processPendingChanges()
                    scene.turnIntoFaults()
                }
            ) { scene in
                scene.mine.undo()
                return "\(scene.mine.undoManager?.canUndo == true) \(scene.mine.undoManager?.canRedo == true)"
            },
            Operation(
                "redo", in: [.warm, .cold], reports: true,
                prepare: { scene in
                    scene.mine.undoManager = UndoManager()
                    scene["Item 14"].setValue(scene["Note 1"], forKey: "note")
                    scene["Item 13"].mutableSetValue(forKey: "tags").add(scene["Tag 2"])
                    scene.mine.processPendingChanges()
                    scene.mine.undo()
                    scene.turnIntoFaults()
                }
            ) { scene in
                scene.mine.redo()
                return "\(scene.mine.undoManager?.canUndo == true) \(scene.mine.undoManager?.canRedo == true)"
            },
        ]

        private static let merging: [Operation] = [
            Operation("merge", in: [.warm, .cold], reports: true) { scene in
                scene.mine.mergeChanges(fromContextDidSave: scene.saved)
                return ""
            },
            Operation("merge by IDs", in: [.warm, .cold], reports: true) { scene in
                NSManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: scene.saved.userInfo ?? [:], into: [scene.mine])
                return ""
            },
            Operation(
                "automatic merge", in: [.warm, .cold], reports: true,
                prepare: { $0.mine.automaticallyMergesChangesFromParent = true }
            ) { scene in
                NotificationCenter.default.post(scene.saved)
                return ""
            },
            Operation(
                "merge after one that failed", in: [.warm], reports: true,
                prepare: { scene in
                    scene.store.failing(at: 1) { scene.mine.mergeChanges(fromContextDidSave: scene.saved) }
                }
            ) { scene in
                scene.mine.mergeChanges(fromContextDidSave: Notification(name: scene.saved.name, userInfo: [:]))
                return scene["Note 0"].committedValues(forKeys: ["title"]).description
            },
            Operation("refresh that merges", in: [.warm, .cold], reports: true) { scene in
                scene.mine.refresh(scene["Note 0"], mergeChanges: true)
                return ""
            },
            Operation("refresh of an unchanged object", in: [.warm], reports: true) { scene in
                scene.mine.refresh(scene["Tag 3"], mergeChanges: true)
                return ""
            },
            Operation("refresh that discards", in: [.warm, .cold], reports: true) { scene in
                scene.mine.refresh(scene["Note 0"], mergeChanges: false)
                return ""
            },
            Operation("refresh of a member that discards", in: [.warm, .cold], reports: true) { scene in
                scene.mine.refresh(scene["Item 1"], mergeChanges: false)
                return ""
            },
            Operation("refresh of all objects", in: [.warm, .cold], reports: true) { scene in
                scene.mine.refreshAllObjects()
                return ""
            },
        ]

        /// Changes relationships whenever there are conflicts, and then applies a built-in policy.
        private final class Meddling: NSMergePolicy, @unchecked Sendable {  // because it has no state
            override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
                try super.resolve(optimisticLockingConflicts: list)
                for conflict in list where conflict.sourceObject.entity.name == "Note" {
                    let note = conflict.sourceObject
                    guard let context = note.managedObjectContext, !note.isDeleted else { continue }
                    let items = note.mutableOrderedSetValue(forKey: "items")
                    items.add(context.insert("Item", ["index": 100 + (note.value(forKey: "count") as? Int ?? 0)]))
                    if let first = items.firstObject as? NSManagedObject { first.setValue("meddled", forKey: "name") }
                }
            }
        }

        private static let policies: [(String, NSMergePolicy)] = [
            ("object trump", .mergeByPropertyObjectTrump), ("store trump", .mergeByPropertyStoreTrump),
            ("overwriting", .overwrite), ("rolling back", .rollback),
            ("a policy of the program", Meddling(merge: .mergeByPropertyObjectTrumpMergePolicyType)),
        ]

        private static let saving: [Operation] =
            policies.map { name, policy in
                Operation("save with conflicts, \(name)", in: [.warm, .cold]) { scene in
                    scene.mine.mergePolicy = policy
                    try scene.mine.save()
                    return ""
                }
            } + [
                Operation(
                    "save without conflicts",
                    prepare: { scene in
                        scene.root.rollback()
                        scene.root.refreshAllObjects()
                        scene.change(title: "later", target: 2, cover: 7, deleted: 1, emptied: 4)
                        scene.mine.processPendingChanges()
                    }
                ) { scene in
                    try scene.mine.save()
                    return ""
                },
                Operation("save of a child into its parent", in: [.child]) { scene in
                    try scene.mine.save()
                    return ""
                },
                Operation(
                    "save of a parent with conflicts", in: [.child], prepare: { try $0.mine.save() }
                ) { scene in
                    scene.root.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                    try scene.root.save()
                    return ""
                },
                Operation(
                    "validation of a denied deletion", in: [.warm, .cold],
                    prepare: { scene in
                        scene.mine.delete(scene["Folder 0"])
                        scene.mine.processPendingChanges()
                        scene.turnIntoFaults()
                    }
                ) { scene in
                    scene.mine.mergePolicy = NSMergePolicy.overwrite
                    do {
                        try scene.mine.save()
                    } catch let error as CocoaError where error.code.rawValue < 2000 {
                        return "denied"
                    }
                    return "saved"
                },
            ]

        private static let others: [Operation] = [
            Operation("permanent IDs") { scene in
                let new = scene.mine.changed.filter { $0.isInserted && !$0.isDeleted }
                try scene.mine.obtainPermanentIDs(for: Array(new))
                return "\(new.filter(\.objectID.isTemporaryID).count)"
            },
            Operation("query generation", in: [.warm, .cold]) { scene in
                try scene.mine.setQueryGenerationFrom(.current)
                return "\(scene.mine.queryGenerationToken != nil)"
            },
            Operation("batch update", in: [.warm, .cold]) { scene in
                let request = NSBatchUpdateRequest(entityName: "Tag")
                request.propertiesToUpdate = ["name": "9"]
                request.predicate = NSPredicate(format: "name == '3'")
                request.resultType = .updatedObjectsCountResultType
                return "\((try scene.mine.execute(request) as? NSBatchUpdateResult)?.result as? Int ?? -1)"
            },
            Operation("batch deletion", in: [.warm, .cold]) { scene in
                let fetch = NSFetchRequest<NSManagedObject>(entityName: "Tag")
                fetch.predicate = NSPredicate(format: "name == '3'")
                let request = NSBatchDeleteRequest(fetchRequest: fetch)
                request.resultType = .resultTypeCount
                return "\((try scene.mine.execute(request) as? NSBatchDeleteResult)?.result as? Int ?? -1)"
            },
        ]
    }

    /// One context with unsaved changes, and another one that has saved changes of the same objects.
    final class Scene: @unchecked Sendable {  // because a test is one thread
        let store: FailingStore
        let operation: Operation
        /// The context that does the operation, and the one of the coordinator: its parent or itself.
        let mine: NSManagedObjectContext
        let root: NSManagedObjectContext
        /// The IDs of the stored objects, by entity and number.
        private(set) var ids: [String: NSManagedObjectID] = [:]
        private(set) var saved = Notification(name: .NSManagedObjectContextDidSave)
        private let theirs: NSManagedObjectContext
        private let stack: TestStack
        /// The objects of the scene by name, and the names of those that are not stored.
        private var objects: [String: NSManagedObject] = [:]
        private var names: [ObjectIdentifier: String] = [:]

        init(_ operation: Operation, _ place: Place) throws {
            self.operation = operation
            stack = try TestStack(options: [NSPersistentHistoryTrackingKey: true])
            store = try FailingStore.replacing(of: stack.coordinator)
            root = stack.context()
            theirs = stack.context()
            if place == .child {
                mine = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
                mine.parent = root
            } else {
                mine = root
            }
            try fill()
            let others = Scene.Names(context: theirs, ids: ids)
            if place != .cold { for name in ids.keys { self[name].willAccessValue(forKey: nil) } }
            if place == .child {
                let parents = Names(context: root, ids: ids)
                parents["Note 0"].setValue("parent", forKey: "title")
                parents["Item 2"].setValue(parents["Note 2"], forKey: "note")
                parents["Note 2"].mutableSetValue(forKey: "related").add(parents["Note 3"])
                root.processPendingChanges()
            }
            change(title: "mine", target: 1, cover: 7, deleted: 3, emptied: 9)
            mine.processPendingChanges()
            Self.change(others, title: "theirs", target: 2, cover: 8, deleted: 4, emptied: 10)
            let saves = SavesOf(theirs)
            try theirs.save()
            saved = try #require(saves.notifications.last)
            try operation.prepare(self)
        }

        private func fill() throws {
            let filling = stack.context()
            let folder = filling.insert("Folder", ["name": "0"])
            for number in 0..<6 {
                let note = filling.insert("Note", ["title": "old", "count": number])
                let items = (0..<3).map { filling.insert("Item", ["index": number * 3 + $0, "name": "old"]) }
                note.setValue(NSOrderedSet(array: items), forKey: "items")
                items[0].setValue(NSSet(object: filling.insert("Tag", ["name": "\(number)"])), forKey: "tags")
                if number > 3 { note.setValue(folder, forKey: "folder") }
            }
            try filling.save()
            for object in filling.registeredObjects {
                ids[try #require(Self.storedName(of: object))] = object.objectID
            }
        }

        private static func storedName(of object: NSManagedObject) -> String? {
            let key = ["Note": "count", "Item": "index"][object.entity.name ?? ""] ?? "name"
            return object.value(forKey: key).map { "\(object.entity.name ?? "") \($0)" }
        }

        /// Objects of a context by their names.
        private struct Names {
            let context: NSManagedObjectContext
            let ids: [String: NSManagedObjectID]

            subscript(name: String) -> NSManagedObject { context.object(with: ids[name]!) }
        }

        subscript(name: String) -> NSManagedObject {
            if let object = objects[name] { return object }
            let object = mine.object(with: ids[name]!)
            objects[name] = object
            names[ObjectIdentifier(object)] = name
            return object
        }

        func change(title: String, target: Int, cover: Int, deleted: Int, emptied: Int) {
            for name in ids.keys.sorted() { _ = self[name] }
            let new = Self.change(
                Names(context: mine, ids: ids), title: title, target: target, cover: cover, deleted: deleted,
                emptied: emptied)
            objects["new \(title)"] = new
            names[ObjectIdentifier(new)] = "new \(title)"
        }

        @discardableResult
        private static func change(
            _ names: Names, title: String, target: Int, cover: Int, deleted: Int, emptied: Int
        ) -> NSManagedObject {
            names["Note 0"].setValue(title, forKey: "title")
            names["Note \(target)"].mutableOrderedSetValue(forKey: "items").add(names["Item 1"])
            names["Note 2"].setValue(names["Item \(cover)"], forKey: "cover")
            names["Item 3"].mutableSetValue(forKey: "tags").add(names["Tag \(target)"])
            names["Note 0"].mutableSetValue(forKey: "related").add(names["Note \(target)"])
            names["Item \(emptied)"].setValue(names["Note 0"], forKey: "note")
            let new = names.context.insert("Item", ["index": 20 + target])
            names["Note 1"].mutableOrderedSetValue(forKey: "items").insert(new, at: 0)
            if deleted < 4 { names.context.delete(names["Note \(deleted)"]) }
            return new
        }

        /// Turns the unchanged objects into faults, so that their rows are read again.
        func turnIntoFaults() {
            for object in mine.registeredObjects where !object.hasChanges {
                mine.refresh(object, mergeChanges: false)
            }
            for object in mine.changed { for state in object.toMany { state?.unload() } }
        }

        func run(failingAt number: Int?) throws -> String {
            try store.failing(at: number) { try operation.run(self) }
        }

        func notes(_ change: (NSFetchRequest<NSManagedObject>) -> Void) throws -> [NSManagedObject] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true)]
            change(request)
            return try mine.fetch(request)
        }

        func names(of objects: [NSManagedObject]) -> String { "\(objects.map(name))" }

        func name(of object: NSManagedObject) -> String {
            names[ObjectIdentifier(object)] ?? Self.storedName(of: object) ?? "?"
        }

        /// The objects of the context, as text: flags, unsaved changes, and all values.
        func state() -> [String] {
            var lines = objects.map { "\($0.key): \(Self.flags($0.value)) \(values(of: $0.value))" }
            for context in mine === root ? [mine] : [mine, root] {
                lines.append(
                    "\(context === mine): \(context.insertedObjects.count) \(context.updatedObjects.count) "
                        + "\(context.deletedObjects.count) \(context.hasChanges)")
            }
            return lines.sorted()
        }

        private static func flags(_ object: NSManagedObject) -> String {
            [
                ("inserted", object.isInserted), ("updated", object.isUpdated), ("deleted", object.isDeleted),
                ("gone", object.managedObjectContext == nil),
            ].filter(\.1).map(\.0).joined(separator: " ")
        }

        private func values(of object: NSManagedObject) -> String {
            let names = ["title", "count", "index", "name"].filter { object.entity.propertiesByName[$0] != nil }
            let current = (names + object.entity.relationshipsByName.keys.sorted()).map {
                "\($0)=\(text(object.value(forKey: $0)))"
            }
            let changed = object.changedValues().map { "\($0.key)=\(text($0.value))" }.sorted()
            let committed = object.committedValues(forKeys: nil).filter { $0.value is String || $0.value is NSNumber }
                .map { "\($0.key)=\($0.value)" }.sorted()
            return "\(current) changed \(changed) committed \(committed)"
        }

        private func text(_ value: Any?) -> String {
            switch value {
            case nil: "nil"
            case let set as NSOrderedSet: "\(set.array.map { text($0) })"
            case let set as NSSet: "\(set.allObjects.map { text($0) }.sorted())"
            case let object as NSManagedObject: name(of: object)
            case let value?: "\(value)"
            }
        }

        /// Inconsistent lists and counts. Objects whose rows another context has changed may not refer back.
        func brokenInvariants() -> [String] {
            let broken = mine === root ? mine.brokenInvariants() : mine.brokenInvariants() + root.brokenInvariants()
            return broken.filter { !$0.contains("refer back") }
        }

        /// The store's contents after everything is saved.
        func finish() throws -> GraphMirror {
            for context in mine === root ? [mine] : [mine, root] {
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                context.processPendingChanges()
                for folder in context.deletedObjects where folder.entity.name == "Folder" { context.insert(folder) }
                try context.save()
            }
            return try GraphMirror(stack.context())
        }
    }
}

extension FailingStoreTests.Operation {
    private static func history(
        _ name: String, _ request: @escaping @Sendable () -> NSPersistentHistoryChangeRequest,
        as type: NSPersistentHistoryResultType, _ text: @escaping @Sendable (Any?) -> String
    ) -> Self {
        Self(name, in: [.warm, .cold]) { scene in
            let request = request()
            request.resultType = type
            return text((try scene.mine.execute(request) as? NSPersistentHistoryResult)?.result)
        }
    }

    private static func text(of change: NSPersistentHistoryChange) -> String {
        let names = (change.updatedProperties ?? []).map(\.name).sorted()
        return "\(change.changeType.rawValue) \(change.changedObjectID.entity.name ?? "") \(names)"
    }

    fileprivate static let history: [Self] = [
        history("history", { .fetchHistory(after: Date.distantPast) }, as: .transactionsAndChanges) { result in
            let transactions = result as? [NSPersistentHistoryTransaction] ?? []
            return "\(transactions.map { ($0.changes ?? []).map(text).sorted() })"
        },
        history("history of objects", { .fetchHistory(after: Date.distantPast) }, as: .objectIDs) {
            "\(($0 as? [NSManagedObjectID] ?? []).count)"
        },
        history("count of history", { .fetchHistory(after: Date.distantPast) }, as: .count) { "\($0 ?? "")" },
        history("deletion of history", { .deleteHistory(before: Date.distantFuture) }, as: .count) { "\($0 ?? "")" },
        Self("token of history", in: [.warm], reports: true) { scene in
            let token = scene.mine.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
            return "\(token != nil)"
        },
    ]
}

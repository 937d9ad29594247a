import Foundation
import Testing

@testable import ManagedObjects

/// A store in memory of which one call fails: a read, a write, or a step of a save's transaction.
private final class FailingStore: RowStore {
    private let base: any RowStore
    /// The number of the call that fails, counted from 1; nil for none.
    private var failing: Int?
    private(set) var callCount = 0

    init(_ base: any RowStore) { self.base = base }

    struct Failure: Error {}

    /// Runs work of which the n-th call fails.
    func failing(at number: Int?, _ work: () throws -> Void) rethrows {
        (failing, callCount) = (number, 0)
        defer { failing = nil }
        try work()
    }

    fileprivate func call() throws {
        callCount += 1
        if callCount == failing { throw Failure() }
    }

    var number: UInt16 {
        get { base.number }
        set { base.number = newValue }
    }

    func reserveKeys(entity: NSEntityDescription, count: Int) throws -> ClosedRange<Int64> {
        try call()
        return try base.reserveKeys(entity: entity, count: count)
    }

    func write(_ plan: SavePlan) throws -> SaveOutcome {
        try call()
        return try base.write(plan)
    }

    func inSaveTransaction<Result>(_ body: (any SaveTransaction) throws -> Result) throws -> Result {
        try call()
        return try base.inSaveTransaction { try body(Transaction(self, $0)) }
    }

    private final class Transaction: SaveTransaction {
        private let store: FailingStore
        private let base: any SaveTransaction
        var number: UInt16 { base.number }

        init(_ store: FailingStore, _ base: any SaveTransaction) { (self.store, self.base) = (store, base) }

        func reserveKeys(entity: NSEntityDescription, count: Int) throws -> ClosedRange<Int64> {
            try store.call()
            return try base.reserveKeys(entity: entity, count: count)
        }

        func write(_ plan: SavePlan) throws -> SaveOutcome {
            try store.call()
            return try base.write(plan)
        }

        func conflicts(of plan: SavePlan) throws -> SaveConflicts {
            try store.call()
            return try base.conflicts(of: plan)
        }
    }

    func pinGeneration() throws -> any StoreGeneration { try base.pinGeneration() }

    func rows(matching query: RowQuery, generation: (any StoreGeneration)?) throws -> RowResult {
        try call()
        return try base.rows(matching: query, generation: generation)
    }

    func keys(matching query: RowQuery, generation: (any StoreGeneration)?) throws -> [ObjectKey] {
        try call()
        return try base.keys(matching: query, generation: generation)
    }

    func count(matching query: RowQuery, generation: (any StoreGeneration)?) throws -> Int {
        try call()
        return try base.count(matching: query, generation: generation)
    }

    func values(matching query: ValueQuery, generation: (any StoreGeneration)?) throws -> [[Any?]] {
        try call()
        return try base.values(matching: query, generation: generation)
    }

    func rows(
        withKeys keys: [Int64], entity: NSEntityDescription, generation: (any StoreGeneration)?
    ) throws -> [RowPage] {
        try call()
        return try base.rows(withKeys: keys, entity: entity, generation: generation)
    }

    func members(
        of relationship: NSRelationshipDescription, owners: [Int64], ownerEntity: NSEntityDescription,
        includesRows: Bool, isKnown: (ObjectKey) -> Bool, generation: (any StoreGeneration)?
    ) throws -> MemberResult {
        try call()
        return try base.members(
            of: relationship, owners: owners, ownerEntity: ownerEntity, includesRows: includesRows, isKnown: isKnown,
            generation: generation)
    }
}

/// Every operation of a context that reads or writes, with an error at each call of the store: the unsaved changes are as before,
/// and repeating the operation gives what it gives without an error.
@Suite struct FailingStoreTests {
    /// An operation on a context with unsaved changes, after another context has saved.
    enum Operation: CaseIterable {
        case merge, refresh, refreshAll, saveObjectTrump, saveStoreTrump, saveOverwriting, saveRollingBack, fetch

        fileprivate func run(_ scene: Scene) throws {
            let context = scene.mine
            switch self {
            case .merge: context.mergeChanges(fromContextDidSave: scene.saved)
            case .refresh:
                for object in try #require(scene.changed) { context.refresh(object, mergeChanges: true) }
            case .refreshAll: context.refreshAllObjects()
            case .saveObjectTrump: try save(context, .mergeByPropertyObjectTrump)
            case .saveStoreTrump: try save(context, .mergeByPropertyStoreTrump)
            case .saveOverwriting: try save(context, .overwrite)
            case .saveRollingBack: try save(context, .rollback)
            case .fetch:
                let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                request.relationshipKeyPathsForPrefetching = ["items"]
                _ = try context.fetch(request)
                _ = try context.count(for: request)
            }
        }

        private func save(_ context: NSManagedObjectContext, _ policy: NSMergePolicy) throws {
            context.mergePolicy = policy
            try context.save()
        }

    }

    /// One context with unsaved changes, and another one that has saved changes of the same objects.
    fileprivate final class Scene {
        let store: FailingStore
        let stack: TestStack
        let mine: NSManagedObjectContext
        private(set) var saved = Notification(name: .NSManagedObjectContextDidSave)
        private(set) var changed: [NSManagedObject]?

        init() throws {
            stack = try TestStack(type: NSInMemoryStoreType)
            store = FailingStore(try #require(stack.coordinator.rowStores.first))
            nonisolated(unsafe) let rows = store  // because a test uses the store on one thread
            stack.coordinator.state.withLock { state in
                let entry = state.entries[0]
                state.entries[0] = .init(number: entry.number, store: entry.store, rows: rows)
            }
            mine = stack.context()
            let filling = stack.context()
            for number in 0..<5 {
                let note = filling.insert("Note", ["title": "old", "count": number])
                let items = (0..<3).map { filling.insert("Item", ["index": number * 3 + $0, "name": "old"]) }
                note.setValue(NSOrderedSet(array: items), forKey: "items")
                items[0].setValue(NSSet(object: filling.insert("Tag", ["name": "\(number)"])), forKey: "tags")
            }
            try filling.save()
            try change(mine, title: "mine", target: 1, cover: 7, deleted: 3, emptied: 9)
            mine.processPendingChanges()
            changed = Array(mine.changed)
            let theirs = stack.context()
            try change(theirs, title: "theirs", target: 2, cover: 8, deleted: 4, emptied: 10)
            let saves = SavesOf(theirs)
            try theirs.save()
            saved = try #require(saves.notifications.last)
        }

        private func change(
            _ context: NSManagedObjectContext, title: String, target: Int, cover: Int, deleted: Int, emptied: Int
        ) throws {
            let notes = try context.all("Note", sortedBy: "count")
            let items = try context.all("Item", sortedBy: "index")
            let tags = try context.all("Tag", sortedBy: "name")
            notes[0].setValue(title, forKey: "title")
            notes[target].mutableOrderedSetValue(forKey: "items").add(items[1])
            notes[2].setValue(items[cover], forKey: "cover")
            items[3].mutableSetValue(forKey: "tags").add(tags[target])
            notes[0].mutableSetValue(forKey: "related").add(notes[target])
            items[emptied].setValue(notes[0], forKey: "note")
            let new = context.insert("Item", ["index": 20 + target])
            notes[1].mutableOrderedSetValue(forKey: "items").insert(new, at: 0)
            context.delete(notes[deleted])
        }

        /// The unsaved changes, as text.
        func unsaved() -> [String] {
            mine.changed.filter(\.hasChanges).map { object in
                let values = object.changedValues().map { "\($0.key)=\(Self.text($0.value))" }.sorted()
                return "\(object.objectID.uriRepresentation().lastPathComponent) \(object.isDeleted) \(values)"
            }.sorted()
        }

        private static func text(_ value: Any) -> String {
            switch value {
            case let set as NSOrderedSet: "\(set.array.map(text))"
            case let set as NSSet: "\(set.allObjects.map(text).sorted())"
            case let object as NSManagedObject: object.objectID.uriRepresentation().absoluteString
            default: "\(value)"
            }
        }

        /// The store's contents after everything is saved.
        func result() throws -> GraphMirror {
            mine.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try mine.save()
            return try GraphMirror(stack.context())
        }
    }

    @Test(arguments: Operation.allCases) func `an error at any call loses nothing`(operation: Operation) throws {
        let undisturbed = try Scene()
        try undisturbed.store.failing(at: nil) { try operation.run(undisturbed) }
        let count = undisturbed.store.callCount
        let complete = undisturbed.unsaved()
        let expected = try undisturbed.result()
        try #require(count > 0)
        for number in 1...count {
            let scene = try Scene()
            let before = scene.unsaved()
            scene.store.failing(at: number) { _ = try? operation.run(scene) }
            #expect([before, complete].contains(scene.unsaved()), "\(operation), call \(number)")
            #expect(scene.mine.brokenInvariants() == [], "\(operation), call \(number)")
            try operation.run(scene)
            #expect(try scene.result() == expected, "\(operation), call \(number)")
        }
    }
}

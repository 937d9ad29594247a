import Foundation
import Testing

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

/// Long random histories: edits of every kind of relationship, saves, undo and redo, children, refreshing, releasing. After
/// each step a context equals the dictionaries, and so do a second context that merges the saves, and a new one.
///
/// More seeds: set `CORAL_RANDOM_SEEDS` to their number.
@Suite("Random operations") struct RandomOperationTests {
    private static let seeds: [UInt64] = {
        let count = ProcessInfo.processInfo.environment["CORAL_RANDOM_SEEDS"].flatMap(UInt64.init) ?? 6
        // Seeds 123 and 141 have found errors: an undone removal without effect, and a count that included removed members.
        return Array(Set(1...max(1, count)).union([123, 141])).sorted()
    }()

    @Test(arguments: seeds, [NSSQLiteStoreType, NSInMemoryStoreType])
    func `a context, its undo steps, its children and other contexts behave like dictionaries`(
        seed: UInt64, type: String
    ) throws {
        var history = try RandomHistory(seed: seed, type: type)
        for step in 0..<250 {
            try history.advance()
            guard try history.isRight(at: step) else { return }
        }
    }
}

/// A context with its history, and the dictionaries with which it is compared.
private struct RandomHistory {
    private var edits: RandomEdits
    private let seed: UInt64
    private let stack: TestStack
    private var context: NSManagedObjectContext
    private let watcher: NSManagedObjectContext
    /// Keeps the watcher's objects alive, so that merging has an effect.
    private var watched: [NSManagedObject] = []
    private var now = GraphMirror()
    private var saved = GraphMirror()
    private var past: [GraphMirror] = []
    private var future: [GraphMirror] = []

    init(seed: UInt64, type: String) throws {
        edits = RandomEdits(seed: seed)
        self.seed = seed
        stack = try TestStack(type: type)
        context = stack.forgetfulContext()
        watcher = stack.forgetfulContext()
        context.undoManager = Self.undoManager()
    }

    private static func undoManager() -> UndoManager {
        let manager = UndoManager()
        manager.groupsByEvent = false
        return manager
    }

    // MARK: - Steps

    mutating func advance() throws {
        switch Int.random(in: 0..<40, using: &edits.random) {
        case 0..<22: try edit()
        case 22..<26: try undo()
        case 26..<28: try redo()
        case 28..<32: try save()
        case 32:
            edits.log.append("rollback")
            context.rollback()
            now = saved
            forgetSteps()
        case 33:
            edits.log.append("reset")
            context.reset()
            now = saved
            forgetSteps()
        case 34:
            edits.log.append("refreshAllObjects")
            context.refreshAllObjects()
        case 35:
            edits.log.append("refresh clean objects")
            for object in context.registeredObjects.sorted(by: { "\($0.objectID)" < "\($1.objectID)" })
            where !object.hasChanges {
                context.refresh(object, mergeChanges: Bool.random(using: &edits.random))
            }
        case 36:
            try save()
            edits.log.append("new context")
            context = stack.forgetfulContext()
            context.undoManager = Self.undoManager()
            forgetSteps()
        default: try workInChild()
        }
    }

    private mutating func forgetSteps() {
        past = []
        future = []
    }

    private mutating func edit() throws {
        let before = now
        context.undoManager?.beginUndoGrouping()
        var mirror = now
        try edits.change(&mirror, in: context)
        now = mirror
        context.processPendingChanges()
        context.undoManager?.endUndoGrouping()
        note(before)
    }

    /// Undoes or redoes a step, where there are changes.
    private mutating func note(_ before: GraphMirror) {
        guard before != now else { return }
        past.append(before)
        future = []
    }

    private mutating func undo() throws {
        guard let before = past.popLast() else { return }
        edits.log.append("undo")
        future.append(now)
        now = before
        context.undo()
    }

    private mutating func redo() throws {
        guard let after = future.popLast() else { return }
        edits.log.append("redo")
        past.append(now)
        now = after
        context.redo()
    }

    private mutating func save() throws {
        edits.log.append("save")
        var notifications: [Notification] = []
        let collected = Collected()
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { collected.notifications.append($0) }
        defer { NotificationCenter.default.removeObserver(token) }
        do {
            try context.save()
        } catch {
            Issue.record("seed \(seed): \(error)\n\(edits.log.suffix(30).joined(separator: "\n"))")
        }
        notifications = collected.notifications
        saved = now
        for notification in notifications { watcher.mergeChanges(fromContextDidSave: notification) }
        watched = try ["Note", "Item", "Tag", "Folder"].flatMap { try watcher.all($0) }
    }

    private final class Collected: @unchecked Sendable {  // because the test is one thread
        var notifications: [Notification] = []
    }

    private mutating func workInChild() throws {
        let before = now
        let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = context
        child.registry.youngLimit = 3
        var mirror = now
        edits.log.append("in a child:")
        for _ in 0..<Int.random(in: 1..<6, using: &edits.random) {
            try edits.change(&mirror, in: child)
            try compare(child, with: mirror)
        }
        if Bool.random(using: &edits.random) {
            edits.log.append("the child saves")
            try child.save()
            now = mirror
            note(before)
            try compare(child, with: mirror)
        } else {
            edits.log.append("the child is forgotten")
        }
    }

    private struct IsWrong: Error, CustomStringConvertible {
        var description: String
    }

    private func compare(_ child: NSManagedObjectContext, with mirror: GraphMirror) throws {
        let broken = child.brokenInvariants()
        let seen = try GraphMirror(child)
        guard broken.isEmpty, seen == mirror else {
            let story = edits.log.suffix(30).joined(separator: "\n")
            throw IsWrong(description: "seed \(seed): \(broken) the child shows \(seen), not \(mirror)\n\(story)")
        }
    }

    // MARK: - Comparing

    /// Compares all contexts with the expected state; returns the differences.
    func isRight(at step: Int) throws -> Bool {
        var wrong = context.brokenInvariants() + watcher.brokenInvariants()
        if try GraphMirror(context) != now { wrong.append("the context shows \(try GraphMirror(context)), not \(now)") }
        if try GraphMirror(watcher) != saved {
            wrong.append("the watcher shows \(try GraphMirror(watcher)), not \(saved)")
        }
        if step % 10 == 0, try GraphMirror(stack.context()) != saved { wrong.append("the store has something else") }
        guard !wrong.isEmpty else { return true }
        Issue.record(
            "seed \(seed), step \(step)\n\(wrong.joined(separator: "\n"))\n\(edits.log.suffix(30).joined(separator: "\n"))"
        )
        return false
    }
}

import Foundation
import Testing

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

/// A context with a child, another context on the same store, and undo in parent and child. They change objects alternately,
/// save, merge each other's saves early or late, refresh, undo and redo. In the end, with every merge policy, the store is
/// consistent, the parent equals the store, and the child equals its parent. A step that is undone immediately restores the
/// state before.
@Suite("A parent, its child, and another context") struct TangledFamilyTests {
    @Test(
        arguments: RandomHistories.seeds(8),
        [
            NSMergePolicyType.errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
            .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType, .rollbackMergePolicyType,
        ])
    func `three contexts leave a consistent store`(seed: UInt64, policy: NSMergePolicyType) throws {
        RandomHistories.check("seed \(seed), \(policy)", steps: 150) { steps in
            try TangledFamily(seed: seed, policy: policy).run(steps)
        }
    }
}

/// A history of a parent, its child, and another context on the parent's store.
private struct TangledFamily {
    private typealias Content = [String: [String]]

    private let seed: UInt64
    private let stack: TestStack
    private let parent: NSManagedObjectContext
    private let other: NSManagedObjectContext
    private let child: NSManagedObjectContext
    /// The saves of the other context and of the parent, and how many of them the parent and the other have merged.
    private let news: [SavesOf]
    private var mergedCounts = [0, 0]
    /// The states of parent and child before each of their steps; discarded when another context changes them.
    private var past: [[Content]] = [[], []]
    /// Whether the parent and the child have merged everything. Before that, one side of a relationship may be in the old
    /// state.
    private var isUpToDate = [true, true]
    private var history = RandomHistories.Outcome()

    init(seed: UInt64, policy: NSMergePolicyType) throws {
        self.seed = seed
        stack = try TestStack(model: Tangle.model())
        parent = stack.forgetfulContext()
        other = stack.forgetfulContext()
        child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        child.parent = parent
        child.registry.youngLimit = 3
        for context in [parent, other] { context.mergePolicy = NSMergePolicy(merge: policy) }
        for context in [parent, child] {
            let manager = UndoManager()
            manager.groupsByEvent = false
            context.undoManager = manager
        }
        news = [SavesOf(other), SavesOf(parent)]
    }

    consuming func run(_ steps: [Int]) throws -> RandomHistories.Outcome {
        for step in steps {
            var random = SeededGenerator(seed: seed << 16 | UInt64(step))
            try take(step, by: &random)
            guard history.wrong.isEmpty else { return history }
        }
        for _ in 0..<3 {
            try saveChild()
            tell(parent, 0)
            save(parent, 0)
            tell(other, 1)
            save(other, 1)
            refreshChild()
        }
        tell(parent, 0)
        tell(other, 1)
        refreshChild()
        try compare()
        return history
    }

    private mutating func take(_ step: Int, by random: inout SeededGenerator) throws {
        switch Int.random(in: 0..<24, using: &random) {
        case 0: save(parent, 0)
        case 1, 2: save(other, 1)
        case 3, 4: try saveChild()
        case 5, 6: tell(parent, 0)
        case 7: tell(other, 1)
        case 8, 9: refreshChild()
        case 10, 11: try undo(Int.random(in: 0..<2, using: &random))
        case 12:
            let index = Int.random(in: 0..<2, using: &random)
            guard family[index].undoManager?.canRedo == true else { return }
            history.log.append("\(name(index)) redoes")
            family[index].redo()
            past[index] = []
            if index == 0 { outdate(1) }
        case 13..<17:
            if let what = try Tangle.change(other, naming: "n\(step)", by: &random) {
                history.log.append("other: \(what)")
            }
            other.processPendingChanges()
        case 17..<20: try edit(0, naming: "n\(step)", by: &random)
        default: try edit(1, naming: "n\(step)", by: &random)
        }
    }

    private var family: [NSManagedObjectContext] { [parent, child] }

    private func name(_ index: Int) -> String { index == 0 ? "parent" : "child" }

    private mutating func edit(_ index: Int, naming name: String, by random: inout SeededGenerator) throws {
        let context = family[index]
        let before = try Tangle.content(of: context)
        context.undoManager?.beginUndoGrouping()
        let what = try Tangle.change(context, naming: name, by: &random)
        context.processPendingChanges()
        context.undoManager?.endUndoGrouping()
        guard let what else { return }
        history.log.append("\(self.name(index)): \(what)")
        // Nothing is recorded without a change.
        if isUpToDate[index], try Tangle.content(of: context) != before { past[index].append(before) }
        if index == 0 { outdate(1) }
    }

    private mutating func undo(_ index: Int) throws {
        let context = family[index]
        guard context.undoManager?.canUndo == true else { return }
        history.log.append("\(name(index)) undoes")
        context.undo()
        if index == 0 { outdate(1) }
        guard let before = past[index].popLast() else { return }
        let wrong = Tangle.differences(of: try Tangle.content(of: context), from: before)
        history.wrong += wrong.map { "undone in the \(name(index)): \($0)" }
        history.wrong += context.brokenInvariants().map { "undone in the \(name(index)): \($0)" }
    }

    /// Records that another context, or the parent, has changed the rows that a context reads.
    private mutating func outdate(_ index: Int) {
        for index in index..<2 {
            past[index] = []
            isUpToDate[index] = false
        }
    }

    private mutating func tell(_ context: NSManagedObjectContext, _ index: Int) {
        let saves = news[index].notifications
        guard mergedCounts[index] < saves.count else { return }
        history.log.append("\(index == 0 ? "parent" : "other") merges")
        for notification in saves[mergedCounts[index]...] { context.mergeChanges(fromContextDidSave: notification) }
        mergedCounts[index] = saves.count
        guard index == 0 else { return }
        outdate(0)
        isUpToDate[0] = true
    }

    private mutating func save(_ context: NSManagedObjectContext, _ index: Int) {
        guard context.hasChanges else { return }
        history.log.append("\(index == 0 ? "parent" : "other") saves")
        let wasUpToDate = isUpToDate[0]
        outdate(0)
        if index == 0 { isUpToDate[0] = wasUpToDate }
        do {
            try context.save()
        } catch {
            history.log.append("which fails: \((error as NSError).code)")
            context.rollback()
            tell(context, index)
        }
    }

    private mutating func saveChild() throws {
        guard child.hasChanges else { return }
        history.log.append("child saves")
        past[0] = []
        outdate(1)
        try child.save()
    }

    private mutating func refreshChild() {
        history.log.append("child refreshes")
        child.refreshAllObjects()
        past[1] = []
        isUpToDate[1] = isUpToDate[0]
    }

    private mutating func compare() throws {
        let fresh = stack.context()
        let stored = try Tangle.content(of: fresh)
        history.wrong += fresh.brokenInvariants().map { "store: \($0)" }
        for (name, context) in [("parent", parent), ("other", other), ("child", child)] {
            history.wrong += context.brokenInvariants().map { "\(name): \($0)" }
            if context.hasChanges { history.wrong.append("\(name) still has changes") }
            let differences = Tangle.differences(of: try Tangle.content(of: context), from: stored)
            history.wrong += differences.map { "\(name): \($0)" }
        }
    }
}

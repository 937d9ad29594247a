import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects

/// Two contexts change and save the same objects alternately, over a model with every kind of relationship: one-to-one with
/// other entities and reflexive, ordered, reflexive many-to-many, one-way, in subentities. In the end, with every merge policy,
/// the store is consistent, and both contexts equal it after merging.
@Suite("Two contexts that change related objects") struct TangledWritersTests {
    @Test(
        arguments: RandomHistories.seeds(12),
        [
            NSMergePolicyType.errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
            .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType, .rollbackMergePolicyType,
        ])
    func `two contexts leave a consistent store`(seed: UInt64, policy: NSMergePolicyType) throws {
        RandomHistories.check("seed \(seed), \(policy)", steps: 150) { steps in
            try TangledWriters(seed: seed, policy: policy).run(steps)
        }
    }
}

/// A history of two contexts on one store.
private struct TangledWriters {
    private let seed: UInt64
    private let stack: TestStack
    private let contexts: [NSManagedObjectContext]
    private let news: [SavesOf]
    /// The number of the other context's saves that each context has merged.
    private var mergedCounts = [0, 0]
    private var history = RandomHistories.Outcome()

    init(seed: UInt64, policy: NSMergePolicyType) throws {
        self.seed = seed
        let stack = try TestStack(model: Tangle.model())
        self.stack = stack
        contexts = (0..<2).map { _ in
            let context = stack.forgetfulContext()
            context.mergePolicy = NSMergePolicy(merge: policy)
            return context
        }
        news = contexts.map(SavesOf.init)
    }

    consuming func run(_ steps: [Int]) throws -> RandomHistories.Outcome {
        for step in steps {
            var random = SeededGenerator(seed: seed << 16 | UInt64(step))
            let index = Int.random(in: 0..<2, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0: save(index)
            case 1: tell(index)
            default:
                if let what = try Tangle.change(contexts[index], naming: "n\(step)", by: &random) {
                    history.log.append("\(index): \(what)")
                }
                contexts[index].processPendingChanges()
            }
        }
        for index in [0, 1, 0, 1, 0, 1] {
            tell(index)
            save(index)
        }
        for index in 0..<2 { tell(index) }
        let fresh = stack.context()
        let stored = try Tangle.content(of: fresh)
        history.wrong += fresh.brokenInvariants()
        for (index, context) in contexts.enumerated() {
            history.wrong += context.brokenInvariants().map { "\(index): \($0)" }
            if context.hasChanges { history.wrong.append("\(index) still has changes") }
            history.wrong += Tangle.differences(of: try Tangle.content(of: context), from: stored).map {
                "\(index): \($0)"
            }
        }
        return history
    }

    private mutating func tell(_ index: Int) {
        let saves = news[1 - index].notifications
        guard mergedCounts[index] < saves.count else { return }
        for notification in saves[mergedCounts[index]...] {
            contexts[index].mergeChanges(fromContextDidSave: notification)
        }
        mergedCounts[index] = saves.count
        history.log.append("\(index) merges")
    }

    private mutating func save(_ index: Int) {
        guard contexts[index].hasChanges else { return }
        history.log.append("\(index) saves")
        do {
            try contexts[index].save()
        } catch {
            history.log.append("\(index) fails to save: \(error)")
            contexts[index].rollback()
            tell(index)
        }
    }
}

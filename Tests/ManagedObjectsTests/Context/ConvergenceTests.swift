import CoreDataErrors
import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects

/// Two contexts change one store alternately. The saves of one are merged by the other immediately, later, or only by a
/// conflict that the merge policy resolves. In the end both equal the store, and the store is consistent.
@Suite("Two contexts that change one store") struct ConvergenceTests {
    private static let policies: [NSMergePolicyType] = [
        .errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
        .overwriteMergePolicyType, .rollbackMergePolicyType,
    ]

    private static let seeds: [UInt64] = {
        let count = ProcessInfo.processInfo.environment["CORAL_RANDOM_SEEDS"].flatMap(UInt64.init) ?? 8
        // A seed with a rare case: a deletion that is denied because of a member that is only in the store.
        return Array(1...max(1, count)) + (count < 37 ? [37] : [])
    }()

    @Test(arguments: seeds, policies)
    func `two contexts converge to the state of the store`(seed: UInt64, policy: NSMergePolicyType) throws {
        for type in [NSSQLiteStoreType, NSInMemoryStoreType] {
            var writers = try TwoWriters(seed: seed, policy: policy, type: type)
            for _ in 0..<120 { guard try writers.advance() else { return } }
            guard try writers.finish() else { return }
        }
    }
}

private struct TwoWriters {
    private final class Writer: @unchecked Sendable {  // because the test is one thread
        let context: NSManagedObjectContext
        /// The saves of the other context that this one has not merged yet.
        var news: [Notification] = []
        var held: [NSManagedObject] = []

        init(_ context: NSManagedObjectContext) { self.context = context }
    }

    private let label: String
    private let stack: TestStack
    private let writers: [Writer]
    private var edits: RandomEdits

    init(seed: UInt64, policy: NSMergePolicyType, type: String) throws {
        label = "seed \(seed), policy \(policy), \(type)"
        let stack = try TestStack(type: type)
        self.stack = stack
        edits = RandomEdits(seed: seed)
        writers = (0..<2).map { _ in
            let context = stack.forgetfulContext()
            context.mergePolicy = NSMergePolicy(merge: policy)
            return Writer(context)
        }
    }

    mutating func advance() throws -> Bool {
        let index = Int.random(in: 0..<2, using: &edits.random)
        let writer = writers[index]
        edits.log.append("writer \(index):")
        switch Int.random(in: 0..<6, using: &edits.random) {
        case 0..<3:
            var mirror = try GraphMirror(writer.context)
            try edits.change(&mirror, in: writer.context)
            writer.context.processPendingChanges()
        case 3: try save(index)
        case 4: tell(index)
        default:
            try save(index)
            tell(1 - index)
        }
        writer.held = Array(writer.context.registeredObjects)
        // Before a context merges, one side of a relationship may be in the old state and the other in the new one.
        return writer.news.isEmpty ? isRight(writer.context) : true
    }

    private mutating func tell(_ index: Int) {
        edits.log.append("\(index) merges \(writers[index].news.count) saves")
        for notification in writers[index].news {
            writers[index].context.mergeChanges(fromContextDidSave: notification)
        }
        writers[index].news = []
    }

    private mutating func save(_ index: Int) throws {
        edits.log.append("\(index) saves")
        let (writer, other) = (writers[index], writers[1 - index])
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: writer.context, queue: nil
        ) { other.news.append($0) }
        defer { NotificationCenter.default.removeObserver(token) }
        do {
            try writer.context.save()
        } catch let error as NSError {
            edits.log.append("which is an error: \(error.code)")
            #expect(
                [NSManagedObjectMergeError, NSValidationRelationshipDeniedDeleteError, NSValidationMultipleErrorsError]
                    .contains(error.code), "\(label): \(error)")
            writer.context.rollback()
            tell(index)
        }
    }

    mutating func finish() throws -> Bool {
        for round in 0..<3 {
            for index in 0..<2 {
                if round > 0 { tell(index) }
                try save(index)
            }
        }
        for index in 0..<2 { tell(index) }
        let fresh = stack.context()
        guard isRight(fresh) else { return false }
        let stored = try GraphMirror(fresh)
        for writer in writers {
            if writer.context.hasChanges { return fail("there still are changes") }
            let seen = try GraphMirror(writer.context)
            if seen != stored { return fail("a context shows \(seen), the store has \(stored)") }
        }
        return true
    }

    private func isRight(_ context: NSManagedObjectContext) -> Bool {
        let broken = context.brokenInvariants()
        return broken.isEmpty ? true : fail(broken.joined(separator: "\n"))
    }

    private func fail(_ what: String) -> Bool {
        Issue.record("\(label)\n\(what)\n\(edits.log.suffix(60).joined(separator: "\n"))")
        return false
    }
}

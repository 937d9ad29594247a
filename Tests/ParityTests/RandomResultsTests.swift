import CoreData
import Testing

/// For random changes of a context: applying the reported changes to the previous list gives the next one, which equals the
/// result of a fetch.
@Suite struct RandomResultsTests {
    private static let seeds: [UInt64] = {
        let count = ProcessInfo.processInfo.environment["CORAL_RANDOM_SEEDS"].flatMap(UInt64.init) ?? 5
        return Array(1...max(1, count))
    }()

    @Test(arguments: seeds) func `a follower has the results of a fetch`(seed: UInt64) throws {
        for sections in [true, false] {
            let run = try RandomResults(seed: seed, sections: sections)
            try run.advance(125)
        }
    }

    @Test(arguments: seeds) func `a follower has the results of a fetch with a limit`(seed: UInt64) throws {
        for limit in [1, 8, 25] {
            let run = try RandomResults(seed: seed, sections: limit == 8, limit: limit)
            try run.advance(100)
        }
    }

    @Test(arguments: seeds) func `a follower has the results of a fetch by values of other objects`(seed: UInt64) throws
    {
        for limit in [0, 8] {
            let run = try RandomResults(
                seed: seed, sections: false, limit: limit, where: "rank < 5 AND (author == nil OR author.age < 5)")
            try run.advance(100)
        }
    }
}

/// Random changes of one diary, by the followed context and by another one.
private final class RandomResults {
    private let diary: Diary
    private let context: NSManagedObjectContext
    private let other: NSManagedObjectContext
    private let controller: NSFetchedResultsController<NSManagedObject>
    private let follower: ResultsFollower
    private var random: SeededGenerator
    private var log: [String] = []
    private let label: String

    init(seed: UInt64, sections: Bool, limit: Int = 0, where predicate: String = "rank < 5") throws {
        let diary = try Diary()
        let context = diary.context()
        let other = diary.context()
        for context in [context, other] { context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy }
        context.undoManager = UndoManager()
        var random = SeededGenerator(seed: seed)
        (controller, follower) = try context.performAndWait {
            for _ in 0..<30 { Self.insert(into: context, &random) }
            try context.save()
            return try notesByRank(in: context, sections: sections, limit: limit, where: predicate)
        }
        (self.diary, self.context, self.other, self.random) = (diary, context, other, random)
        label = "seed \(seed), \(sections ? "with" : "without") sections, limit \(limit), \(predicate)"
    }

    func advance(_ count: Int) throws {
        for _ in 0..<count {
            log = []
            try step()
            try context.performAndWait { try check() }
        }
    }

    private static func insert(into context: NSManagedObjectContext, _ random: inout SeededGenerator) {
        // Titles are unique, so that the order is unambiguous.
        let title = String(random.next() % 1_000_000_007)
        _ = context.insert("Note", ["title": title, "rank": Int(random.next() % 7)])
    }

    private func edit(_ context: NSManagedObjectContext) throws {
        for _ in 0...Int(random.next() % 6) {
            let notes = try context.all("Note", sortedBy: "title")
            let note = notes.isEmpty ? nil : notes[Int(random.next() % UInt64(notes.count))]
            let choice = random.next() % 10
            log.append("\(context === other ? "other" : "own") \(choice)")
            switch (choice, note) {
            case (0...1, _), (_, nil): Self.insert(into: context, &random)
            case (2, let note?): if notes.count > 15 { context.delete(note) }
            case (3...4, let note?): note.setValue(String(random.next() % 1_000_000_007), forKey: "title")
            case (5...7, let note?): note.setValue(Int(random.next() % 7), forKey: "rank")
            case (8, let note?):
                if let author = note.value(forKey: "author") as? NSManagedObject, random.next() % 2 == 0 {
                    author.setValue(Int(random.next() % 9), forKey: "age")
                } else {
                    note.setValue(context.insert("Person", ["age": Int(random.next() % 9)]), forKey: "author")
                }
            case (_, let note?): note.setValue(random.next() % 2 == 0, forKey: "draft")
            }
        }
    }

    private func step() throws {
        let choice = random.next() % 12
        log.append("step \(choice)")
        switch choice {
        case 0...3: try context.performAndWait { try edit(context) }
        case 4...5:
            try context.performAndWait {
                try edit(context)
                do {
                    try context.save()
                } catch {
                    log.append("refused: \(error)")
                    context.rollback()
                }
            }
        case 6...7: try mergeOthersChanges()
        case 8: try mergeBatchDeletion()
        case 9:
            try context.performAndWait {
                let notes = try context.all("Note", sortedBy: "title")
                for note in notes where random.next() % 4 == 0 {
                    context.refresh(note, mergeChanges: random.next() % 2 == 0)
                }
            }
        case 10:
            context.performAndWait {
                if random.next() % 2 == 0 { context.rollback() } else { context.refreshAllObjects() }
            }
        default:
            context.performAndWait {
                if random.next() % 3 > 0 { context.undoManager?.undo() } else { context.undoManager?.redo() }
            }
        }
        context.performAndWait { context.processPendingChanges() }
    }

    /// A save of another context, merged immediately.
    private func mergeOthersChanges() throws {
        var notifications: [Notification] = []
        try other.performAndWait {
            try edit(other)
            let observer = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSave, object: other, queue: nil
            ) { [box = Unchecked(value: { notifications.append($0) })] notification in box.value(notification) }
            defer { NotificationCenter.default.removeObserver(observer) }
            try other.save()
            other.reset()
        }
        context.performAndWait {
            for notification in notifications { context.mergeChanges(fromContextDidSave: notification) }
        }
    }

    private struct Unchecked<Value>: @unchecked Sendable {  // because the saving thread posts the notification
        let value: Value
    }

    private func mergeBatchDeletion() throws {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
        request.predicate = NSPredicate(format: "title BEGINSWITH %@", String(random.next() % 9 + 1))
        let deletion = NSBatchDeleteRequest(fetchRequest: request)
        deletion.resultType = .resultTypeObjectIDs
        let result = try other.performAndWait { try other.execute(deletion) as? NSBatchDeleteResult }
        let ids = try #require(result?.result as? [NSManagedObjectID])
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [context])
    }

    private func check() throws {
        let label = "\(label): \(log)"
        let fresh = try context.fetch(controller.fetchRequest)
        let fetched = try #require(controller.fetchedObjects, "\(label)")
        if controller.fetchRequest.fetchLimit > 0 {
            let whole = try #require(controller.fetchRequest.copy() as? NSFetchRequest<NSManagedObject>)
            whole.fetchLimit = 0
            let all = try context.fetch(whole)
            try #require(
                all.prefix(controller.fetchRequest.fetchLimit).elementsEqual(fresh, by: ===), "limited: \(label)")
        }
        try #require(fetched.elementsEqual(fresh, by: ===), "\(label)")
        let sections = ResultsFollower.sections(of: controller)
        try #require(follower.sections.map(\.name) == sections.map(\.name), "\(label)")
        for (one, other) in zip(follower.sections, sections) {
            try #require(one.objects.elementsEqual(other.objects, by: ===), "\(label)")
            if controller.sectionNameKeyPath != nil {
                #expect(other.objects.allSatisfy { "\($0.value(forKey: "rank") ?? "")" == other.name }, "\(label)")
            }
        }
    }
}

/// Random numbers that are the same for the same seed: SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

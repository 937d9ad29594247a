import Foundation
import Testing

@testable import EngineTesting

@testable import FollowedResults
@testable import FoundationAdditions
@testable import ManagedObjects

/// The three forms in which a delegate receives changes are equivalent.
@Suite("Snapshots and differences")
struct ResultsFormTests {
    private final class SnapshotDelegate: NSObject, NSFetchedResultsControllerDelegate {
        var snapshots: [NSDiffableDataSourceSnapshotReference] = []
        var others = 0

        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
            didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
        ) { snapshots.append(snapshot) }

        func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
            others += 1
        }
    }

    private final class DifferenceDelegate: NSObject, NSFetchedResultsControllerDelegate {
        var ids: [NSManagedObjectID] = []
        var differences: [CollectionDifference<NSManagedObjectID>] = []

        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
            didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
        ) {
            differences.append(diff)
            ids = ids.applying(diff) ?? []
        }
    }

    private func controller(
        _ context: NSManagedObjectContext, sections: String?
    ) -> NSFetchedResultsController<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: "count < 5")
        request.sortDescriptors = [
            NSSortDescriptor(key: "count", ascending: true), NSSortDescriptor(key: "title", ascending: true),
        ]
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: nil)
    }

    @Test func `a snapshot contains section names, IDs and changed objects`() throws {
        let context = try TestStack().context()
        let notes = ["a", "b", "c"].enumerated().map { context.insert("Note", ["title": $1, "count": $0 / 2]) }
        try context.save()
        let results = controller(context, sections: "count")
        let delegate = SnapshotDelegate()
        results.delegate = delegate
        try results.performFetch()
        #expect(delegate.snapshots.count == 1)
        notes[0].setValue(2.5, forKey: "rank")
        notes[1].setValue(1, forKey: "count")
        context.delete(notes[2])
        context.processPendingChanges()
        #expect(delegate.snapshots.count == 2)
        #expect(delegate.others == 0)
        let snapshot = try #require(delegate.snapshots.last)
        #expect(snapshot.sectionIdentifiers as? [String] == ["0", "1"])
        #expect(snapshot.itemIdentifiers as? [NSManagedObjectID] == notes[0...1].map(\.objectID))
        #expect(snapshot.reloadedItemIdentifiers as? [NSManagedObjectID] == notes[0...1].map(\.objectID))
        #expect(snapshot.itemIdentifiersInSection(withIdentifier: "1") as? [NSManagedObjectID] == [notes[1].objectID])
        #expect(snapshot.numberOfItems(inSection: "0") == 1)
        #expect(snapshot.index(ofItemIdentifier: notes[1].objectID) == 1)
        #expect(snapshot.index(ofSectionIdentifier: "7") == NSNotFound)
        let place = snapshot.sectionIdentifier(forSectionContainingItemIdentifier: notes[1].objectID)
        #expect(place as? String == "1")
    }

    /// The composed letter is sorted after “f”, and the decomposed one before it.
    /// Apple's names are the descriptions of the values of key-value coding: 0.1 of a `Float` is “0.1”.
    @Test func `sections of numbers of single precision have their own digits`() throws {
        let model = NotesModel.make()
        model.entitiesByName["Note"]?.properties.append(NotesModel.attribute("weight", .floatAttributeType))
        let context = try TestStack(model: model).context()
        for (number, weight) in [Float(0.1), 0.1, 2.5, 3].enumerated() {
            _ = context.insert("Note", ["title": "\(number)", "count": number, "weight": weight])
        }
        try context.save()
        let results = controller(context, sections: "weight")
        try results.performFetch()
        #expect(results.sections?.map(\.name) == ["0.1", "2.5", "3"])
        #expect(results.sections?.map(\.numberOfObjects) == [2, 1, 1])
    }

    @Test func `sections with canonically equivalent names are different sections`() throws {
        let context = try TestStack().context()
        let names = ["e\u{301}", "f", "\u{e9}"]
        for name in names { _ = context.insert("Note", ["title": name, "count": 1]) }
        try context.save()
        let results = controller(context, sections: "title")
        let delegate = SnapshotDelegate()
        results.delegate = delegate
        try results.performFetch()
        func bytes(_ names: [String]) -> [[UInt8]] { names.map { Array($0.utf8) } }
        func sections() throws -> [String] { try #require(delegate.snapshots.last).content.sectionIdentifiers }
        #expect(bytes(try sections()) == bytes(names))
        // In memory, with a second object of the last section and one of a new section.
        for name in ["\u{e9}", "z"] { _ = context.insert("Note", ["title": name, "count": 1]) }
        context.processPendingChanges()
        #expect(bytes(try sections()) == bytes(["e\u{301}", "f", "z", "\u{e9}"]))
        let content = try #require(delegate.snapshots.last).content
        #expect(content.numberOfItems(inSection: "e\u{301}") == 1)
        #expect(content.numberOfItems(inSection: "\u{e9}") == 2)
        #expect(content.indexOfSection("\u{e9}") == 3)
    }

    @Test func `results without pending changes follow the store`() throws {
        let context = try TestStack().context()
        let first = context.insert("Note", ["title": "b", "count": 1])
        try context.save()
        let results = controller(context, sections: nil)
        results.fetchRequest.includesPendingChanges = false
        let delegate = DifferenceDelegate()
        results.delegate = delegate
        try results.performFetch()
        /// Makes a change, and expects the results before and after it is saved.
        func expect(_ before: [NSManagedObject], _ after: [NSManagedObject], _ change: () -> Void) throws {
            change()
            context.processPendingChanges()
            #expect(results.fetchedObjects == before)
            try context.save()
            #expect(results.fetchedObjects == after)
        }
        var second = first
        try expect([first], [first]) { second = context.insert("Note", ["title": "z", "count": 9]) }
        try expect([first], [second, first]) { second.setValue(0, forKey: "count") }
        try expect([second, first], [second]) { first.setValue(7, forKey: "count") }
        try expect([second], []) { context.delete(second) }
        #expect(delegate.ids == [])
    }

    @Test func `a new object's permanent ID is reported when it is saved`() throws {
        let context = try TestStack().context()
        let results = controller(context, sections: "count")
        let delegate = SnapshotDelegate()
        results.delegate = delegate
        try results.performFetch()
        let note = context.insert("Note", ["title": "a", "count": 1])
        context.processPendingChanges()
        let temporary = try #require(delegate.snapshots.last?.content.itemIdentifiers.first)
        #expect(temporary.isTemporaryID)
        try context.save()
        #expect(delegate.snapshots.last?.content.itemIdentifiers == [note.objectID])
        #expect(!note.objectID.isTemporaryID)
        // The previous snapshot is unchanged.
        #expect(delegate.snapshots.dropLast().last?.content.itemIdentifiers == [temporary])
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>) func `applying the differences to a list gives the next list`(
        seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        let context = try TestStack().context()
        func insert() {
            _ = context.insert("Note", ["title": String(random.next() % 1_000_003), "count": Int(random.next() % 7)])
        }
        for _ in 0..<20 { insert() }
        try context.save()
        let results = controller(context, sections: nil)
        let delegate = DifferenceDelegate()
        results.delegate = delegate
        try results.performFetch()
        delegate.ids = results.fetchedObjects?.map(\.objectID) ?? []
        for _ in 0..<100 {
            for _ in 0...random.next() % 4 {
                let notes = try context.all("Note", sortedBy: "title")
                let note = notes[Int(random.next() % UInt64(notes.count))]
                switch random.next() % 5 {
                case 0: insert()
                case 1 where notes.count > 12: context.delete(note)
                case 2: note.setValue(String(random.next() % 1_000_003), forKey: "title")
                case 3: note.setValue(Int(random.next() % 7), forKey: "count")
                default: note.setValue(Double(random.next() % 9), forKey: "rank")
                }
            }
            if random.next() % 3 == 0 { try context.save() } else { context.processPendingChanges() }
            let fresh = try context.fetch(results.fetchRequest).map(\.objectID)
            try #require(delegate.ids == fresh, "seed \(seed)")
        }
        #expect(!delegate.differences.isEmpty)
    }

    @Test func `the longest ascending subsequence is found`() {
        // Compared with every subset.
        for numbers in [[], [1], [2, 1], [3, 1, 2], [1, 5, 2, 3, 4], [4, 3, 2, 1], [0, 8, 4, 12, 2, 10, 6, 14]] {
            let ascent = numbers.longestAscent().sorted().map { numbers[$0] }
            #expect(zip(ascent, ascent.dropFirst()).allSatisfy(<))
            var longest = 0
            for mask in 0..<(1 << numbers.count) {
                let part = numbers.indices.filter { mask >> $0 & 1 == 1 }.map { numbers[$0] }
                if zip(part, part.dropFirst()).allSatisfy(<) { longest = max(longest, part.count) }
            }
            #expect(ascent.count == longest)
        }
    }
}

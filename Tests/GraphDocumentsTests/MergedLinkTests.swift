import Foundation
import Testing

@testable import GraphDocuments

/// Both sides of a link have one resolution in a merge.
@Suite struct MergedLinkTests {
    /// Notes with their items, in both directions: the items of each note by number.
    private func state(_ notes: [[Int]], isOrdered: Bool = false, titles: [Int: String] = [:]) -> [GraphRecord] {
        var records: [GraphRecord] = []
        for (index, items) in notes.enumerated() {
            let note = RecordID.stored(entity: "Note", primaryKey: Int64(index + 1))
            records.append(
                GraphRecord(
                    id: note, entity: "Note",
                    relationships: [
                        .init(name: "items", target: .toMany(items.map(item)), isOrdered: isOrdered)
                    ]))
            for number in items {
                records.append(
                    GraphRecord(
                        id: item(number), entity: "Item",
                        attributes: [.init(name: "title", value: .string(titles[number] ?? ""))],
                        relationships: [.init(name: "note", target: .toOne(note))]))
            }
        }
        return records.map(\.canonical).sorted { $0.subject < $1.subject }
    }

    private func item(_ number: Int) -> RecordID { .stored(entity: "Item", primaryKey: Int64(number)) }

    private func merge(
        _ base: [GraphRecord], _ ours: [GraphRecord], _ theirs: [GraphRecord], _ choice: DeltaConflict.Choice
    ) throws -> (state: [GraphRecord], kinds: [DeltaConflict.Kind]) {
        let merge = try GraphDelta(from: base, to: ours).merging(GraphDelta(from: base, to: theirs)) { _ in choice }
        return (try merge.delta.applied(to: base), merge.conflicts.map(\.kind))
    }

    @Test(arguments: [true, false]) func `an item that both sides move is in one note`(isOrdered: Bool) throws {
        let base = state([[1, 2], [], []], isOrdered: isOrdered)
        let ours = state([[2], [1], []], isOrdered: isOrdered)
        let theirs = state([[2], [], [1]], isOrdered: isOrdered)
        for (choice, expected) in [(DeltaConflict.Choice.ours, ours), (.theirs, theirs), (.neither, base)] {
            let merged = try merge(base, ours, theirs, choice)
            #expect(merged.kinds == [.bothUpdated], "\(choice)")
            #expect(merged.state == expected, "\(choice)")
        }
    }

    @Test func `other items of the same notes are merged`() throws {
        let base = state([[1, 2, 3, 4], [], []])
        let ours = state([[4], [1, 2], [3]])
        let theirs = state([[3], [4], [1, 2]])
        #expect(try merge(base, ours, theirs, .ours).state == state([[], [1, 2, 4], [3]]))
        #expect(try merge(base, ours, theirs, .theirs).state == state([[], [4], [3, 1, 2]]))
        #expect(try merge(base, ours, theirs, .neither).state == state([[1, 2], [4], [3]]))
    }

    @Test(arguments: [true, false])
    func `a record that is kept stays in the list of its owner`(isOrdered: Bool) throws {
        let base = state([[1, 2], []], isOrdered: isOrdered)
        let deleted = state([[2], []], isOrdered: isOrdered)
        let changed = state([[1, 2], []], isOrdered: isOrdered, titles: [1: "new"])
        let kept = try merge(base, changed, deleted, .ours)
        #expect(kept.kinds == [.updatedAndDeleted])
        #expect(kept.state == changed)
        #expect(try merge(base, deleted, changed, .theirs).state == changed)
        #expect(try merge(base, changed, deleted, .theirs).state == deleted)
        #expect(try merge(base, changed, deleted, .neither).state == base)
        // One side moves it, and the other deletes it.
        let moved = state([[2], [1]], isOrdered: isOrdered)
        #expect(try merge(base, moved, deleted, .ours).state == moved)
        #expect(try merge(base, moved, deleted, .theirs).state == deleted)
        #expect(try merge(base, moved, deleted, .neither).state == base)
    }

    @Test func `a record that both sides insert is in the list of one owner`() throws {
        let base = state([[], []])
        let (ours, theirs) = (state([[1], []]), state([[], [1]]))
        for (choice, expected) in [(DeltaConflict.Choice.ours, ours), (.theirs, theirs), (.neither, base)] {
            #expect(try merge(base, ours, theirs, choice).state == expected, "\(choice)")
        }
    }

    /// Two notes, of which the first has favourites too: the note of each item by number.
    private func state(notes: [Int: Int?], favourites: [Int]) -> [GraphRecord] {
        func note(_ number: Int) -> RecordID { .stored(entity: "Note", primaryKey: Int64(number)) }
        let items = notes.keys.sorted()
        var records = [1, 2].map { number in
            GraphRecord(
                id: note(number), entity: "Note",
                relationships: [
                    .init(name: "favourites", target: .toMany(number == 1 ? favourites.map(item) : [])),
                    .init(name: "items", target: .toMany(items.filter { notes[$0] == number }.map(item))),
                ])
        }
        records += items.map { number in
            let owner: RecordID? = notes[number].flatMap { $0 }.map(note)
            return GraphRecord(
                id: item(number), entity: "Item", relationships: [.init(name: "note", target: .toOne(owner))])
        }
        return records.map(\.canonical).sorted { $0.subject < $1.subject }
    }

    /// Both relationships of the note lose the first item, but only one of them the second.
    @Test func `a kept link leaves the changes of another relationship`() throws {
        let base = state(notes: [1: 1, 2: 1], favourites: [1])
        let ours = state(notes: [1: nil, 2: nil], favourites: [])
        let theirs = state(notes: [1: 2, 2: 1], favourites: [1])
        let kept = try merge(base, ours, theirs, .neither)
        #expect(kept.kinds == [.bothUpdated])
        #expect(kept.state == state(notes: [1: 1, 2: nil], favourites: []))
    }
}

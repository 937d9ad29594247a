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

    /// The state with items that are in no note.
    private func state(_ notes: [[Int]], free: [Int]) -> [GraphRecord] {
        let items = free.map { number in
            GraphRecord(
                id: item(number), entity: "Item", attributes: [.init(name: "title", value: .string(""))],
                relationships: [.init(name: "note", target: .toOne(nil))])
        }
        return (state(notes, isOrdered: true) + items).sorted { $0.subject < $1.subject }
    }

    /// A merge uses one of two conflicting ordered lists unchanged. Items that only the other list adds have no owner.
    @Test func `an item of a rejected list has no owner`() throws {
        let (base, ours, theirs) = (state([[1]], free: []), state([[1, 2]], free: []), state([[1, 3]], free: []))
        let expected: [(DeltaConflict.Choice, [GraphRecord])] = [
            (.ours, state([[1, 2]], free: [3])), (.theirs, state([[1, 3]], free: [2])),
            (.neither, state([[1]], free: [2, 3])),
        ]
        for (choice, state) in expected {
            let merged = try merge(base, ours, theirs, choice)
            #expect(merged.kinds == [.bothUpdated], "\(choice)")
            #expect(merged.state == state, "\(choice)")
        }
        // Items that both lists contain keep their owner.
        let (one, other) = (state([[1, 2, 3]], free: []), state([[3, 1, 2, 4]], free: []))
        #expect(try merge(base, one, other, .ours).state == state([[1, 2, 3]], free: [4]))
        #expect(try merge(base, one, other, .theirs).state == other)
        #expect(try merge(base, one, other, .neither).state == state([[1]], free: [2, 3, 4]))
    }

    @Test func `an item that the chosen list retains keeps its owner`() throws {
        let cases: [([GraphRecord], [GraphRecord], [GraphRecord])] = [
            // One side reorders the list, and the other moves an item, or removes it.
            (state([[1, 2], []], free: []), state([[2, 1], []], free: []), state([[1], [2]], free: [])),
            (state([[1, 2], []], free: []), state([[2, 1], []], free: []), state([[1], []], free: [2])),
            // Both move an item, to other lists.
            (
                state([[1, 2, 3], [], []], free: []), state([[2, 3], [1], []], free: []),
                state([[1, 3], [], [2]], free: [])
            ),
            // To a note that is new.
            (state([[1, 2]], free: []), state([[2, 1]], free: []), state([[1], [2]], free: [])),
        ]
        for (base, ours, theirs) in cases {
            for (mine, other) in [(ours, theirs), (theirs, ours)] {
                let first = try merge(base, mine, other, .ours)
                #expect(first.kinds == [.bothUpdated])
                let known = Set(mine.map(\.id))
                // The rejected side's new note is kept, and is empty.
                #expect(first.state.filter { known.contains($0.id) } == mine)
                #expect(
                    first.state.filter { !known.contains($0.id) }.flatMap { $0.target(of: "items")?.ids ?? [] } == [])
                #expect(try merge(base, other, mine, .theirs).state == first.state)
            }
            let neither = try merge(base, ours, theirs, .neither).state
            let known = Set(base.map(\.id))
            #expect(neither.filter { known.contains($0.id) } == base)
        }
    }

    /// One side moves an item to a list that the other reorders, or both move it there.
    @Test func `an item that a rejected list takes from another stays there`() throws {
        let cases: [([GraphRecord], [GraphRecord], [GraphRecord])] = [
            (
                state([[1, 3], [2]], free: []), state([[3, 1], [2]], free: []), state([[1, 3, 2], []], free: [])
            ),
            (state([[1], [2]], free: []), state([[1, 2], []], free: []), state([[2, 1], []], free: [])),
        ]
        for (base, ours, theirs) in cases {
            for (choice, expected) in [(DeltaConflict.Choice.ours, ours), (.theirs, theirs), (.neither, base)] {
                #expect(try merge(base, ours, theirs, choice).state == expected, "\(choice)")
            }
            #expect(try merge(base, theirs, ours, .theirs).state == ours)
        }
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

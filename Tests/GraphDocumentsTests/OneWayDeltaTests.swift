import Foundation
import Testing

@testable import GraphDocuments

/// Deltas from tokens, which have no old values, joined with full ones.
@Suite struct OneWayDeltaTests {
    private func list(_ ids: [RecordID], title: String = "a", isOrdered: Bool = false) -> GraphRecord {
        GraphRecord(
            id: "Note/p1", entity: "Note", attributes: [.init(name: "title", value: .string(title))],
            relationships: [.init(name: "items", target: .toMany(ids), isOrdered: isOrdered)])
    }

    /// The delta from a token of the first state.
    private func oneWay(_ old: [GraphRecord], _ new: [GraphRecord]) throws -> GraphDelta {
        let token = try GraphToken { body in for record in old { try body(record) } }
        return try GraphDelta(since: token) { body in for record in new { try body(record) } }
    }

    /// The joined deltas, and what they make of the first state one after the other.
    private func join(_ states: [[GraphRecord]], fullFirst: Bool) throws -> (
        joined: GraphDelta, expected: [GraphRecord]
    ) {
        let first =
            try fullFirst ? GraphDelta(from: states[0], to: states[1]) : oneWay(states[0], states[1])
        let second =
            try fullFirst ? oneWay(states[1], states[2]) : GraphDelta(from: states[1], to: states[2])
        let between = try first.applied(to: states[0], checking: false)
        return (try first.followed(by: second), try second.applied(to: between, checking: false))
    }

    @Test func `members that a full delta adds do not replace the others`() throws {
        // The full delta changes the members, and the one from the token only the title.
        let states = [
            [list(["A", "B"])], [list(["A", "B", "C"])], [list(["A", "B", "C"], title: "b")],
        ]
        let later = try join(states, fullFirst: true)
        #expect(later.joined.knowledge == .new)
        #expect(try later.joined.applied(to: states[0], checking: false) == states[2])
        guard case .updated(let update)? = later.joined.changes.first else {
            Issue.record("The note is not updated.")
            return
        }
        #expect(update.relationships.map(\.change) == [.members(removed: [], added: ["C"])])
        #expect(update.attributes == [.init(name: "title", old: nil, new: .string("b"))])

        let reversed = [[list(["A", "B"])], [list(["A", "B"], title: "b")], [list(["B", "C"], title: "b")]]
        let earlier = try join(reversed, fullFirst: false)
        #expect(try earlier.joined.applied(to: reversed[0], checking: false) == reversed[2])
    }

    @Test func `members are computed where one delta sets all of them`() throws {
        let states = [[list(["A"])], [list(["A", "B"])], [list(["B", "C"])]]
        for fullFirst in [true, false] {
            let (joined, expected) = try join(states, fullFirst: fullFirst)
            #expect(expected == states[2])
            #expect(try joined.applied(to: states[0], checking: false) == expected, "\(fullFirst)")
            guard case .updated(let update)? = joined.changes.first else { continue }
            #expect(update.relationships.map(\.change) == [.replaced(old: nil, new: .toMany(["B", "C"]))])
        }
        // Changes that cancel each other are kept if the old value is not known.
        let back = [[list(["A"], title: "a")], [list(["A"], title: "b")], [list(["A"], title: "a")]]
        #expect(try join(back, fullFirst: false).joined.changes.count == 1)
    }

    @Test(arguments: 1...40) func `a joined delta has the effect of both`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        func state() -> [GraphRecord] {
            (1...8).compactMap { number -> GraphRecord? in
                guard Int.random(in: 0..<4, using: &generator) > 0 else { return nil }
                func members() -> [RecordID] {
                    ["A", "B", "C", "D"].filter { _ in Bool.random(using: &generator) }.map { RecordID($0) }
                }
                let title = GraphValue.integer(Int64.random(in: 0..<2, using: &generator))
                let target = RelationshipTarget.toOne(Bool.random(using: &generator) ? "A" : nil)
                let ordered = RelationshipTarget.toMany(members().shuffled(using: &generator))
                return GraphRecord(
                    id: .stored(entity: "Note", primaryKey: Int64(number)), entity: "Note",
                    attributes: [.init(name: "title", value: title)],
                    relationships: [
                        .init(name: "items", target: .toMany(members())), .init(name: "owner", target: target),
                        .init(name: "steps", target: ordered, isOrdered: true),
                    ])
            }.map(\.canonical)
        }
        let states = [state(), state(), state(), state()]
        for fullFirst in [true, false] {
            let (joined, expected) = try join(states, fullFirst: fullFirst)
            #expect(try joined.applied(to: states[0], checking: false) == expected, "\(fullFirst)")
            #expect(expected == states[2])
            let third = try joined.followed(by: GraphDelta(from: states[2], to: states[3]))
            #expect(try third.applied(to: states[0], checking: false) == states[3], "\(fullFirst)")
        }
    }
}

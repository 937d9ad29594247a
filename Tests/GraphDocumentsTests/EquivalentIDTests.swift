import Foundation
import Testing

@testable import GraphDocuments

/// Ids whose texts are canonically equivalent and have different UTF-8: they are those of two records.
@Suite struct EquivalentIDTests {
    private let composed = RecordID("Tag/=caf\u{e9}")
    private let decomposed = RecordID("Tag/=cafe\u{301}")

    private func tag(_ id: RecordID, _ title: String = "a") -> GraphRecord {
        GraphRecord(id: id, entity: "Tag", attributes: [.init(name: "title", value: .string(title))])
    }

    private func note(_ tags: [RecordID]) -> GraphRecord {
        GraphRecord(id: "Note/p1", entity: "Note", relationships: [.init(name: "tags", target: .toMany(tags))])
    }

    private func source(_ records: [GraphRecord]) -> ((GraphRecord) throws -> Void) throws -> Void {
        { body in for record in records { try body(record) } }
    }

    @Test func `a reference to the other record is a change`() throws {
        #expect(composed != decomposed)
        #expect(composed.hashValue != decomposed.hashValue)
        let delta = try GraphDelta(from: source([note([composed])]), to: source([note([decomposed])]))
        guard case .updated(let update)? = delta.changes.first else {
            Issue.record("The change is missed.")
            return
        }
        #expect(update.relationships.map(\.change) == [.members(removed: [composed], added: [decomposed])])
    }

    @Test func `their order does not depend on that in which they are met`() {
        let other = RecordID("Tag/=cafz")
        let sorted = [decomposed, other, composed]
        for ids in [sorted, [composed, other, decomposed], [other, composed, decomposed]] {
            #expect(RecordID.sortedSet(ids) == sorted)
        }
        #expect(!composed.precedes(composed))
        #expect(RecordID("Tag/p2").precedes("Tag/p10"))
        #expect(RecordID("#").precedes("#1"))
    }

    @Test func `both are merged`() throws {
        let base = [tag(composed), tag(decomposed)]
        let ours = GraphDelta(from: base, to: [tag(composed, "b"), tag(decomposed)])
        let theirs = GraphDelta(from: base, to: [tag(composed), tag(decomposed, "c")])
        for merge in [try ours.merging(theirs), try theirs.merging(ours)] {
            #expect(merge.conflicts.isEmpty)
            let merged = try merge.delta.applied(to: base)
            #expect(merged.map(\.id) == [decomposed, composed])
            #expect(merged.map { $0.value(of: "title") } == [.string("c"), .string("b")])
        }
        // Both sides have changed both records.
        let both = GraphDelta(from: base, to: [tag(composed, "b"), tag(decomposed, "b")])
        #expect(try both.merging(both).delta == both)
        let all = try both.merging(GraphDelta(from: base, to: [tag(decomposed, "d"), tag(composed, "d")])) { _ in
            .theirs
        }
        #expect(all.conflicts.map(\.subject.id) == [decomposed, composed])
    }

    @Test func `a token contains both`() throws {
        let records = [tag(composed), tag(decomposed, "b"), tag("Tag/=z")]
        let token = try GraphToken(of: source(records))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = try encoder.encode(token)
        let decoded = try JSONDecoder().decode(GraphToken.self, from: data)
        #expect(decoded == token && decoded.recordCount == 3)
        #expect(try GraphDelta(since: decoded, to: source(records)).isEmpty)
        #expect(try encoder.encode(GraphToken(of: source(records.reversed()))) == data)
        let plist = try PropertyListDecoder().decode(GraphToken.self, from: PropertyListEncoder().encode(token))
        #expect(plist == token)
    }

    @Test func `a token without such ids has its former form`() throws {
        let token = try GraphToken(of: source([tag(composed), tag("Tag/=z")]))
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(token)) as? [String: Any]
        let entity = (object?["entities"] as? [String: Any])?["Tag"] as? [String: Any]
        #expect(entity?.keys.sorted() == ["properties", "records"])
        let former = #"{"version":1,"entities":{"Tag":{"properties":["title"],"records":{"Tag/=z":"AQAAAAAAAAA="}}}}"#
        #expect(try JSONDecoder().decode(GraphToken.self, from: Data(former.utf8)).recordCount == 1)
    }
}

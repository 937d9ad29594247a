import Foundation
import Testing

@testable import GraphDocuments

/// Properties of deltas, on random graphs, one for each seed.
@Suite struct DeltaTests {
    /// A state of a graph, in the form that deltas have.
    private func state(_ graph: inout RandomGraph, count: Int = 14) -> [GraphRecord] {
        graph.records(count: count).filter { !$0.isDeleted }.map(\.canonical).sorted { $0.subject < $1.subject }
    }

    /// Another state: some records are removed, some are changed, some are new.
    private func successor(of records: [GraphRecord], _ graph: inout RandomGraph) -> [GraphRecord] {
        let other = Dictionary(state(&graph, count: 18).map { ($0.subject, $0) }, uniquingKeysWith: { $1 })
        var result = records.filter { _ in Int.random(in: 0..<6, using: &graph.generator) > 0 }.map { record in
            guard let new = other[record.subject], Bool.random(using: &graph.generator) else { return record }
            var changed = record
            // Some properties are exchanged with those of another record.
            changed.attributes = record.attributes.map { attribute in
                guard Bool.random(using: &graph.generator) else { return attribute }
                return GraphAttribute(name: attribute.name, value: new.value(of: attribute.name) ?? attribute.value)
            }
            if Bool.random(using: &graph.generator) { changed.relationships = new.relationships }
            return changed.canonical
        }
        let known = Set(result.map(\.subject))
        result += other.values.filter { !known.contains($0.subject) }.sorted { $0.subject < $1.subject }.prefix(3)
        return result.sorted { $0.subject < $1.subject }
    }

    @Test(arguments: 1...40)
    func applyingAndRevertingADelta(seed: UInt64) throws {
        var graph = RandomGraph(seed: seed)
        let old = state(&graph)
        let new = successor(of: old, &graph)
        let delta = GraphDelta(from: old, to: new)
        #expect(try delta.applied(to: old) == new)
        #expect(try delta.inverse.applied(to: new) == old)
        #expect(delta.inverse.inverse == delta)
        #expect(GraphDelta(from: old, to: old).isEmpty)
        // Comparing record by record, in any order, gives the same delta.
        let streamed = try GraphDelta(
            from: { body in for record in old.reversed() { try body(record) } },
            to: { body in for record in new.shuffled(using: &graph.generator) { try body(record) } })
        #expect(streamed == delta)
    }

    /// Foundation's hashes of these pairs are equal.
    @Test func `a difference anywhere in a value is a change`() throws {
        let bytes = Data((0..<3000).map { UInt8(truncatingIfNeeded: $0) })
        var pairs: [(GraphValue, GraphValue)] = [0, 79, 80, 81, 1000, 2999].map { offset in
            var other = bytes
            other[offset] ^= 1
            return (.data(bytes), .data(other))
        }
        pairs += pairs.map { old, new in
            (.composite([GraphAttribute(name: "a", value: old)]), .composite([GraphAttribute(name: "a", value: new)]))
        }
        var archive = bytes
        archive[2000] ^= 1
        let digits = "12345678901234567890123456789012345"
        pairs += [
            (.transformable(TransformableValue(archive: bytes)), .transformable(TransformableValue(archive: archive))),
            (.data(bytes), .data(bytes.dropLast())),
            (
                .decimal(try #require(Decimal(string: digits + "1"))),
                .decimal(try #require(Decimal(string: digits + "2")))
            ),
            (.string("\u{e9}"), .string("e\u{301}")), (.integer(1), .double(Double(bitPattern: 1))),
        ]
        func record(_ value: GraphValue) -> GraphRecord {
            GraphRecord(
                id: RecordID("Note/1"), entity: "Note", attributes: [GraphAttribute(name: "value", value: value)],
                relationships: [])
        }
        for (old, new) in pairs {
            let delta = try GraphDelta(from: { try $0(record(old)) }, to: { try $0(record(new)) })
            #expect(delta.changes.count == 1, "\(old), \(new)")
        }
        // Equal numbers have one hash.
        #expect(
            GraphValue.decimal(Decimal(string: "1.50")!).hashValue
                == GraphValue.decimal(Decimal(string: "1.5")!).hashValue)
    }

    @Test(arguments: 1...40)
    func joiningIsAssociative(seed: UInt64) throws {
        var graph = RandomGraph(seed: seed &* 77)
        let states = (0..<3).reduce(into: [state(&graph)]) { states, _ in
            states.append(successor(of: states[states.count - 1], &graph))
        }
        let steps = zip(states, states.dropFirst()).map { GraphDelta(from: $0, to: $1) }
        let left = try steps[0].followed(by: steps[1]).followed(by: steps[2])
        let right = try steps[0].followed(by: steps[1].followed(by: steps[2]))
        #expect(left == right)
        #expect(left == GraphDelta(from: states[0], to: states[3]))
        #expect(try left.applied(to: states[0]) == states[3])
        #expect(try steps[0].followed(by: steps[0].inverse).isEmpty)
    }

    /// Names of records that change from state to state: each record gets the name that the next one had.
    private func names(_ state: Int) -> @Sendable (RecordID) -> RecordID {
        { RecordID.key(entity: $0.entity ?? "", values: ["\(Int($0.primaryKey ?? 0) + state)"]) }
    }

    /// The records without references to records that are not among them.
    private func closed(_ records: [GraphRecord]) -> [GraphRecord] {
        let known = Set(records.map(\.id))
        return records.map { record in
            var record = record
            record.relationships.removeAll { !known.isSuperset(of: $0.target.ids) }
            return record
        }
    }

    @Test(arguments: 1...40)
    func recordsWithChangedKeysAreFoundByTheirFormerOnes(seed: UInt64) throws {
        var graph = RandomGraph(seed: seed &* 31)
        let states = (0..<3).reduce(into: [state(&graph)]) { states, _ in
            states.append(successor(of: states[states.count - 1], &graph))
        }.map(closed)
        let named = states.enumerated().map { index, records in
            records.map { $0.renamed(names(index)).canonical }.sorted { $0.subject < $1.subject }
        }
        let steps = (0..<3).map { index in
            GraphDelta(from: states[index], to: states[index + 1]).withUnchanged(states[index], states[index + 1])
                .named(old: names(index), new: names(index + 1))
        }
        for (index, step) in steps.enumerated() {
            #expect(try step.applied(to: named[index]) == named[index + 1], "seed \(seed)")
            #expect(try step.inverse.applied(to: named[index + 1]) == named[index], "seed \(seed)")
            #expect(step.inverse.inverse == step)
            #expect(try GraphDelta(step.encoded(as: .json)) == step)
        }
        // A record that is deleted, and inserted and renamed by the next two, is one record or two: the graph is the same.
        let left = try steps[0].followed(by: steps[1]).followed(by: steps[2])
        let right = try steps[0].followed(by: steps[1].followed(by: steps[2]))
        #expect(try left.applied(to: named[0]) == named[3], "seed \(seed)")
        #expect(try right.applied(to: named[0]) == named[3], "seed \(seed)")
        #expect(throws: DeltaError.self) { try steps[0].merging(steps[0]) }
    }

    @Test(arguments: GraphFormat.allCases)
    func everyFormatRoundTripsADelta(format: GraphFormat) throws {
        for seed: UInt64 in 1...8 {
            var graph = RandomGraph(seed: seed &* 5)
            let old = state(&graph)
            var delta = GraphDelta(from: old, to: successor(of: old, &graph))
            delta.oldHeader = fullHeader
            let data = try delta.encoded(as: format)
            #expect(try GraphDelta(data) == delta, "seed \(seed)")
            #expect(try GraphDelta(data).encoded(as: format) == data)
        }
        let empty = GraphDelta()
        #expect(try GraphDelta(empty.encoded(as: format)) == empty)
    }

    private func update(_ id: RecordID, _ name: String, _ old: GraphValue?, _ new: GraphValue?) -> RecordChange {
        .updated(RecordUpdate(id: id, entity: "Thing", attributes: [.init(name: name, old: old, new: new)]))
    }

    @Test(arguments: 1...30)
    func independentChangesAreMerged(seed: UInt64) throws {
        var graph = RandomGraph(seed: seed &* 13)
        let base = state(&graph).map { record in
            var record = record
            // Links to what the other side deletes are a conflict of their own.
            record.relationships = []
            return record
        }
        let all = GraphDelta(
            from: base,
            to: successor(of: base, &graph).map { record in
                var record = record
                record.relationships = []
                return record
            })
        let ours = GraphDelta(all.changes.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element))
        let theirs = GraphDelta(all.changes.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element))
        let merge = try ours.merging(theirs)
        #expect(merge.conflicts.isEmpty)
        #expect(merge.delta == all)
        #expect(try theirs.merging(ours).delta == all)
        #expect(try merge.delta.applied(to: base) == theirs.applied(to: ours.applied(to: base)))
        #expect(try all.merging(all).delta == all)
    }

    @Test func membersAreMergedOneByOneAndOrdersAreNot() throws {
        func links(_ name: String, _ ids: [RecordID], isOrdered: Bool) -> GraphRecord {
            GraphRecord(
                id: "Thing/p1", entity: "Thing",
                relationships: [.init(name: name, target: .toMany(ids), isOrdered: isOrdered)])
        }
        let base = [links("children", ["a", "b", "c"], isOrdered: false)]
        let ours = GraphDelta(from: base, to: [links("children", ["a", "b", "c", "d"], isOrdered: false)])
        let theirs = GraphDelta(from: base, to: [links("children", ["b", "c", "e"], isOrdered: false)])
        let merged = try ours.merging(theirs).delta.applied(to: base)
        #expect(merged.first?.target(of: "children") == .toMany(["b", "c", "d", "e"]))

        let steps = [links("steps", ["a", "b"], isOrdered: true)]
        let one = GraphDelta(from: steps, to: [links("steps", ["b", "a"], isOrdered: true)])
        let other = GraphDelta(from: steps, to: [links("steps", ["a", "b", "c"], isOrdered: true)])
        #expect(throws: DeltaError.self) { try one.merging(other) }
        let chosen = try one.merging(other) { _ in .theirs }
        #expect(chosen.conflicts.map(\.property) == ["steps"])
        #expect(try chosen.delta.applied(to: steps).first?.target(of: "steps") == .toMany(["a", "b", "c"]))
    }

    @Test func conflictsAreListedAndResolvedByThePolicy() throws {
        let base = [
            GraphRecord(id: "Thing/p1", entity: "Thing", attributes: [.init(name: "title", value: .string("a"))]),
            GraphRecord(id: "Thing/p2", entity: "Thing", attributes: [.init(name: "title", value: .string("x"))]),
        ]
        let ours = GraphDelta([update("Thing/p1", "title", .string("a"), .string("b")), .deleted(base[1])])
        let theirs = GraphDelta([
            update("Thing/p1", "title", .string("a"), .string("c")), update("Thing/p2", "title", .string("x"), .null),
        ])
        let error = #expect(throws: DeltaError.self) { try ours.merging(theirs) }
        #expect(error?.code == .conflict)
        #expect(try ours.merging(theirs, resolve: { _ in .ours }).delta == ours)
        #expect(try ours.merging(theirs, resolve: { _ in .theirs }).delta == theirs)
        #expect(try ours.merging(theirs, resolve: { _ in .neither }).delta.isEmpty)
        let merge = try ours.merging(theirs) { $0.kind == .bothUpdated ? .theirs : .ours }
        #expect(merge.conflicts.map(\.kind) == [.bothUpdated, .updatedAndDeleted])
        #expect(merge.conflicts.first?.description == "Thing/p1.title is changed by both sides; resolution: theirs.")
        #expect(try merge.delta.applied(to: base).map { $0.value(of: "title") } == [.string("c")])
    }

    @Test func linksToDeletedRecordsAreOmitted() throws {
        let gone = GraphRecord(id: "Thing/p2", entity: "Thing")
        let link = RecordUpdate(
            id: "Thing/p1", entity: "Thing",
            relationships: [
                .init(name: "parent", isOrdered: false, change: .replaced(old: .toOne(nil), new: .toOne("Thing/p2")))
            ])
        let merge = try GraphDelta([.updated(link)]).merging(GraphDelta([.deleted(gone)])) { _ in .ours }
        #expect(merge.conflicts.map(\.kind) == [.linkedAndDeleted])
        #expect(merge.conflicts.first?.choice == .theirs)
        // Without its link the update is empty.
        #expect(merge.delta.changes == [.deleted(gone)])
        #expect(throws: DeltaError.self) {
            try GraphDelta([.updated(link)]).merging(GraphDelta([.deleted(gone)]))
        }
    }

    @Test func `a delta that does not match a state is an error`() throws {
        let record = GraphRecord(
            id: "Thing/p1", entity: "Thing", attributes: [.init(name: "title", value: .string("a"))])
        let delta = GraphDelta([update("Thing/p1", "title", .string("b"), .string("c"))])
        #expect(throws: DeltaError.self) { try delta.applied(to: [record]) }
        #expect(throws: DeltaError.self) { try delta.applied(to: []) }
        #expect(try delta.applied(to: [record], checking: false).first?.value(of: "title") == .string("c"))
        #expect(throws: DeltaError.self) { try GraphDelta([.inserted(record)]).applied(to: [record]) }
        #expect(throws: DeltaError.self) { try delta.followed(by: delta) }
    }

    @Test func keysIdentifyRecordsAcrossStores() throws {
        func tag(_ key: Int64, _ name: String?, parent: RecordID? = nil) -> GraphRecord {
            GraphRecord(
                id: .stored(entity: "Thing", primaryKey: key), entity: "Thing",
                attributes: [.init(name: "title", value: name.map { .string($0) } ?? .null)],
                relationships: [.init(name: "parent", target: .toOne(parent))])
        }
        let layout = [PlainLayout.Entity(name: "Thing", key: ["title"])]
        let here = [tag(1, "home"), tag(2, "work", parent: "Thing/p1"), tag(3, nil), tag(4, "same"), tag(5, "same")]
        let keys = try RecordKeys(entities: layout) { body in for record in here { try body(record) } }
        #expect(here.map { keys.renamed($0).id } == ["Thing/=home", "Thing/=work", "Thing/p3", "Thing/p4", "Thing/p5"])
        let there = [tag(7, "work", parent: "Thing/p9"), tag(9, "home")]
        let other = try RecordKeys(entities: layout) { body in for record in there { try body(record) } }
        #expect(
            GraphDelta(from: here.prefix(2).map(keys.renamed), to: there.map(other.renamed)).isEmpty)
    }

    @Test func `keys through other records do not depend on the order of records`() throws {
        func part(_ key: Int64, of owner: RecordID) -> GraphRecord {
            GraphRecord(
                id: .stored(entity: "Part", primaryKey: key), entity: "Part",
                attributes: [.init(name: "title", value: .string("\(key)"))],
                relationships: [.init(name: "parent", target: .toOne(owner))])
        }
        let home = GraphRecord(
            id: "Thing/p1", entity: "Thing", attributes: [.init(name: "title", value: .string("home"))])
        let chain = (1...30).map { part($0, of: $0 == 1 ? "Thing/p1" : .stored(entity: "Part", primaryKey: $0 - 1)) }
        let circle = [part(41, of: "Part/p42"), part(42, of: "Part/p41")]
        let records = [home] + chain + circle
        let layout = [
            PlainLayout.Entity(name: "Thing", key: ["title"]),
            PlainLayout.Entity(name: "Part", key: ["parent", "title"]),
        ]
        for order in [records, records.reversed()] {
            let keys = try RecordKeys(entities: layout) { body in for record in order { try body(record) } }
            #expect(keys.name(of: "Part/p2") == .key(entity: "Part", values: ["home", "1", "2"]))
            // Through at most fifteen others; a cycle never ends.
            let unnamed = records.map(\.id).filter { keys.name(of: $0) == $0 }
            #expect(unnamed == (chain.dropFirst(15) + circle).map(\.id))
        }
    }

    @Test(arguments: GraphFormat.allCases)
    func damagedDeltasAreRejected(format: GraphFormat) throws {
        var graph = RandomGraph(seed: 3)
        let old = state(&graph)
        let data = try GraphDelta(from: old, to: successor(of: old, &graph)).encoded(as: format)
        for length in stride(from: 0, to: data.count - 2, by: 101) where format != .jsonLines {
            #expect(throws: DocumentError.self) { try DeltaDocument.read(data.prefix(length), as: format) }
        }
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<300 {
            var bytes = data
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            do { _ = try DeltaDocument.read(bytes, as: format) } catch { #expect(error is DocumentError) }
        }
        #expect(throws: DocumentError.self) { try GraphDelta(Data("{\"$header\":{\"format\":\"coral-graph\"}}".utf8)) }
        var limits = DocumentLimits()
        limits.recordCount = 1
        #expect(throws: DocumentError.self) { try DeltaDocument.read(data, as: format, limits: limits) }
    }
}

extension GraphDelta {
    /// The delta with an empty update of each record that is in both states.
    fileprivate func withUnchanged(_ old: [GraphRecord], _ new: [GraphRecord]) -> GraphDelta {
        let present = Set(new.map(\.subject))
        let unchanged = old.filter { present.contains($0.subject) && self[$0.subject] == nil }
        return GraphDelta(changes + unchanged.map { .updated(RecordUpdate(id: $0.id, entity: $0.entity)) })
    }
}

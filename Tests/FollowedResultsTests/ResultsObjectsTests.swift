import Foundation
import Testing

@testable import EngineTesting

@testable import FollowedResults
@testable import FoundationAdditions
@testable import ManagedObjects

/// The chunks in which lists of results keep their objects.
struct ResultsObjectsTests {
    @Test func `edited lists have the objects of edited arrays and share their chunks`() throws {
        let context = try TestStack().context()
        let known = (0..<3000).map { _ in context.insert("Note", [:]) }
        var array = Array(known[..<2000])
        var list = ResultsObjects(array)
        var random: UInt64 = 36
        func next(_ limit: Int) -> Int {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((random >> 33) % UInt64(limit))
        }
        for step in 0..<400 {
            // A part is left out and some objects are inserted, few in most steps.
            let start = next(array.count + 1)
            let end = min(start + next(step % 40 == 0 ? 1500 : 3), array.count)
            let arrivals = (0..<next(step % 20 == 0 ? 800 : 3)).map { _ in known[next(known.count)] }
            var builder = ResultsObjectsBuilder()
            builder.append(0..<start, of: list)
            for object in arrivals { builder.append(object) }
            builder.append(end..<array.count, of: list)
            array.replaceSubrange(start..<end, with: arrivals)
            let edited = builder.objects
            if end - start < 3, arrivals.count < 3, array.count > 3 * ResultsObjects.chunkSize {
                #expect(list.chunkCount - edited.sharedChunkCount(with: list) <= 3)
            }
            list = edited
            try #require(list.count == array.count)
            try #require(Array(list) == array && list.indices.allSatisfy { list[$0] === array[$0] })
            #expect(list.chunkCount <= array.count / (ResultsObjects.chunkSize / 4) + 1)
            let sought = Set((0...next(8)).map { _ in known[next(known.count)] })
            let positions = array.indices.filter { sought.contains(array[$0]) }
            #expect(list.positions(of: Set(sought.map { ObjectIdentifier($0) })) == positions)
            for object in sought { #expect(list.position(of: object) == array.firstIndex(of: object)) }
        }
    }

    @Test func `one change of a long list copies at most two chunks`() throws {
        let stack = try TestStack()
        let context = stack.context()
        let notes = (0..<6000).map { context.insert("Note", ["title": String(format: "%05d", $0)]) }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        try context.save()
        let results = FetchedResults(of: request, in: context, sectionNameKeyPath: nil, cacheName: nil)
        let listener = Listener()
        results.listener = listener
        try results.fetch()
        let before = try #require(results.list)
        notes[100].setValue("03000a", forKey: "title")
        context.processPendingChanges()
        let after = try #require(results.list)
        #expect(after.objects[3000] === notes[100])
        #expect(before.objects.chunkCount - after.objects.sharedChunkCount(with: before.objects) <= 2)
    }

    private final class Listener: FetchedResultsListener {
        var isListening: Bool { true }
        func didFetch(_ list: ResultsList) {}
        func didChange(_ change: ResultsChange) {}
        func didFail(_ error: any Error) { Issue.record(error) }
        func indexTitle(forSectionName name: String) -> String? { nil }
    }
}

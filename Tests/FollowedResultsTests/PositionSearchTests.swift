import Foundation
import Testing

@testable import EngineTesting

@testable import FollowedResults
@testable import ManagedObjects

/// Positions of objects in the list of a results controller.
struct PositionSearchTests {
    @Test(arguments: [100, 1000]) func `looking up each object of a list costs a step for each`(count: Int) throws {
        let stack = try TestStack()
        let context = stack.context()
        let objects = (0..<count).map { context.insert("Note", ["title": "\($0)"]) }
        let other = context.insert("Note", ["title": "other"])
        let list = ResultsObjects(objects)
        let search = PositionSearch()
        #expect(search.position(of: other, in: list) == nil)
        for (position, object) in objects.enumerated().reversed() {
            #expect(search.position(of: object, in: list) == position)
        }
        #expect(search.position(of: other, in: list) == nil)
        // Some scans until the index is made, and the index.
        #expect(search.stepCount <= count * 6)
    }

    @Test func `one look-up does not make an index`() throws {
        let stack = try TestStack()
        let context = stack.context()
        let objects = (0..<10).map { context.insert("Note", ["title": "\($0)"]) }
        let list = ResultsObjects(objects)
        let search = PositionSearch()
        #expect(search.position(of: objects[4], in: list) == 4)
        #expect(search.stepCount == 5)
        #expect(search.position(of: objects[4], in: ResultsObjects([])) == nil)
    }
}

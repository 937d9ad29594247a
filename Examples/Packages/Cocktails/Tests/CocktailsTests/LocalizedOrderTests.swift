import Foundation
import SwiftData
import XCTest

/// Sort descriptors with a localised comparison, which programs for Apple's platforms state:
/// https://developer.apple.com/documentation/foundation/string/standardcomparator/localizedstandard
final class LocalizedOrderTests: StoreTestCase {
    private let names = ["Zoe", "ann", "Bob", "file 10", "bob", "file 9", "Émile", "emil", ""]

    override func makeContainer() throws -> ModelContainer {
        try ModelContainer(
            for: Sample.self, configurations: ModelConfiguration(url: folder.appendingPathComponent("samples.store")))
    }

    override func setUpWithError() throws {
        try super.setUpWithError()
        var random = Seeded(state: 7)
        for (index, name) in names.enumerated() {
            let sample = Sample(&random)
            context.insert(sample)
            (sample.text, sample.note) = (name, index % 3 == 0 ? nil : name)
            sample.place.city = name
            sample.owner = index % 4 == 0 ? nil : Holder(name: name, age: nil)
        }
        try context.save()
    }

    private func texts(_ order: SortDescriptor<Sample>, limit: Int? = nil) throws -> [String] {
        var descriptor = FetchDescriptor<Sample>(sortBy: [order, SortDescriptor(\.text)])
        descriptor.fetchLimit = limit
        return try ModelContext(container).fetch(descriptor).map(\.text)
    }

    func testTheStandardOrderIgnoresCaseAndComparesNumbers() throws {
        XCTAssertEqual(
            try texts(SortDescriptor(\.text, comparator: .localizedStandard)).filter { $0.hasPrefix("file") },
            ["file 9", "file 10"])
        let all = try texts(SortDescriptor(\.text, comparator: .localizedStandard))
        XCTAssertEqual(all.first, "")
        XCTAssertEqual(all.last, "Zoe")
        XCTAssertEqual(all[1], "ann")
        XCTAssertEqual(Set(all[2...3]), ["Bob", "bob"])
        XCTAssertEqual(try texts(SortDescriptor(\.text)).first { !$0.isEmpty }, "Bob")
    }

    func testTheStoreSortsAsAnArrayDoes() throws {
        let samples = try context.fetch(FetchDescriptor<Sample>())
        func check(_ order: SortDescriptor<Sample>, line: UInt = #line) throws {
            let expected = samples.sorted(using: [order, SortDescriptor(\.text)]).map(\.text)
            XCTAssertEqual(try texts(order), expected, line: line)
            XCTAssertEqual(try texts(order, limit: 3), Array(expected.prefix(3)), line: line)
        }
        for order in [SortOrder.forward, .reverse] {
            try check(SortDescriptor(\.text, comparator: .localizedStandard, order: order))
            try check(SortDescriptor(\.text, comparator: .localized, order: order))
            try check(SortDescriptor(\.note, comparator: .localizedStandard, order: order))
            try check(SortDescriptor(\.note, comparator: .localized, order: order))
            try check(SortDescriptor(\.owner?.name, comparator: .localizedStandard, order: order))
            // Not a column of its own kind for the store: sorted in memory.
            try check(SortDescriptor(\.place.city, comparator: .localizedStandard, order: order))
            try check(SortDescriptor(\.text, comparator: .lexical, order: order))
        }
    }

    func testValuesWithoutAModelAreSorted() {
        XCTAssertEqual(
            ["b", "A", "a 10", "a 9"].sorted(using: SortDescriptor(\String.self, comparator: .localizedStandard)),
            ["A", "a 9", "a 10", "b"])
    }
}

import Foundation
import SwiftData
import XCTest

/// A model with values of every kind, which may be nil.
@Model
final class Sample {
    var number: Int
    var maybe: Int?
    var small: Int16
    var ratio: Double
    var text: String
    var note: String?
    var flag: Bool
    var day: Date
    var key: UUID
    var kind: Kind
    var other: Kind?
    var state: State?
    var place: Place
    var home: Place?
    var owner: Holder?
    var parts: [Part] = []

    init(_ random: inout Seeded) {
        number = random.int(-3...3)
        maybe = random.chance() ? random.int(0...3) : nil
        small = Int16(random.int(0...3))
        ratio = Double(random.int(-4...4)) / 2
        text = random.text()
        note = random.chance() ? random.text() : nil
        flag = random.chance()
        day = Date(timeIntervalSinceReferenceDate: Double(random.int(0...4)))
        key = UUID()
        kind = Kind.allCases[random.int(0...2)]
        other = random.chance() ? Kind.allCases[random.int(0...2)] : nil
        state = random.chance() ? (random.chance() ? .on : .off) : nil
        place = Place(city: random.text(), zip: random.chance() ? random.int(0...3) : nil)
        home = random.chance() ? Place(city: random.text(), zip: random.int(0...3)) : nil
    }
}

enum Kind: String, Codable, CaseIterable { case a, b, c }
enum State: Codable { case on, off }
struct Place: Codable, Hashable {
    var city: String
    var zip: Int?
}

@Model
final class Holder {
    var name: String
    var age: Int?
    @Relationship(inverse: \Sample.owner) var samples: [Sample] = []
    init(name: String, age: Int?) {
        self.name = name
        self.age = age
    }
}

@Model
final class Part {
    var size: Int
    @Relationship(inverse: \Sample.parts) var sample: Sample?
    init(size: Int) { self.size = size }
}

/// A generator whose numbers are the same in each run.
struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 31)
    }
    mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
    mutating func chance() -> Bool { Bool.random(using: &self) }
    mutating func text() -> String { ["", "a", "A", "ab", "Abc", "é", "b%", "b_"][int(0...7)] }
}

final class PredicateTests: XCTestCase {
    private var folder: URL!
    private var context: ModelContext!
    private var samples: [Sample] = []
    private var holders: [Holder] = []

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let container = try ModelContainer(
            for: Sample.self, configurations: ModelConfiguration(url: folder.appendingPathComponent("samples.store")))
        context = ModelContext(container)
        var random = Seeded(state: 20_261_124)
        holders = ["ann", "bob"].map { Holder(name: $0, age: $0 == "ann" ? 2 : nil) }
        for holder in holders { context.insert(holder) }
        for _ in 0..<300 {
            let sample = Sample(&random)
            context.insert(sample)
            if random.chance() { sample.owner = holders[random.int(0...1)] }
            sample.parts = (0..<random.int(0...2)).map { _ in Part(size: random.int(0...3)) }
            samples.append(sample)
        }
        try context.save()
    }

    override func tearDown() {
        (context, samples, holders) = (nil, [], [])
        try? FileManager.default.removeItem(at: folder)
    }

    /// Compares a fetch with the evaluation of the predicate on each object: with all saved, and with unsaved changes.
    private func check(_ predicate: Predicate<Sample>, line: UInt = #line) throws {
        let expected = Set(try samples.filter { try predicate.evaluate($0) }.map(\.persistentModelID))
        let descriptor = FetchDescriptor<Sample>(predicate: predicate)
        XCTAssertEqual(Set(try context.fetch(descriptor).map(\.persistentModelID)), expected, line: line)
        XCTAssertEqual(try context.fetchCount(descriptor), expected.count, line: line)
        let fresh = ModelContext(context.container)
        XCTAssertEqual(Set(try fresh.fetch(descriptor).map(\.persistentModelID)), expected, line: line)
        let changed = samples[0]
        let (text, note, number) = (changed.text, changed.note, changed.number)
        (changed.text, changed.note, changed.number) = ("Abc", nil, 2)
        let after = Set(try samples.filter { try predicate.evaluate($0) }.map(\.persistentModelID))
        XCTAssertEqual(Set(try context.fetch(descriptor).map(\.persistentModelID)), after, line: line)
        (changed.text, changed.note, changed.number) = (text, note, number)
        context.rollback()
    }

    func testNumbers() throws {
        try check(#Predicate { $0.number > 1 })
        try check(#Predicate { !($0.number > 1) })
        try check(#Predicate { $0.number == 1 })
        try check(#Predicate { $0.number != 1 })
        try check(#Predicate { $0.small <= 2 })
        try check(#Predicate { $0.ratio * 2 < 1 })
        try check(#Predicate { $0.number + 1 > 2 })
        try check(#Predicate { -$0.number > 1 })
        try check(#Predicate { (0...2).contains($0.number) })
        try check(#Predicate { (0..<2).contains($0.number) })
        try check(#Predicate { $0.number / 2 == 1 })
        try check(#Predicate { $0.number % 2 == 1 })
    }

    func testOptionals() throws {
        try check(#Predicate { $0.maybe == nil })
        try check(#Predicate { $0.maybe != nil })
        try check(#Predicate { $0.maybe == 1 })
        try check(#Predicate { $0.maybe != 1 })
        try check(#Predicate { !($0.maybe == 1) })
        try check(#Predicate { ($0.maybe ?? 2) == 2 })
        try check(#Predicate { !(($0.maybe ?? 2) > 1) })
        try check(#Predicate { $0.note == nil || $0.note == "a" })
        try check(#Predicate { $0.note?.contains("a") == true })
        try check(#Predicate { !($0.note?.contains("a") == true) })
        try check(#Predicate { $0.note?.isEmpty ?? true })
        try check(#Predicate { $0.owner?.age == 2 })
        try check(#Predicate { $0.owner?.age == nil })
        try check(#Predicate { $0.owner?.name != "ann" })
        try check(#Predicate { $0.owner == nil })
        try check(#Predicate { if let owner = $0.owner { owner.name == "ann" } else { $0.flag } })
    }

    func testTexts() throws {
        try check(#Predicate { $0.text == "a" })
        try check(#Predicate { $0.text.contains("b") })
        try check(#Predicate { !$0.text.contains("b") })
        try check(#Predicate { $0.text.contains("") })
        try check(#Predicate { $0.text.contains("%") })
        try check(#Predicate { $0.text.starts(with: "A") })
        try check(#Predicate { $0.text.isEmpty })
        try check(#Predicate { $0.text < "a" })
        try check(#Predicate { $0.text.count == 2 })
        try check(#Predicate { $0.text.localizedStandardContains("AB") })
        try check(#Predicate { $0.text.localizedStandardContains("e") })
    }

    func testOtherValues() throws {
        let key = samples[7].key
        try check(#Predicate { $0.key == key })
        let day = Date(timeIntervalSinceReferenceDate: 2)
        try check(#Predicate { $0.day >= day })
        try check(#Predicate { $0.flag })
        try check(#Predicate { !$0.flag })
        try check(#Predicate { $0.flag == false })
        let numbers = [1, 2]
        try check(#Predicate { numbers.contains($0.number) })
        try check(#Predicate { !numbers.contains($0.number) })
        let texts: Set<String> = ["a", "é"]
        try check(#Predicate { texts.contains($0.text) })
        let maybes: [Int?] = [1, nil]
        try check(#Predicate { maybes.contains($0.maybe) })
        try check(#Predicate { !maybes.contains($0.maybe) })
    }

    func testEnumerationsAndStructures() throws {
        let kind = Kind.b
        try check(#Predicate { $0.kind == kind })
        try check(#Predicate { $0.kind != kind })
        try check(#Predicate { $0.kind.rawValue == "b" })
        try check(#Predicate { $0.other == kind })
        try check(#Predicate { $0.other != kind })
        try check(#Predicate { $0.other == nil })
        let kinds = [Kind.a, .c]
        try check(#Predicate { kinds.contains($0.kind) })
        try check(#Predicate { $0.place.city == "a" })
        try check(#Predicate { $0.place.zip == nil })
        try check(#Predicate { $0.home?.zip == 2 })
        try check(#Predicate { $0.home == nil })
        let place = samples[3].place
        try check(#Predicate { $0.place == place })
    }

    func testRelationships() throws {
        let ann = holders[0].persistentModelID
        try check(#Predicate { $0.owner?.persistentModelID == ann })
        let id = samples[9].persistentModelID
        try check(#Predicate { $0.persistentModelID == id })
        let ids = samples[3..<9].map(\.persistentModelID)
        try check(#Predicate { ids.contains($0.persistentModelID) })
        try check(#Predicate { $0.parts.isEmpty })
        try check(#Predicate { $0.parts.count == 2 })
        try check(#Predicate { $0.parts.contains { $0.size > 2 } })
        try check(#Predicate { !$0.parts.contains { $0.size > 2 } })
        try check(#Predicate { $0.parts.allSatisfy { $0.size > 1 } })
        try check(#Predicate { $0.parts.filter { $0.size > 1 }.count == 1 })
        let number = 1
        try check(#Predicate { sample in sample.parts.contains { $0.size > number } && sample.flag })
    }

    func testOrder() throws {
        var descriptor = FetchDescriptor<Sample>(sortBy: [
            SortDescriptor(\.number), SortDescriptor(\.text, order: .reverse),
        ])
        descriptor.fetchLimit = 20
        descriptor.fetchOffset = 5
        let expected = samples.sorted {
            ($0.number, $1.text) < ($1.number, $0.text)
        }.dropFirst(5).prefix(20).map { "\($0.number) \($0.text)" }
        XCTAssertEqual(try context.fetch(descriptor).map { "\($0.number) \($0.text)" }, expected)
        let byOwner = FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.owner?.name), SortDescriptor(\.number)])
        let names = try context.fetch(byOwner).map { $0.owner?.name ?? "" }
        XCTAssertEqual(names, names.sorted())
    }
}

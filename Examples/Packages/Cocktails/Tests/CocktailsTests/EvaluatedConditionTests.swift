import Foundation
import SwiftData
import XCTest

enum Mood: String, Codable { case calm, wild }

@Model
class Animal {
    var name: String
    var mood: Mood
    var home: Place
    var keeper: Keeper?

    init(name: String, mood: Mood = .calm, home: Place = Place(city: "Bern")) {
        self.name = name
        self.mood = mood
        self.home = home
    }
}

@Model
final class Dog: Animal {
    var tricks: Int

    init(name: String, tricks: Int, mood: Mood = .calm, home: Place = Place(city: "Bern")) {
        self.tricks = tricks
        super.init(name: name, mood: mood, home: home)
    }
}

@Model
final class Keeper {
    var name: String
    var score: Int
    var isDone = false
    var grade = 0
    var nickname: String?
    var price: Decimal = 0
    var ratio: Float = 0
    @Attribute(.ephemeral) var glow = 0
    @Transient var cache = 0
    @Relationship(deleteRule: .cascade, inverse: \Animal.keeper) var animals: [Animal] = []

    init(name: String, score: Int = 0) {
        self.name = name
        self.score = score
    }

    var isOpen: Bool { !isDone }
    var distance: Int { abs(score) }
    var label: String { "\(name) \(score)" }
    var shownName: String { nickname! }
    var gradeName: String { ["low", "middle", "high"][grade] }
    var share: Int { 12 / (grade + 1) }
    var backwards: String { String(name.reversed()) }
    var capped: Int { min(score, 100) }
    var shownText: String { name.isEmpty ? "-" : name }
    var short: String { String(name.prefix(30)) }
    var alias: String? { nickname?.isEmpty == true ? nil : nickname }
    var rounded: Float { (ratio * 100).rounded() / 100 }
    var wildAnimals: [Animal] { animals.filter { $0.mood == .wild } }
}

/// An order, which cannot be without its keeper.
@Model
final class Order {
    var text: String
    var keeper: Keeper

    init(text: String, keeper: Keeper) {
        self.text = text
        self.keeper = keeper
    }
}

/// Conditions and orders that read more than the store has, or in another way: they are evaluated in memory.
final class EvaluatedConditionTests: StoreTestCase {
    override func makeContainer() throws -> ModelContainer {
        try ModelContainer(
            for: Dog.self, Order.self,
            configurations: ModelConfiguration(url: folder.appendingPathComponent("animals.store")))
    }

    private func names(_ predicate: Predicate<Keeper>) throws -> [String] {
        let keepers = try context.fetch(FetchDescriptor(predicate: predicate))
        XCTAssertEqual(try context.fetchCount(FetchDescriptor(predicate: predicate)), keepers.count)
        return keepers.map(\.name).sorted()
    }

    private func names(by order: SortDescriptor<Keeper>) throws -> [String] {
        try context.fetch(FetchDescriptor(sortBy: [order])).map(\.name)
    }

    /// A computed property is not the one that it reads.
    func testComputedPropertiesAreEvaluated() throws {
        let (ann, bob) = (Keeper(name: "ab", score: -7), Keeper(name: "Cd", score: 3))
        bob.isDone = true
        ann.animals = [Dog(name: "rex", tricks: 1, mood: .wild), Dog(name: "max", tricks: 2)]
        for keeper in [ann, bob] { context.insert(keeper) }
        try context.save()
        XCTAssertEqual(try names(#Predicate { $0.isOpen }), ["ab"])
        XCTAssertEqual(try names(#Predicate { $0.distance > 5 }), ["ab"])
        XCTAssertEqual(try names(#Predicate { $0.backwards == "ba" }), ["ab"])
        XCTAssertEqual(try names(#Predicate { $0.label == "ab -7" }), ["ab"])
        XCTAssertEqual(try names(#Predicate { $0.wildAnimals.count == 1 }), ["ab"])
        // Code that stops the program for a number that the store does not have.
        ann.grade = 2
        (ann.nickname, bob.nickname) = ("Annie", "Bobby")
        try context.save()
        XCTAssertEqual(try names(#Predicate { $0.shownName == "Annie" }), ["ab"])
        XCTAssertEqual(try names(#Predicate { $0.gradeName == "high" }), ["ab"])
        XCTAssertEqual(try names(by: SortDescriptor(\.gradeName)), ["ab", "Cd"])
        XCTAssertEqual(try names(#Predicate { $0.share == 4 }), ["ab"])
        XCTAssertEqual(try names(by: SortDescriptor(\.distance)), ["Cd", "ab"])
        XCTAssertEqual(try names(by: SortDescriptor(\.label)), ["Cd", "ab"])
        XCTAssertEqual(try names(by: SortDescriptor(\.name.localizedLowercase)), ["ab", "Cd"])
    }

    /// Most of their values are those of the stored property.
    func testComputedPropertiesThatDifferForFewValuesAreEvaluated() throws {
        let long = String(repeating: "long", count: 10)
        let (empty, big) = (Keeper(name: "", score: 200), Keeper(name: long, score: 150))
        (empty.nickname, big.ratio) = ("", 0.125)
        for keeper in [empty, big] { context.insert(keeper) }
        try context.save()
        XCTAssertEqual(try names(#Predicate { $0.capped == 100 }), ["", long])
        XCTAssertEqual(try names(#Predicate { $0.shownText == "-" }), [""])
        XCTAssertEqual(try names(#Predicate { $0.short.count == 30 }), [long])
        XCTAssertEqual(try names(#Predicate { $0.alias == nil }), ["", long])
        XCTAssertEqual(try names(#Predicate { $0.rounded == 0.13 }), [long])
        let order = FetchDescriptor<Keeper>(sortBy: [SortDescriptor(\.capped), SortDescriptor(\.name, order: .reverse)])
        XCTAssertEqual(try context.fetch(order).map(\.name), [long, ""])
    }

    func testInheritedPropertiesOfEveryFormAreCompared() throws {
        context.insert(Dog(name: "rex", tricks: 1, mood: .wild, home: Place(city: "Rome", zip: 3)))
        context.insert(Dog(name: "max", tricks: 2))
        try context.save()
        let wild = Mood.wild
        func names(_ predicate: Predicate<Dog>) throws -> [String] {
            try context.fetch(FetchDescriptor(predicate: predicate)).map(\.name)
        }
        XCTAssertEqual(try names(#Predicate { $0.mood == wild }), ["rex"])
        XCTAssertEqual(try names(#Predicate { $0.home.city == "Rome" }), ["rex"])
        let byCity = try context.fetch(FetchDescriptor<Dog>(sortBy: [SortDescriptor(\.home.city)]))
        XCTAssertEqual(byCity.map(\.name), ["max", "rex"])
    }

    func testAConditionSelectsARange() throws {
        for (name, score, isDone) in [("a", 1, true), ("b", 1, false), ("c", 6, true), ("d", 6, false)] {
            let keeper = Keeper(name: name, score: score)
            keeper.isDone = isDone
            context.insert(keeper)
        }
        try context.save()
        let (low, high) = (0...2, 5...7)
        XCTAssertEqual(try names(#Predicate { ($0.isDone ? low : high).contains($0.score) }), ["a", "d"])
    }

    /// SQL computes with doubles only.
    func testArithmeticIsThatOfTheType() throws {
        let (ann, bob) = (Keeper(name: "ann"), Keeper(name: "bob"))
        (ann.price, ann.ratio) = (Decimal(1) / 10, 0.1)
        for keeper in [ann, bob] { context.insert(keeper) }
        try context.save()
        let (tenth, fifth, sum) = (Decimal(1) / 10, Decimal(2) / 10, Decimal(3) / 10)
        XCTAssertEqual(try names(#Predicate { $0.price == tenth }), ["ann"])
        XCTAssertEqual(try names(#Predicate { $0.price + fifth == sum }), ["ann"])
        XCTAssertEqual(try names(#Predicate { $0.ratio == 0.1 }), ["ann"])
        let product: Float = 0.1 * 3
        XCTAssertEqual(try names(#Predicate { $0.ratio * 3 == product }), ["ann"])
    }

    func testEphemeralValuesAreComparedAndSorted() throws {
        let (ann, bob) = (Keeper(name: "ann"), Keeper(name: "bob"))
        ann.glow = 5
        for keeper in [ann, bob] { context.insert(keeper) }
        try context.save()
        XCTAssertEqual(try names(#Predicate { $0.glow == 5 }), ["ann"])
        XCTAssertEqual(try names(by: SortDescriptor(\.glow)), ["bob", "ann"])
    }
}

import Foundation
import Testing

@testable import SwiftData

private enum Tiny: Int8, Codable { case least = -128, most = 127 }
private enum Byte: UInt8, Codable { case least = 0, most = 255 }
private enum Short: UInt16, Codable { case least = 0, most = 65_535 }
private enum Word: UInt32, Codable { case least = 0, most = 4_294_967_295 }
private enum Native: UInt, Codable { case least = 0, most = 18_446_744_073_709_551_615 }
private enum Long: UInt64, Codable { case least = 0, most = 18_446_744_073_709_551_615 }

private struct Levels: Codable, Equatable {
    var tiny: Tiny
    var byte: Byte
    var short: Short
    var word: Word
    var native: Native?
    var long: Long

    static let least = Levels(tiny: .least, byte: .least, short: .least, word: .least, native: nil, long: .least)
    static let most = Levels(tiny: .most, byte: .most, short: .most, word: .most, native: .most, long: .most)
}

/// An order that is not that of the raw values.
private enum Priority: String, Codable, CaseIterable, Comparable {
    case low, medium, high
    static func < (lhs: Priority, rhs: Priority) -> Bool { lhs.rank < rhs.rank }
    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// An order of cases that the type does not list.
private enum Size: Int, Codable, Comparable {
    case small = 3
    case large = 1
    static func < (lhs: Size, rhs: Size) -> Bool { lhs.rawValue > rhs.rawValue }
}

/// A list of cases that leaves one out.
private enum Grade: Int, Codable, CaseIterable, Comparable {
    case poor = 3
    case good = 2
    case secret = 1
    static let allCases: [Grade] = [.poor, .good]
    static func < (lhs: Grade, rhs: Grade) -> Bool { lhs.rawValue > rhs.rawValue }
}

/// A model without macros, which need a trait.
private final class Gauge: PersistentModel {
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Gauge.name), .init(name: "tiny", keypath: \Gauge.tiny),
            .init(name: "byte", keypath: \Gauge.byte, defaultValue: Byte.least),
            .init(name: "short", keypath: \Gauge.short),
            .init(name: "word", keypath: \Gauge.word), .init(name: "native", keypath: \Gauge.native),
            .init(name: "long", keypath: \Gauge.long), .init(name: "maybeTiny", keypath: \Gauge.maybeTiny),
            .init(name: "maybeByte", keypath: \Gauge.maybeByte), .init(name: "maybeShort", keypath: \Gauge.maybeShort),
            .init(name: "maybeWord", keypath: \Gauge.maybeWord),
            .init(name: "maybeNative", keypath: \Gauge.maybeNative),
            .init(name: "maybeLong", keypath: \Gauge.maybeLong), .init(name: "levels", keypath: \Gauge.levels),
            .init(name: "priority", keypath: \Gauge.priority), .init(name: "maybe", keypath: \Gauge.maybe),
            .init(name: "size", keypath: \Gauge.size), .init(name: "grade", keypath: \Gauge.grade),
            .init(name: "count", keypath: \Gauge.count, defaultValue: UInt8(7)),
            .init(name: "maybeCount", keypath: \Gauge.maybeCount), .init(name: "ratio", keypath: \Gauge.ratio),
            .init(name: "price", keypath: \Gauge.price),
        ]
    }

    var persistentBackingData: any BackingData<Gauge>
    init(backingData: any BackingData<Gauge>) { persistentBackingData = backingData }

    init(_ name: String, isMost: Bool = false) {
        persistentBackingData = Gauge._createBackingData()
        self.name = name
        tiny = isMost ? .most : .least
        byte = isMost ? .most : .least
        short = isMost ? .most : .least
        word = isMost ? .most : .least
        native = isMost ? .most : .least
        long = isMost ? .most : .least
        (maybeTiny, maybeByte, maybeShort) = isMost ? (.most, .most, .most) : (nil, nil, nil)
        (maybeWord, maybeNative, maybeLong) = isMost ? (.most, .most, .most) : (nil, nil, nil)
        levels = isMost ? .most : .least
        (priority, maybe, size, grade) = (.low, nil, .small, .poor)
        (count, maybeCount, ratio, price) = (0, nil, 0, 0)
    }

    private subscript<Value: Codable>(_ keyPath: KeyPath<Gauge, Value>) -> Value {
        get { getValue(forKey: keyPath) }
        set { setValue(forKey: keyPath, to: newValue) }
    }

    var name: String {
        get { self[\.name] }
        set { self[\.name] = newValue }
    }
    var tiny: Tiny {
        get { self[\.tiny] }
        set { self[\.tiny] = newValue }
    }
    var byte: Byte {
        get { self[\.byte] }
        set { self[\.byte] = newValue }
    }
    var short: Short {
        get { self[\.short] }
        set { self[\.short] = newValue }
    }
    var word: Word {
        get { self[\.word] }
        set { self[\.word] = newValue }
    }
    var native: Native {
        get { self[\.native] }
        set { self[\.native] = newValue }
    }
    var long: Long {
        get { self[\.long] }
        set { self[\.long] = newValue }
    }
    var maybeTiny: Tiny? {
        get { self[\.maybeTiny] }
        set { self[\.maybeTiny] = newValue }
    }
    var maybeByte: Byte? {
        get { self[\.maybeByte] }
        set { self[\.maybeByte] = newValue }
    }
    var maybeShort: Short? {
        get { self[\.maybeShort] }
        set { self[\.maybeShort] = newValue }
    }
    var maybeWord: Word? {
        get { self[\.maybeWord] }
        set { self[\.maybeWord] = newValue }
    }
    var maybeNative: Native? {
        get { self[\.maybeNative] }
        set { self[\.maybeNative] = newValue }
    }
    var maybeLong: Long? {
        get { self[\.maybeLong] }
        set { self[\.maybeLong] = newValue }
    }
    var levels: Levels {
        get { self[\.levels] }
        set { self[\.levels] = newValue }
    }
    var priority: Priority {
        get { self[\.priority] }
        set { self[\.priority] = newValue }
    }
    var maybe: Priority? {
        get { self[\.maybe] }
        set { self[\.maybe] = newValue }
    }
    var size: Size {
        get { self[\.size] }
        set { self[\.size] = newValue }
    }
    var grade: Grade {
        get { self[\.grade] }
        set { self[\.grade] = newValue }
    }
    var count: UInt8 {
        get { self[\.count] }
        set { self[\.count] = newValue }
    }
    var maybeCount: UInt8? {
        get { self[\.maybeCount] }
        set { self[\.maybeCount] = newValue }
    }
    var ratio: Float {
        get { self[\.ratio] }
        set { self[\.ratio] = newValue }
    }
    var price: Decimal {
        get { self[\.price] }
        set { self[\.price] = newValue }
    }
}

@Suite("Enumerations with raw values, and small integers")
struct EnumerationTests {
    private let container: ModelContainer
    private let context: ModelContext

    init() throws {
        container = try ModelContainer(for: Gauge.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        context = ModelContext(container)
    }

    /// Compares what a predicate selects from the store, and whether the store answers alone.
    private func check(
        _ names: [String], isComplete: Bool = true, at place: SourceLocation = #_sourceLocation,
        _ predicate: Predicate<Gauge>
    ) throws {
        let descriptor = FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)])
        #expect(try ModelContext(container).fetch(descriptor).map(\.name) == names, sourceLocation: place)
        #expect(TranslatedPredicate(predicate).isComplete == isComplete, sourceLocation: place)
    }

    private func saveLimits() throws {
        context.insert(Gauge("least"))
        context.insert(Gauge("most", isMost: true))
        try context.save()
    }

    @Test("A raw value of each type of integer that Core Data lacks is stored, also nil and in a structure")
    func rawIntegers() throws {
        try saveLimits()
        let gauges = try ModelContext(container).fetch(FetchDescriptor<Gauge>(sortBy: [SortDescriptor(\.name)]))
        let (least, most) = (try #require(gauges.first), try #require(gauges.last))
        #expect(least.tiny == .least && least.byte == .least && least.short == .least)
        #expect(least.word == .least && least.native == .least && least.long == .least)
        #expect(least.maybeTiny == nil && least.maybeByte == nil && least.maybeShort == nil)
        #expect(least.maybeWord == nil && least.maybeNative == nil && least.maybeLong == nil)
        #expect(most.tiny == .most && most.byte == .most && most.short == .most)
        #expect(most.word == .most && most.native == .most && most.long == .most)
        #expect(most.maybeTiny == .most && most.maybeByte == .most && most.maybeShort == .most)
        #expect(most.maybeWord == .most && most.maybeNative == .most && most.maybeLong == .most)
        #expect(least.levels == .least && most.levels == .most)
    }

    @Test("The store compares such raw values, those of 64 bits by their bits")
    func rawIntegersInPredicates() throws {
        try saveLimits()
        let (tiny, byte, short, word) = (Tiny.most, Byte.most, Short.most, Word.most)
        let (native, long, several) = (Native.most, Long.most, [Long.most])
        try check(["most"], #Predicate { $0.tiny == tiny })
        try check(["most"], #Predicate { $0.byte == byte && $0.maybeByte == byte })
        try check(["most"], #Predicate { $0.short == short && $0.maybeShort == short })
        try check(["most"], #Predicate { $0.word == word && $0.maybeWord == word })
        try check(["most"], #Predicate { $0.native == native && $0.maybeNative == native })
        try check(["most"], #Predicate { $0.long == long && $0.maybeLong == long })
        try check(["least"], #Predicate { $0.long != long && $0.maybeTiny == nil })
        try check(["most"], #Predicate { $0.levels.long == long && $0.levels.tiny == tiny })
        try check(["most"], #Predicate { several.contains($0.long) })
    }

    /// In SQL the greatest number would be -1.
    @Test("A raw value of 64 bits without a sign is compared in memory")
    func rawValuesOfBits() throws {
        try saveLimits()
        let (number, word) = (UInt64(5), UInt32(5))
        try check(["most"], isComplete: false, #Predicate { $0.long.rawValue > number })
        try check(["most"], #Predicate { $0.word.rawValue > word })
    }

    private func savePriorities() throws {
        for (priority, size, grade) in [
            (Priority.low, Size.small, Grade.poor), (.medium, .large, .good), (.high, .large, .secret),
        ] {
            let gauge = Gauge(priority.rawValue)
            (gauge.priority, gauge.maybe, gauge.size, gauge.grade) = (priority, priority, size, grade)
            context.insert(gauge)
        }
        let none = Gauge("none")
        none.priority = .medium
        context.insert(none)
        try context.save()
    }

    @Test("Cases are compared by the order of their type, not by that of their raw values")
    func order() throws {
        try savePriorities()
        let (medium, large, good, range) = (Priority.medium, Size.large, Grade.good, Priority.low...(.medium))
        try check(["high"], #Predicate { $0.priority > medium })
        try check(["high", "medium", "none"], #Predicate { $0.priority >= medium })
        try check(["low"], #Predicate { $0.priority < medium })
        try check(["low"], #Predicate { medium > $0.priority })
        try check(["low", "medium", "none"], #Predicate { $0.priority <= medium })
        try check(["low", "medium", "none"], #Predicate { !($0.priority > medium) })
        try check(["low", "medium", "none"], #Predicate { range.contains($0.priority) })
        try check(["high"], #Predicate { !range.contains($0.priority) })
        try check(["high"], #Predicate { $0.maybe.flatMap { $0 > medium } ?? false })
        // Raw values have their own order.
        let text = "low"
        try check(["low", "medium", "none"], #Predicate { $0.priority.rawValue >= text })
        // Types that do not list their cases.
        try check(["low", "none"], isComplete: false, #Predicate { $0.size < large })
        try check(["high"], isComplete: false, #Predicate { $0.grade > good })
    }

    @Test("A translation with an order of cases is reused for other bounds")
    func reuse() {
        let translations = PredicateTranslations()
        func above(_ bound: Priority) -> Predicate<Gauge> { #Predicate { $0.priority > bound } }
        for bound in Priority.allCases {
            #expect(translations.translation(of: above(bound)).condition == TranslatedPredicate(above(bound)).condition)
        }
        #expect(translations.count == 1)
    }

    /// As an unknown raw value.
    @Test("A stored integer that the type does not have is not read as another one")
    func integersOutsideTheirType() throws {
        let gauge = Gauge("g")
        context.insert(gauge)
        let object = try #require(gauge._record?.object)
        object.setValue(300, forKey: "count")
        object.setValue(-1, forKey: "maybeCount")
        object.setValue(["byte": 300], forKey: "byte")
        object.setValue(["maybeByte": 300], forKey: "maybeByte")
        #expect(gauge.count == 7, "the initial value")
        #expect(gauge.maybeCount == nil)
        #expect(gauge.byte == .least, "the initial value")
        #expect(gauge.maybeByte == nil)
        object.setValue(255, forKey: "count")
        #expect(gauge.count == 255)
    }

    /// SQL computes with doubles.
    @Test("A negated Decimal or Float is computed in memory")
    func negatedNumbers() throws {
        let gauge = Gauge("g")
        (gauge.ratio, gauge.price) = (0.1, 0.1)
        context.insert(gauge)
        try context.save()
        try check(
            ["g"], isComplete: false,
            Predicate { gauge in
                PredicateExpressions.build_Equal(
                    lhs: PredicateExpressions.build_UnaryMinus(
                        PredicateExpressions.build_KeyPath(root: gauge, keyPath: \.ratio)),
                    rhs: PredicateExpressions.build_Arg(Float(-0.1)))
            })
        try check(
            ["g"], isComplete: false,
            Predicate { gauge in
                PredicateExpressions.build_Equal(
                    lhs: PredicateExpressions.build_UnaryMinus(
                        PredicateExpressions.build_KeyPath(root: gauge, keyPath: \.price)),
                    rhs: PredicateExpressions.build_Arg(Decimal(-0.1)))
            })
    }
}

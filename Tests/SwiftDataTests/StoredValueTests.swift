import Foundation
import SwiftData
import Testing

private struct Filter: Codable, Equatable {
    var text: String?
    var tag: String?
}

private struct Search: Codable, Equatable {
    var filter: Filter
    var limit: Int?
}

private struct Reading: Codable, Equatable {
    var value: Double
}

private enum Amount: Codable, Equatable {
    case none
    case exact(Decimal)
    case measured(value: Double, unit: String)
}

/// A type whose values cannot all be encoded.
private struct Fragile: Codable, Equatable {
    var isWhole: Bool
    struct Broken: Error, CustomStringConvertible { var description: String { "it is broken." } }

    init(isWhole: Bool) { self.isWhole = isWhole }
    init(from decoder: any Decoder) throws { isWhole = try decoder.singleValueContainer().decode(Bool.self) }
    func encode(to encoder: any Encoder) throws {
        guard isWhole else { throw Broken() }
        var container = encoder.singleValueContainer()
        try container.encode(isWhole)
    }
}

/// A type that writes another type under the name of its stored property.
private struct Price: Codable, Equatable {
    var amount: Decimal
    private enum CodingKeys: CodingKey { case amount }

    init(amount: Decimal) { self.amount = amount }
    init(from decoder: any Decoder) throws {
        let text = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .amount)
        amount = Decimal(string: text) ?? 0
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("\(amount)", forKey: .amount)
    }
}

/// The same with a number that the column would take, and cut.
private struct Weight: Codable, Equatable {
    var grams: Int
    private enum CodingKeys: CodingKey { case grams }

    init(grams: Int) { self.grams = grams }
    init(from decoder: any Decoder) throws {
        grams = Int(try decoder.container(keyedBy: CodingKeys.self).decode(Double.self, forKey: .grams) * 1000)
    }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Double(grams) / 1000, forKey: .grams)
    }
}

/// A model without macros, which need a trait.
private final class Sheet: PersistentModel {
    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            .init(name: "name", keypath: \Sheet.name), .init(name: "filter", keypath: \Sheet.filter),
            .init(name: "initial", keypath: \Sheet.initial, defaultValue: Filter(text: "a")),
            .init(name: "search", keypath: \Sheet.search),
            .init(name: "readings", keypath: \Sheet.readings), .init(name: "amount", keypath: \Sheet.amount),
            .init(name: "parts", keypath: \Sheet.parts), .init(name: "price", keypath: \Sheet.price),
            .init(name: "weight", keypath: \Sheet.weight),
        ]
    }

    var persistentBackingData: any BackingData<Sheet>
    init(backingData: any BackingData<Sheet>) { persistentBackingData = backingData }

    init(name: String) {
        persistentBackingData = Sheet._createBackingData()
        self.name = name
        filter = Filter()
        initial = Filter(text: "a")
        search = Search(filter: Filter())
        readings = []
        amount = .none
        parts = []
        (price, weight) = (nil, nil)
    }

    var name: String {
        get { getValue(forKey: \.name) }
        set { setValue(forKey: \.name, to: newValue) }
    }
    var filter: Filter {
        get { getValue(forKey: \.filter) }
        set { setValue(forKey: \.filter, to: newValue) }
    }
    var initial: Filter {
        get { getValue(forKey: \.initial) }
        set { setValue(forKey: \.initial, to: newValue) }
    }
    var search: Search {
        get { getValue(forKey: \.search) }
        set { setValue(forKey: \.search, to: newValue) }
    }
    var readings: [Reading] {
        get { getValue(forKey: \.readings) }
        set { setValue(forKey: \.readings, to: newValue) }
    }
    var amount: Amount {
        get { getValue(forKey: \.amount) }
        set { setValue(forKey: \.amount, to: newValue) }
    }
    var parts: [Fragile] {
        get { getValue(forKey: \.parts) }
        set { setValue(forKey: \.parts, to: newValue) }
    }
    var price: Price? {
        get { getValue(forKey: \.price) }
        set { setValue(forKey: \.price, to: newValue) }
    }
    var weight: Weight? {
        get { getValue(forKey: \.weight) }
        set { setValue(forKey: \.weight, to: newValue) }
    }
}

/// The entity of `Sheet` before some of its attributes.
private enum Earlier {
    final class Sheet: PersistentModel {
        static var schemaMetadata: [Schema.PropertyMetadata] { [.init(name: "name", keypath: \Sheet.name)] }
        var persistentBackingData: any BackingData<Sheet>
        init(backingData: any BackingData<Sheet>) { persistentBackingData = backingData }
        init(name: String) {
            persistentBackingData = Sheet._createBackingData()
            self.name = name
        }
        var name: String {
            get { getValue(forKey: \.name) }
            set { setValue(forKey: \.name, to: newValue) }
        }
    }
}

@Suite("Values that are structures, JSON, and cases with a payload")
struct StoredValueTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    private var configuration: ModelConfiguration {
        ModelConfiguration(url: folder.appendingPathComponent("Sheets.store"))
    }
    private let container: ModelContainer
    private let context: ModelContext

    init() throws {
        container = try ModelContainer(for: Sheet.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        context = ModelContext(container)
    }

    private func saved(_ change: (Sheet) -> Void) throws -> Sheet {
        let sheet = Sheet(name: "s")
        context.insert(sheet)
        change(sheet)
        try context.save()
        return try #require(ModelContext(container).model(for: sheet.persistentModelID) as? Sheet)
    }

    /// No column of such a value has one.
    @Test("A structure whose properties are all nil is read as it was set")
    func emptyStructure() throws {
        let sheet = Sheet(name: "s")
        context.insert(sheet)
        #expect(sheet.filter == Filter())
        #expect(sheet.search == Search(filter: Filter()))
        #expect(sheet.initial == Filter(text: "a"))
        sheet.initial.text = nil
        #expect(sheet.initial == Filter())
        sheet.search.limit = 3
        try context.save()
        let read = try #require(try ModelContext(container).fetch(FetchDescriptor<Sheet>()).first)
        #expect(read.filter == Filter())
        #expect(read.initial == Filter())
        #expect(read.search == Search(filter: Filter(), limit: 3))
        read.initial.tag = "t"
        #expect(read.initial == Filter(tag: "t"))
        // A deleted model keeps its attributes.
        context.delete(sheet)
        try context.save()
        #expect(sheet.isDeleted && sheet.filter == Filter() && sheet.initial == Filter())
    }

    @Test("A row from before an attribute has the attribute's initial value")
    func migratedStructure() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try {
            let earlier = ModelContext(try ModelContainer(for: Earlier.Sheet.self, configurations: configuration))
            earlier.insert(Earlier.Sheet(name: "old"))
            try earlier.save()
        }()
        let migrated = ModelContext(try ModelContainer(for: Migrated.Sheet.self, configurations: configuration))
        let sheet = try #require(try migrated.fetch(FetchDescriptor<Migrated.Sheet>()).first)
        #expect(sheet.name == "old" && sheet.initial == Filter(text: "a"))
    }

    private enum Migrated {
        final class Sheet: PersistentModel {
            static var schemaMetadata: [Schema.PropertyMetadata] {
                [
                    .init(name: "name", keypath: \Sheet.name),
                    .init(name: "initial", keypath: \Sheet.initial, defaultValue: Filter(text: "a")),
                ]
            }
            var persistentBackingData: any BackingData<Sheet>
            init(backingData: any BackingData<Sheet>) { persistentBackingData = backingData }
            var name: String { getValue(forKey: \.name) }
            var initial: Filter { getValue(forKey: \.initial) }
        }
    }

    /// JSON has no such numbers.
    @Test("Infinity and NaN are stored in JSON")
    func infinity() throws {
        let numbers = [Double.infinity, -.infinity, 1.5]
        let read = try saved {
            $0.readings = numbers.map(Reading.init) + [Reading(value: .nan)]
            $0.amount = .measured(value: .infinity, unit: "m/s")
        }
        #expect(read.readings.dropLast().map(\.value) == numbers)
        #expect(read.readings.last?.value.isNaN == true)
        #expect(read.amount == .measured(value: .infinity, unit: "m/s"))
    }

    @Test("A decimal number in a payload keeps its digits")
    func decimals() throws {
        let number = try #require(Decimal(string: "12345678901234567890.123456789012345"))
        #expect(try saved { $0.amount = .exact(number) }.amount == .exact(number))
        #expect(try saved { $0.amount = .none }.amount == .none)
    }

    /// Saves, and returns the message of the error.
    private func refusal() -> String {
        do {
            try context.save()
            return "none"
        } catch {
            #expect(error as? SwiftDataError == .modelValidationFailure)
            return "\(error)"
        }
    }

    @Test("A structure that encodes a property as another type is refused by a save, with what to do")
    func otherTypes() throws {
        let sheet = Sheet(name: "s")
        context.insert(sheet)
        sheet.price = Price(amount: 1.5)
        #expect(sheet.price == Price(amount: 1.5))
        let first = refusal()
        #expect(first.contains("Sheet.price") && first.contains(".codable"))
        sheet.price = nil
        sheet.weight = Weight(grams: 1500)
        let second = refusal()
        #expect(second.contains("Sheet.weight") && second.contains(".codable"))
        sheet.weight = nil
        try context.save()
    }

    @Test("A value that cannot be encoded is read as it was set, and no save accepts it")
    func unencodable() throws {
        let sheet = Sheet(name: "s")
        sheet.parts = [Fragile(isWhole: false)]
        context.insert(sheet)
        #expect(sheet.parts == [Fragile(isWhole: false)])
        let first = refusal()
        #expect(first.contains("Sheet.parts") && first.contains("it is broken."))
        sheet.parts = [Fragile(isWhole: true)]
        try context.save()
        // In a row that exists.
        sheet.parts = [Fragile(isWhole: false)]
        #expect(refusal().contains("Sheet.parts"))
        context.rollback()
        #expect(sheet.parts == [Fragile(isWhole: true)])
        try context.save()
    }
}

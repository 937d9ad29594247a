import Coral
import CoralPlainObjects
import Foundation
import GraphDocuments
import Testing

/// The object of the older library's example.
private final class Parent: Mapped {
    var name = ""
    var address: String?
    var age = 0
    var isAvailable = false
    var ratio = 0.5
    var children: [Child] = []
    var anything: [Any] = []
    var untyped: [Any] = []
    var dictionary: [String: Any]?
    var favourite: Child?
    var city: String?
    var born: Date?
    var links: Set<URL> = []
    var mood = Mood.calm

    init() {}

    class var mappedProperties: [MappedProperty] {
        [
            MappedProperty("name", \Parent.name, mapping: PropertyMapping("kName", "name")),
            MappedProperty("address", \Parent.address, mapping: PropertyMapping("kAddress")),
            MappedProperty("age", \Parent.age, mapping: PropertyMapping("kAge")),
            MappedProperty("isAvailable", \Parent.isAvailable, mapping: PropertyMapping("kAvailable")),
            MappedProperty("ratio", \Parent.ratio),
            MappedProperty("children", \Parent.children, mapping: PropertyMapping("kChildrenArray")),
            MappedProperty("anything", \Parent.anything),
            MappedProperty("untyped", \Parent.untyped, elements: Child.self),
            MappedProperty("dictionary", \Parent.dictionary),
            MappedProperty("favourite", \Parent.favourite),
            MappedProperty("city", \Parent.city, mapping: PropertyMapping("home.city")),
            MappedProperty("born", \Parent.born),
            MappedProperty("links", \Parent.links),
            MappedProperty("mood", \Parent.mood),
        ]
    }
}

private enum Mood: String { case calm, cross }

private final class Child: Mapped {
    var kChildName = ""
    var kNumValues: Int16 = 0
    weak var parent: Child?

    init() {}

    class var mappedProperties: [MappedProperty] {
        [
            MappedProperty("kChildName", \Child.kChildName), MappedProperty("kNumValues", \Child.kNumValues),
            MappedProperty("parent", \Child.parent),
        ]
    }
}

private struct Settings: Codable, Equatable {
    struct Window: Codable, Equatable {
        var width: Float
        var title: String?
    }
    enum Theme: String, Codable { case light, dark }
    var opened: Date
    var token: UUID
    var price: Decimal
    var icon: Data
    var page: URL
    var theme: Theme
    var windows: [String: Window]
    var counts: [UInt64]
    var ratio: Double
    var odd: [String: [Int?]]
}

private class Node {
    let name: String
    var next: Node?
    var friends: [Node] = []
    let when = Date(timeIntervalSinceReferenceDate: 0)
    lazy var cached = name.count
    var action: () -> Void = {}
    init(_ name: String) { self.name = name }
}

private final class Leaf: Node {
    var colours: Set<String> = ["red", "green", "blue"]
    var place: (x: Int, y: Int) = (1, 2)
}

@Suite struct PlainObjectTests {
    static let json = """
        {"kName": "Test name", "kAddress": "Test Addr", "kAge": "39", "kAvailable": 1, "ratio": 1,
         "kChildrenArray": [{"kChildName": "child1", "kNumValues": 32}, {"kChildName": "child2", "kNumValues": 17}],
         "anything": [{"kChildName": "plain"}, 4, null],
         "untyped": [{"kChildName": "typed", "kNumValues": 1}],
         "dictionary": {"a": {"b": [1.5, true]}}, "home": {"city": "Oslo"}, "born": "2001-01-01T00:00:01.000Z",
         "links": ["https://example.org"], "mood": "cross", "unknown": {"x": 1}}
        """

    @Test func `a mapped object is created with renamed keys, element types and conversions`() throws {
        let parent = try PlainImporter().make(Parent.self, from: Data(Self.json.utf8))
        #expect(parent.name == "Test name")
        #expect(parent.address == "Test Addr")
        #expect(parent.age == 39)
        #expect(parent.isAvailable)
        #expect(parent.ratio == 1)
        #expect(parent.children.map(\.kChildName) == ["child1", "child2"])
        #expect(parent.children.map(\.kNumValues) == [32, 17])
        #expect((parent.anything.first as? [String: Any])?["kChildName"] as? String == "plain")
        #expect((parent.untyped as? [Child])?.first?.kChildName == "typed")
        #expect((parent.dictionary?["a"] as? [String: Any])?["b"] as? [AnyHashable] == [1.5, true])
        #expect(parent.city == "Oslo")
        #expect(parent.born == Date(timeIntervalSinceReferenceDate: 1))
        #expect(parent.links == [URL(string: "https://example.org")!])
        #expect(parent.mood == .cross)
    }

    @Test func `arrays of mapped objects are made from documents and dictionaries`() throws {
        let json = Data(#"[{"kName": "a"}, {"kName": "b", "kAge": 2}]"#.utf8)
        #expect(try PlainImporter().make([Parent].self, from: json).map(\.name) == ["a", "b"])
        let dictionaries: [[String: Any]] = [["kName": "c", "kAge": 3]]
        #expect(try PlainImporter().make([Parent].self, from: dictionaries).map(\.age) == [3])
        #expect(throws: PlainObjectError.self) {
            try PlainImporter().make([Parent].self, from: Data(#"{"kName": "a"}"#.utf8))
        }
    }

    @Test(arguments: GraphFormat.allCases.filter { $0 != .jsonLines })
    func everyFormatReadsBack(format: GraphFormat) throws {
        let parent = try PlainImporter().make(Parent.self, from: Data(Self.json.utf8))
        parent.born = Date(timeIntervalSinceReferenceDate: 0.1)
        let data = try PlainExporter(format: format).encoded(parent)
        #expect(try PlainExporter(format: format).encoded(parent) == data)
        let again = try PlainImporter().make(Parent.self, from: data)
        #expect(try PlainExporter(format: format).encoded(again) == data)
        #expect(again.born == parent.born)
        #expect(again.city == "Oslo")
    }

    @Test func `filling keeps absent properties and clears null ones`() throws {
        let parent = try PlainImporter().make(Parent.self, from: Data(Self.json.utf8))
        let favourite = Child()
        favourite.kChildName = "old"
        parent.favourite = favourite
        try PlainImporter().populate(
            parent, from: ["kAddress": NSNull(), "kName": "New", "favourite": ["kNumValues": 3], "kAge": NSNull()])
        #expect(parent.name == "New")
        #expect(parent.address == nil)
        #expect(parent.age == 39)
        #expect(parent.favourite === favourite && favourite.kChildName == "old" && favourite.kNumValues == 3)
    }

    @Test func `an error changes nothing and has its position`() throws {
        let parent = try PlainImporter().make(Parent.self, from: Data(Self.json.utf8))
        let bad = Data(
            #"{"kName": "X", "favourite": {"kChildName": "y"}, "kChildrenArray": [{"kNumValues": 40000}]}"#.utf8)
        let error = #expect(throws: PlainObjectError.self) { try PlainImporter().populate(parent, from: bad) }
        #expect(error?.code == .wrongType)
        #expect(error?.place == "/kChildrenArray/0/kNumValues")
        #expect(parent.name == "Test name")
        #expect(parent.favourite == nil)
        var options = PlainImportOptions()
        options.unknownKeys = .fail
        let unknown = #expect(throws: PlainObjectError.self) {
            try PlainImporter(options).make(Parent.self, from: ["nane": "x"])
        }
        #expect(unknown?.message.contains("Did you mean \"name\"") == true)
        options = PlainImportOptions()
        options.mismatchedValues = .fail
        #expect(throws: PlainObjectError.self) { try PlainImporter(options).make(Parent.self, from: ["kAge": "39"]) }
    }

    @Test func `Codable values are made from data, dictionaries, and arrays of them`() throws {
        struct Setting: Codable, Equatable {
            var name: String
            var size: Int
        }
        let settings = [Setting(name: "a", size: 1), Setting(name: "b", size: 2)]
        let dictionaries: [[String: Any]] = [["name": "a", "size": 1], ["name": "b", "size": "2"]]
        #expect(try PlainImporter().make(Setting.self, from: dictionaries[1]) == settings[1])
        #expect(try PlainImporter().make([Setting].self, from: dictionaries) == settings)
        #expect(try PlainImporter().make([Setting].self, from: PlainExporter().encoded(settings)) == settings)
    }

    @Test func `cycles of mapped objects are read back`() throws {
        let parent = Parent()
        let child = Child()
        child.parent = child
        parent.children = [child, child]
        let data = try PlainExporter().encoded(parent)
        #expect(data.text.contains(#""kChildrenArray":[{"$id":1,"#))
        #expect(data.text.contains(#""parent":{"$ref":1}},{"$ref":1}]"#))
        let again = try PlainImporter().make(Parent.self, from: data)
        #expect(again.children.count == 2)
        #expect(again.children[0] === again.children[1] && again.children[0].parent === again.children[0])
        #expect(throws: PlainObjectError.self) {
            try PlainImporter().make(Parent.self, from: Data(#"{"favourite": {"$ref": 7}}"#.utf8))
        }
    }

    @Test(arguments: GraphFormat.allCases.filter { $0 != .jsonLines })
    func codableValuesKeepEveryType(format: GraphFormat) throws {
        let settings = Settings(
            opened: Date(timeIntervalSinceReferenceDate: 0.123456789), token: UUID(), price: Decimal(string: "0.1")!,
            icon: Data([0, 255]), page: URL(string: "https://example.org/a?b")!, theme: .dark,
            windows: ["main": .init(width: 0.1, title: nil), "$x": .init(width: .infinity, title: "\u{1}")],
            counts: [.max, 0], ratio: -0.0, odd: ["$id": [1, nil]])
        let data = try PlainExporter(format: format).encoded(settings)
        let again = try PlainImporter().make(Settings.self, from: data)
        #expect(again == settings)
        #expect(again.ratio.sign == .minus)
        for style in DictionaryStyle.allCases {
            let object = try PlainExporter().foundationObject(settings, style: style)
            #expect(try PlainImporter().make(Settings.self, fromFoundationObject: object) == settings)
        }
    }

    @Test func `the rules of mappings apply to plain objects`() throws {
        final class Visit: Mapped {
            var firstSeenAt: Date?
            var lastSeen = Date(timeIntervalSinceReferenceDate: 0)
            var tags: [String] = []
            var secret = "x"
            var kind = ""
            init() {}
            class var mappedProperties: [MappedProperty] {
                var seen = PropertyMapping("times[0]", "times.first")
                seen.dates = .unix
                seen.direction = .read
                var last = PropertyMapping()
                last.dates = .format("d/M/yyyy")
                var tags = PropertyMapping()
                tags.transformer = .functions(
                    read: { tree in
                        guard case .value(.string(let text)) = tree else { return tree }
                        return .array(text.split(separator: ",").map { .value(.string(String($0))) })
                    },
                    write: { tree in
                        guard case .array(let values) = tree else { return tree }
                        return .value(.string(values.map { "\($0)" }.count.description))
                    })
                var secret = PropertyMapping()
                secret.direction = .none
                var kind = PropertyMapping("meta.kind")
                kind.defaultValue = .string("walk")
                return [
                    MappedProperty("firstSeenAt", \Visit.firstSeenAt, mapping: seen),
                    MappedProperty("lastSeen", \Visit.lastSeen, mapping: last),
                    MappedProperty("tags", \Visit.tags, mapping: tags),
                    MappedProperty("secret", \Visit.secret, mapping: secret),
                    MappedProperty("kind", \Visit.kind, mapping: kind),
                ]
            }
        }
        var options = PlainImportOptions()
        options.keys = .snakeCase
        let json = Data(#"{"times": [978307201], "last_seen": "31/12/2001", "tags": "a,b", "secret": "y"}"#.utf8)
        let visit = try PlainImporter(options).make(Visit.self, from: json)
        #expect(visit.firstSeenAt == Date(timeIntervalSinceReferenceDate: 1))
        #expect(visit.lastSeen == Date(timeIntervalSinceReferenceDate: 364 * 86400))
        #expect(visit.tags == ["a", "b"])
        #expect(visit.secret == "x")
        #expect(visit.kind == "walk")
        var exporter = PlainExporter()
        exporter.keys = .snakeCase
        #expect(
            try exporter.encoded(visit).text == #"{"last_seen":"31/12/2001","tags":"2","meta":{"kind":"walk"}}"# + "\n")
        struct Event: Codable, Equatable { var startDate: Date }
        exporter.dates = .unix
        options.dates = .unix
        let event = Event(startDate: Date(timeIntervalSince1970: 5))
        let data = try exporter.encoded(event)
        #expect(data.text == "{\"start_date\":5}\n")
        #expect(try PlainImporter(options).make(Event.self, from: data) == event)
    }

    @Test func `JSON for other readers has no tags`() throws {
        struct Event: Codable { var at: Date, ratio: Float, id: UUID? }
        let event = Event(at: Date(timeIntervalSinceReferenceDate: 0), ratio: 0.1, id: nil)
        #expect(try PlainExporter().encoded(event).text == "{\"at\":\"2001-01-01T00:00:00.000Z\",\"ratio\":0.1}\n")
        #expect(
            try PlainExporter(tagsTypes: true).encoded(event).text
                == "{\"at\":{\"$date\":\"2001-01-01T00:00:00.000Z\"},\"ratio\":{\"$float\":0.1}}\n")
    }

    @Test func `any object is exported by reflection`() throws {
        let first = Leaf("first")
        let second = Node("second")
        first.next = second
        second.next = first
        second.friends = [second]
        let text = try PlainExporter().encoded(reflecting: first).text
        let expected =
            #"{"$id":1,"name":"first","next":{"$id":2,"name":"second","next":{"$ref":1},"friends":[{"$ref":2}],"#
            + #""when":"2001-01-01T00:00:00.000Z","cached":null},"friends":[],"when":"2001-01-01T00:00:00.000Z","#
            + #""cached":null,"colours":["blue","green","red"],"place":{"x":1,"y":2}}"# + "\n"
        #expect(text == expected)
        let long = Node("0")
        var end = long
        for number in 1..<100_000 {
            let next = Node("\(number)")
            end.next = next
            end = next
        }
        let error = #expect(throws: PlainObjectError.self) { try PlainExporter().encoded(reflecting: long) }
        #expect(error?.code == .limit)
        // A long chain is deallocated link by link, because recursive deallocation would overflow the stack.
        var link: Node? = long
        while let next = link?.next {
            link?.next = nil
            link = next
        }
    }

    @Test func `a value that contains itself is an error`() {
        final class Knot: Encodable {
            var knot: Knot?
        }
        let knot = Knot()
        knot.knot = knot
        let error = #expect(throws: PlainObjectError.self) { try PlainExporter().encoded(knot) }
        #expect(error?.code == .limit)
        knot.knot = nil
    }
}

@Suite struct EmbeddedObjectTests {
    private struct Parcel: Codable {
        var sender: String
        @Embedded var note: NSManagedObject?
        var others: [Embedded<NSManagedObject>]
        @Referenced var pointer: NSManagedObject?
        @Embedded var nothing: NSManagedObject?
    }

    @Test(arguments: GraphFormat.allCases.filter { $0 != .jsonLines })
    func `managed objects are embedded in Codable values`(format: GraphFormat) throws {
        let context = try makeNotesContext()
        let note = context.insert("Note", ["title": "Shopping"])
        let item = context.insert("Item", ["name": "Milk", "note": note])
        try context.save()
        let parcel = Parcel(
            sender: "Ada", note: note, others: [Embedded(note), Embedded(item)], pointer: note, nothing: nil)
        let data = try GraphEncoder(format: format).encode(parcel)
        #expect(try GraphEncoder(format: format).encode(parcel) == data)

        let elsewhere = try makeNotesContext()
        let again = try GraphDecoder(elsewhere).decode(Parcel.self, from: data)
        #expect(again.sender == "Ada")
        #expect(again.note?.value(forKey: "title") as? String == "Shopping")
        #expect(again.others.first?.wrappedValue === again.note)
        #expect(again.others.last?.wrappedValue?.value(forKey: "note") as? NSManagedObject? == again.note)
        #expect(again.nothing == nil)
        #expect(elsewhere.insertedObjects.count == 2)

        // Imported into their own store, the same objects are updated.
        note.setValue("Changed", forKey: "title")
        let back = try GraphDecoder(context).decode(Parcel.self, from: data)
        #expect(back.note === note && back.pointer === note)
        #expect(note.value(forKey: "title") as? String == "Shopping")
    }

    /// A parcel before the properties with objects were added.
    private struct OldParcel: Codable {
        var sender: String
        var others: [Embedded<NSManagedObject>]
    }

    @Test func `objects that an older value does not have are nil`() throws {
        let context = try makeNotesContext()
        let old = OldParcel(sender: "Ada", others: [])
        let parcel = try GraphDecoder(context).decode(Parcel.self, from: try GraphEncoder().encode(old))
        #expect(parcel.sender == "Ada" && parcel.note == nil && parcel.pointer == nil)
        let decoder = JSONDecoder()
        decoder.userInfo[.managedObjectContext] = context
        #expect(try decoder.decode(Parcel.self, from: JSONEncoder().encode(old)).pointer == nil)
    }

    @Test func `a value that cannot be decoded imports no objects`() throws {
        let context = try makeNotesContext()
        let data = try GraphEncoder().encode(
            OldParcel(sender: "Ada", others: [Embedded(context.insert("Note", ["title": "Shopping"]))]))
        struct Other: Codable {
            var others: [Embedded<NSManagedObject>]
            var weight: Int
        }
        let elsewhere = try makeNotesContext()
        #expect(throws: (any Error).self) { try GraphDecoder(elsewhere).decode(Other.self, from: data) }
        #expect(!elsewhere.hasChanges)
    }

    @Test func `other coders see references`() throws {
        let context = try makeNotesContext()
        let note = context.insert("Note", ["title": "Shopping"])
        try context.save()
        let data = try JSONEncoder().encode([Embedded(note)])
        let decoder = JSONDecoder()
        decoder.userInfo[.managedObjectContext] = context
        #expect(try decoder.decode([Embedded<NSManagedObject>].self, from: data).first?.wrappedValue === note)
    }
}

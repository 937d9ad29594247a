import Foundation
import ModelFiles
import Testing

@testable import ModelCodeGeneration

/// Models of Swift sources with `@Model` classes.
@Suite struct SwiftDataSourcesTests {
    private func sources(_ texts: String...) throws -> SwiftDataSources {
        try SwiftDataSources(texts.enumerated().map { ("\($0.offset + 1).swift", $0.element) })
    }

    private func entity(_ members: String, besides others: String = "") throws -> ModelEntity {
        let model = try sources("@Model class Trip {\n\(members)\n}\n\(others)").current.model
        return try #require(model.entity(named: "Trip"))
    }

    private func failure(_ texts: String...) -> ModelError? {
        do {
            _ = try SwiftDataSources(texts.enumerated().map { ("\($0.offset + 1).swift", $0.element) })
            return nil
        } catch {
            return error as? ModelError
        }
    }

    // MARK: - Real stores

    @Test("The hashes of stores follow from the sources of their programs", arguments: ReferenceSource.all)
    func reference(_ reference: ReferenceSource) throws {
        let model = try sources(reference.text).current.model
        #expect(model.validate().isEmpty)
        let hash = VersionHash(model)
        #expect(hash.entityHashes.mapValues { $0.base64EncodedString() } == reference.hashes)
        #expect(hash.checksum == reference.checksum)
    }

    @Test("Generated classes are read back with the same hashes", arguments: ReferenceSource.all)
    func roundTrip(_ reference: ReferenceSource) throws {
        let model = try sources(reference.text).current.model
        let classes = try SwiftDataClasses(of: model, named: "Store")
        let read = try SwiftDataSources(classes.files.map { ($0.name, $0.text) })
        #expect(read.current.name == "Version1_0_0" && read.plan?.schemas == ["Version1_0_0"])
        #expect(VersionHash(read.current.model).checksum == reference.checksum)
        let frozen = try VersionedSchemaSource(of: model, named: "Frozen", origin: "Store")
        let version = try #require(try sources(frozen.text).versions.first)
        #expect(version.name == "Frozen" && version.identifier == "1.0.0")
        #expect(VersionHash(version.model).checksum == reference.checksum)
    }

    // MARK: - Attributes

    @Test func `each type has its attribute`() throws {
        let types: [(String, ModelAttributeType)] = [
            ("String", .string), ("Int", .integer64), ("Int64", .integer64), ("Int32", .integer32),
            ("Int16", .integer16),
            ("Int8", .integer16), ("UInt8", .integer16), ("UInt16", .integer32), ("UInt", .integer64),
            ("Bool", .boolean), ("Double", .double), ("Float", .float), ("Decimal", .decimal), ("Date", .date),
            ("Foundation.UUID", .uuid), ("URL", .uri), ("Data", .binaryData), ("TimeInterval", .double),
            ("[Int]", .transformable), ("Set<String>", .transformable), ("[String: Double]", .transformable),
            ("[UInt8]", .binaryData), ("[Place]", .binaryData), ("[String?]", .binaryData), ("Place", .composite),
            ("Swift.String", .string), ("(Int)", .integer64), ("[[Int]]", .binaryData), ("Name", .string),
        ]
        for (type, expected) in types {
            for suffix in ["", "?"] {
                let entity = try entity(
                    "var value: \(type)\(suffix)",
                    besides:
                        "struct Place: Codable { var city: String }\ntypealias Name = Text\ntypealias Text = String")
                #expect(entity.attributes.first?.type == expected, "\(type)")
                #expect(entity.attributes.first?.isOptional == !suffix.isEmpty)
            }
        }
        #expect(try entity("var tags: [String: Int]").attributes.first?.valueClassName == "Dictionary<String, Int>")
    }

    @Test func `types follow from initial values`() throws {
        let values: [(String, ModelAttributeType, ModelValue?)] = [
            ("1", .integer64, .integer(1)), ("-0x1F", .integer64, .integer(-31)),
            ("0b1_01", .integer64, .integer(5)), ("0o17", .integer64, .integer(15)),
            ("1_000", .integer64, .integer(1000)),
            ("1.5", .double, .double(1.5)), ("-2e3", .double, .double(-2000)), ("true", .boolean, .boolean(true)),
            (#""a\"b\u{e9}""#, .string, .string("a\"bé")), (##"#"a\b"#"##, .string, .string(#"a\b"#)),
            (#""\(name) {""#, .string, nil), ("UUID()", .uuid, nil), ("Date.now", .date, nil),
            ("Foundation.Date()", .date, nil), ("[String]()", .transformable, nil),
            (#"["a", "b"]"#, .transformable, nil),
            ("Colour.red", .composite, nil), ("nil as Int?", .integer64, nil), ("Double.zero", .double, nil),
            ("Limits.most", .integer64, nil), ("Place(city: \"Rome\")", .composite, nil),
            ("Set<Int>()", .transformable, nil), ("[String: Int]()", .transformable, nil),
        ]
        let others = """
            enum Colour: String, Codable { case red }
            enum Limits { static let most = 3 }
            struct Place: Codable { var city: String }
            """
        for (value, type, stored) in values {
            let attribute = try #require(try entity("var value = \(value)", besides: others).attributes.first)
            #expect(attribute.type == type, "\(value)")
            #expect(attribute.defaultValue == stored, "\(value)")
        }
        let typed: [(String, String, ModelValue)] = [
            ("Decimal", "0x10", .decimal(16)), ("Decimal", "2.5", .decimal(Decimal(string: "2.5") ?? 0)),
            ("Double", "0b101", .double(5)), ("Double", "0x1p3", .double(8)), ("Int16", "0xFF", .integer(255)),
        ]
        for (type, value, stored) in typed {
            #expect(try entity("var value: \(type) = \(value)").attributes.first?.defaultValue == stored, "\(value)")
        }
        for value in ["make()", "Limits.other", "a + b", ".red", "[]", "[1, \"a\"]", "{ 1 }()", "x ? 1 : 2"] {
            let error = failure("@Model class Trip {\n  var value = \(value)\n}")
            #expect(error?.line == 2 && error?.property == "value", "\(value)")
        }
    }

    @Test func `statements of macros are in the model`() throws {
        let entity = try entity(
            #"""
                #Unique<Trip>([\.name], [\.start, \Trip.end])
                #Index<Trip>([\.end], .binary([\.start, \.end]), .rtree([\.x, \.y]))
                @Attribute(.unique, .spotlight, originalName: "title", hashModifier: "2") var name: String
                @Attribute(.externalStorage, .allowsCloudEncryption, .preserveValueOnDeletion)
                public private(set) var image: Data?
                @Attribute(.transformable(by: "Colours")) var colour: UIColor
                @Attribute(Schema.Attribute.Option.codable) var any: Foreign
                @Attribute(.ephemeral) var isOpen = false
                var start: Date; var end: Date
                var x = 0.0; var y = 0.0
            """#)
        #expect(entity.uniquenessConstraints == [["name"], ["start", "end"]])
        #expect(
            entity.fetchIndexes.map(\.name) == [
                "SwiftDataIndexOnBinaryend", "SwiftDataIndexOnBinarystartend", "SwiftDataIndexOnRtreexy",
            ])
        #expect(entity.compoundIndexes == [["start", "end"]])
        let attributes = Dictionary(uniqueKeysWithValues: entity.attributes.map { ($0.name, $0) })
        #expect(attributes["name"]?.renamingIdentifier == "title")
        #expect(attributes["name"]?.versionHashModifier == "2")
        #expect(attributes["name"]?.isIndexedBySpotlight == true)
        #expect(attributes["image"]?.allowsExternalBinaryDataStorage == true)
        #expect(attributes["image"]?.allowsCloudEncryption == true)
        #expect(attributes["image"]?.preservesValueInHistoryOnDeletion == true)
        #expect(attributes["colour"]?.valueTransformerName == "Colours")
        #expect(attributes["colour"]?.valueClassName == "UIColor")
        #expect(attributes["any"]?.type == .binaryData)
        #expect(attributes["isOpen"]?.isTransient == true)
        #expect(attributes["end"]?.isIndexed == true)
    }

    @Test func `composites have their elements in order`() throws {
        let entity = try entity(
            "var place: Place?\nvar kind: Kind\nvar box: Box<Place>\nvar error: Result_",
            besides: """
                struct Place: Codable {
                    static let home = Place(city: "", zip: 0)
                    let zip: Int, street = "", city: String?
                    var text: String { "\\(zip)" }
                    var tags: [String] { didSet { update("}") } }
                    enum Inner: Int, Codable { case a = 1, b }
                    var inner: Inner
                }
                enum Kind: Codable { case train(number: Int), foot; case bus(String = "}") }
                struct Box<Value: Codable>: Codable { var value: Value }
                enum Result_: Codable { }
                extension Result_: RawRepresentable { var rawValue: Int8 { 1 } }
                """)
        let elements = entity.attributes.map { ($0.name, $0.elements.map { "\($0.name) \($0.type) \($0.isOptional)" }) }
        let byName = Dictionary(uniqueKeysWithValues: elements)
        #expect(
            byName["place"] == [
                "zip integer64 true", "street string true", "city string true", "tags binaryData true",
                "inner composite true",
            ])
        #expect(byName["kind"] == ["train binaryData true", "bus binaryData true", "foot string true"])
        #expect(byName["box"] == ["value composite false"])
        #expect(byName["error"] == ["error integer16 true"])
        #expect(entity.attributes.first { $0.name == "kind" }?.caseNames == ["train", "bus", "foot"])
    }

    // MARK: - Relationships

    @Test func `inverses are stated or inferred`() throws {
        let model = try sources(
            #"""
            @Model class A { var b: B?; var others: [C] = []; @Relationship var d: D?; var self_: A? }
            @Model class B { var a: A?; var ds: [D]? }
            @Model class C { var one: A?; var two: A? }
            @Model class D {
                var a: A?
                @Relationship(deleteRule: .deny, minimumModelCount: 1, maximumModelCount: 0x9, inverse: \B.ds) var bs: [B]
            }
            @Model class E: B { }
            """#
        ).current.model
        func inverse(_ entity: String, _ name: String) -> String? {
            model.entity(named: entity)?.relationships.first { $0.name == name }?.inverseName
        }
        #expect(inverse("A", "b") == "a" && inverse("B", "a") == "b")
        #expect(inverse("A", "others") == nil && inverse("C", "one") == nil, "Two pairs are possible.")
        #expect(inverse("A", "d") == nil && inverse("D", "a") == nil, "One end has the macro.")
        #expect(inverse("B", "ds") == "bs" && inverse("D", "bs") == "ds")
        #expect(inverse("A", "self_") == nil)
        #expect(model.entity(named: "E")?.parentName == "B")
        let stated = try #require(model.entity(named: "D")?.relationships.first { $0.name == "bs" })
        #expect(stated.deleteRule == .deny && stated.minimumCount == 1 && stated.maximumCount == 9)
    }

    // MARK: - Which classes

    @Test func `containers name the classes, and relationships lead to others`() throws {
        let text = """
            @Model class A { var b: B? }
            @Model class B { }
            @Model class Unused { var value: Foreign }
            """
        #expect(failure(text)?.entity == "Unused")
        for use in [
            "let schema = Schema([A.self], version: Schema.Version(1, 0, 0))", "ModelContainer(for: A.self)",
            "view.modelContainer(for: [A.self, B.self], inMemory: true)",
        ] {
            #expect(try sources(text, use).current.model.entities.map(\.name) == ["A", "B"])
        }
    }

    @Test func `names mean the nearest type`() throws {
        let model = try sources(
            """
            struct Place: Codable { var outer: Int }
            enum Namespace {
                struct Place: Codable { var inner: Int }
                @Model final class Trip { var place: Place; var own: Trip.Kind; enum Kind: Int, Codable { case a } }
            }
            extension Namespace.Trip { struct More: Codable { var x: Int } }
            """, "fileprivate struct Place: Codable { var hidden: String }"
        ).current.model
        let trip = try #require(model.entity(named: "Trip"))
        #expect(trip.attributes.first { $0.name == "place" }?.elements.map(\.name) == ["inner"])
        #expect(trip.attributes.first { $0.name == "own" }?.elements.map(\.name) == ["own"])
    }

    // MARK: - What cannot be known

    @Test func `what cannot be known is an error with its place`() throws {
        let cases: [(String, Int, String)] = [
            ("@Model class Trip {\n\n  var place: Place\n}", 3, "Place is not in the sources"),
            ("@Model class Trip {\n  #if DEBUG\n  var a: Int\n  #endif\n}", 3, "depends on a condition"),
            ("@Model class Trip {\n  #if os(iOS)\n  func f() {}\n  #else\n  var a: Int\n  #endif\n}", 2, "condition"),
            (
                "struct Place: Codable {\n  #if DEBUG\n  var a: Int\n  #endif\n}\n@Model class T { var p: Place }", 2,
                "condition"
            ),
            ("@Model class Trip {\n  var a, b: Int\n}", 2, "separately"),
            ("@Model class Trip {\n  lazy var a: Int = 1\n}", 2, "lazy"),
            ("@Model class Trip {\n  var a: Int { didSet { } }\n}", 2, "observers"),
            ("@Model class Trip {\n  @Attribute(originalName: old) var a: Int\n}", 2, "not a literal"),
            ("@Model class Trip {\n  @Relationship(deleteRule: rule) var a: Trip?\n}", 2, "not a literal"),
            ("@Model class Trip {\n  @Relationship var a: Int\n}", 2, "no class with @Model"),
            ("@Model class Trip {\n  @Relationship(inverse: \\Trip.b) var a: Trip?\n}", 2, "no relationship b"),
            ("@Model class Trip {\n  var a: Set<Trip>\n}", 2, "Trip"),
            ("@Model class Trip {\n  #Index<Trip>([\\.a])\n}", 1, "a is not a persisted property"),
            ("@Model class Trip {\n  var f: () -> Void\n}", 2, "() -> Void"),
            ("@Model class Trip {\n  var a: any Codable\n}", 2, "any Codable"),
            ("struct P: Codable {\n  @Clamped var a: Int\n}\n@Model class T { var p: P }", 2, "property wrapper"),
            ("indirect struct P: Codable {\n  var p: P\n}\n@Model class T {\n  var p: P\n}", 5, "contains itself"),
            ("typealias A = B\ntypealias B = A\n@Model class T {\n  var a: A\n}", 4, "refers to itself"),
            ("struct A {}\nstruct A {}\n@Model class T {\n  var a: A\n}", 4, "declared several times"),
            (
                "enum V: VersionedSchema {\n  static let versionIdentifier = Schema.Version(1, 0, 0)\n  static var models: [any PersistentModel.Type] { all }\n}\n@Model class T {}",
                3, "not a list of types"
            ),
            (
                "enum V: VersionedSchema {\n  static let versionIdentifier = current\n}\n@Model class T {}", 2,
                "three numbers"
            ),
            ("struct A { }", 0, "no class with @Model"),
        ]
        for (text, line, message) in cases {
            let error = failure(text)
            #expect(error?.message.contains(message) == true, "\(text): \(error.map(\.message) ?? "no error")")
            #expect(line == 0 || error?.line == line, "\(text): line \(error?.line ?? -1)")
            #expect(error?.file == "1.swift")
        }
    }

    @Test func `conditions of Apple's platforms are decided`() throws {
        let entity = try entity(
            """
            #if canImport(SwiftUI) && !os(Linux)
            var a: Int
            #elseif os(Linux)
            var b: Int
            #else
            var c: Int
            #endif
            #if false
            var d: Int
            #endif
            """)
        #expect(entity.attributes.map(\.name) == ["a"])
    }

    @Test func `parentheses in conditions are read`() throws {
        let deep: String = String(repeating: "(", count: 10_000) + "true" + String(repeating: ")", count: 10_000)
        let conditions: [(String, Bool?)] = [
            ("!(DEBUG && os(Linux) && TEST)", true), ("!(DEBUG || canImport(SwiftData) || TEST)", false),
            ("(canImport(SwiftData))", true), ("(DEBUG || TEST) && os(Linux)", false),
            ("!(!(os(Linux) || os(Windows)))", false), ("swift(>=6) && (true || DEBUG)", true),
            ("!(DEBUG || os(Linux))", nil), ("(canImport(SwiftData) || TEST) && DEBUG", nil),
            ("(os(iOS) || os(macOS)) && canImport(UIKit)", nil), (deep, nil),
        ]
        for (condition, value) in conditions {
            let text = "@Model class Trip {\n  var a: Int\n  #if \(condition)\n  var b: Int\n  #endif\n}"
            guard let value else {
                #expect(failure(text)?.message.contains("depends on a condition") == true, "\(condition.prefix(80))")
                continue
            }
            let names = try sources(text).current.model.entity(named: "Trip")?.attributes.map(\.name)
            #expect(names == (value ? ["a", "b"] : ["a"]), "\(condition)")
        }
    }

    // MARK: - Versions and plans

    private let versioned = """
        enum V1: VersionedSchema {
            static let versionIdentifier = Schema.Version(1, 0, 0)
            static var models: [any PersistentModel.Type] { [Trip.self] }
            @Model final class Trip { var name: String }
        }
        enum V2: VersionedSchema {
            static var versionIdentifier: Schema.Version { .init(1, 1, 0) }
            static let models: [any PersistentModel.Type] = [Trip.self]
            @Model final class Trip { var name: String; var days = 1 }
        }
        enum V10: VersionedSchema {
            static let versionIdentifier = Schema.Version(1, 2, 0)
            static var models: [any PersistentModel.Type] { return [Live.self] }
        }
        typealias Live = Journey
        @Model final class Journey { var name: String; var days = 1; var place: String? }
        """

    @Test func `versions and stages are read`() throws {
        let sources = try sources(
            versioned,
            """
            enum Plan: SchemaMigrationPlan {
                static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self, V10.self] }
                static var stages: [MigrationStage] { [.lightweight(fromVersion: V1.self, toVersion: V2.self), last] }
                static let last = MigrationStage.custom(
                    fromVersion: V2.self, toVersion: V10.self,
                    willMigrate: { context in try context.delete(model: V2.Trip.self) }, didMigrate: nil)
            }
            """)
        #expect(sources.versions.map(\.name) == ["V1", "V2", "V10"])
        #expect(sources.versions.map(\.identifier) == ["1.0.0", "1.1.0", "1.2.0"])
        #expect(sources.versions.map { $0.model.entities.map(\.name) } == [["Trip"], ["Trip"], ["Journey"]])
        #expect(sources.current.name == "V10")
        #expect(sources.plan?.stages.map { "\($0.from) \($0.to) \($0.isCustom)" } == ["V1 V2 false", "V2 V10 true"])
        let file = try sources.modelFile()
        #expect(file.kind == .swiftSchemas && file.current.name == "V10" && file.versions.count == 3)
    }

    @Test func `without a plan the latest version is current`() throws {
        #expect(try sources(versioned).current.name == "V10")
        let plan = "enum Plan: SchemaMigrationPlan {\n static var schemas: [any VersionedSchema.Type] { [V1.self] }\n"
        #expect(try sources(versioned, plan + "static var stages: [MigrationStage] { [] } }").current.name == "V1")
        #expect(failure(versioned, plan + "static var stages: [MigrationStage] { make() } }")?.line == 3)
    }

    // MARK: - Hostile sources

    @Test func `every beginning of a source is read or refused`() throws {
        let text =
            ReferenceSource.all.map(\.text).joined() + versioned + "/* /* */ */ let a = #\"\"\"\n\\#(b \"(\")\"\"\"#\n"
        let characters = Array(text)
        for length in stride(from: 0, to: characters.count, by: 37) { _ = failure(String(characters[..<length])) }
    }

    @Test func `every source with a changed byte is read or refused`() throws {
        let bytes = Array(versioned.utf8)
        for position in stride(from: 0, to: bytes.count, by: 3) {
            var changed = bytes
            changed[position] = UInt8(1 + position * 37 % 255)
            _ = failure(String(decoding: changed, as: UTF8.self))
        }
    }

    @Test func `a source that ends in an escape has a string without an end`() {
        for text in [#"let a = "\"#, ##"let a = #"\#"##, #"let a = "\u"#, #"let a = "\u{"#, "let a = \"\"\"\n\\"] {
            #expect(failure(text)?.message.contains("has no end") == true, "\(text)")
        }
    }

    @Test func `structures that double their elements at each level are refused`() throws {
        func text(_ levels: Int) -> String {
            let types = (0..<levels).map { "struct S\($0): Codable { var a: S\($0 + 1); var b: S\($0 + 1) }" }
            return (types + ["struct S\(levels): Codable { var value: Int }"]).joined(separator: "\n")
        }
        let attribute = try #require(try entity("var s: S0", besides: text(4)).attributes.first)
        #expect(attribute.leaves.count == 16)
        let error = failure("@Model class Trip {\n  var s: S0\n}\n" + text(28))
        #expect(error?.message.contains("more than 10000 elements") == true)
        #expect(error?.line == 2 && error?.property == "s")
    }

    @Test func `generic arguments that are doubled at each level are refused`() throws {
        func text(_ levels: Int) -> String {
            let types = (0..<levels).map { "struct G\($0)<T>: Codable { var a: G\($0 + 1)<P<T, T>> }" }
            return (types + ["struct G\(levels)<T>: Codable { var a: Int }", "struct P<A, B>: Codable {}"])
                .joined(separator: "\n")
        }
        #expect(try entity("var g: G0<Int>", besides: text(4)).attributes.first?.leaves.count == 1)
        let error = failure("@Model class Trip {\n  var g: G0<Int>\n}\n" + text(28))
        #expect(error?.message.contains("more than 1000 generic arguments") == true)
        #expect(error?.property == "g")
    }

    /// Quadratic time would take minutes.
    @Test(.timeLimit(.minutes(1))) func `many strings in strings are read in linear time`() throws {
        let lines = (0..<20_000).map { #"let a\#($0) = "\(name("key")) and \(name("other"))""# }
        let entity = try entity("var value: Int", besides: lines.joined(separator: "\n"))
        #expect(entity.attributes.map(\.name) == ["value"])
        #expect(try self.entity("var value: Int", besides: String(repeating: "#", count: 100_000)).name == "Trip")
    }

    @Test func `a million braces, and a deep type, end`() throws {
        #expect(failure(String(repeating: "{", count: 1_000_000)) != nil)
        #expect(failure("@Model class T { var a: " + String(repeating: "[", count: 20_000)) != nil)
        #expect(failure(String(repeating: "enum A {", count: 20_000)) != nil)
        #expect(failure(String(repeating: #"let a = "\("#, count: 20_000)) != nil)
        let (start, end) = (String(repeating: "[", count: 10_000), String(repeating: "]", count: 10_000))
        #expect(failure("@Model class T {\n  var a = \(start)1\(end)\n}")?.line == 2)
    }

    @Test func `strings, comments and regular expressions hide what is in them`() throws {
        let entity = try entity(
            #"""
                // var a: Int }
                /* var b: Int /* } */ @Model class C {} */
                static let text = "} \(f("}")) var c: Int"
                static let long = """
                    } var d: Int
                    """
                static let raw = ##"}"# var e: Int"##
                static let expression = /}"var f: Int/
                static let other = #/ } " /#
                func f(_ body: () -> Void = { }) -> [String: Int] where Self: AnyObject { if 1 < 2 { } ; return [:] }
                init() { let local: Int = 1; class Inner { var g: Int = 1 } }
                subscript(_ i: Int) -> Int { i }
                var `class`: Int
                var computed: Int { get { 1 } set { } }
                var closure: String = { "}" }()
            """#)
        #expect(entity.attributes.map(\.name) == ["class", "closure"])
    }
}

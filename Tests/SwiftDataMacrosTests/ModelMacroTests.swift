#if Macros
    import SwiftParser
    import SwiftSyntax
    import SwiftSyntaxMacroExpansion
    import SwiftSyntaxMacros
    import SwiftSyntaxMacrosTestSupport
    import XCTest

    @testable import SwiftDataMacros

    /// The expansions of `@Model` and `@_PersistedProperty`, compared as text. Programs reach inside, so that their form is a part of
    /// the API.
    final class ModelMacroTests: XCTestCase {
        func testTheMembersOfAClass() {
            assertMacroExpansion(
                """
                @Model
                final class Trip {
                    var name: String
                    private(set) var days = 3
                    init(name: String) { self.name = name }
                }
                """,
                expandedSource: #"""
                    final class Trip {
                        @_PersistedProperty
                        var name: String
                        @_PersistedProperty
                        private(set) var days = 3
                        init(name: String) { self.name = name }

                        @Transient
                        private var _$backingData: any SwiftData.BackingData<Trip> = Trip._createBackingData()

                        var persistentBackingData: any SwiftData.BackingData<Trip> {
                            get {
                                _$backingData
                            }
                            set {
                                _$backingData = newValue
                                _$record = nil
                            }
                        }

                        static var schemaMetadata: [SwiftData.Schema.PropertyMetadata] {
                            [
                                SwiftData.Schema.PropertyMetadata(name: "name", keypath: \Trip.name, defaultValue: nil, metadata: nil),
                                SwiftData.Schema.PropertyMetadata(name: "days", keypath: \Trip.days, defaultValue: 3, metadata: nil)
                            ]
                        }

                        @Transient private let _$observationRegistrar = Observation.ObservationRegistrar()

                        var _observationRegistrar: Observation.ObservationRegistrar? {
                            _$observationRegistrar
                        }

                        struct _SwiftDataNoType {
                        }

                        required init(backingData: any SwiftData.BackingData<Trip>) {
                            _name = _SwiftDataNoType()
                            _days = _SwiftDataNoType()
                            self.persistentBackingData = backingData
                        }

                        @Transient @exclusivity(unchecked) private var _$record: Unmanaged<SwiftData.ModelRecord>?

                        var _heldRecord: Unmanaged<SwiftData.ModelRecord>? {
                            if let record = _$record {
                                return record
                            }
                            _$record = persistentBackingData._record.map(Unmanaged.passUnretained)
                            return _$record
                        }

                        internal nonisolated func access<_M>(keyPath: KeyPath<Trip, _M>) {
                            _$observationRegistrar.access(self, keyPath: keyPath)
                        }

                        internal nonisolated func withMutation<_M, _MR>(
                            keyPath: KeyPath<Trip, _M>, _ mutation: () throws -> _MR
                        ) rethrows -> _MR {
                            try _$observationRegistrar.withMutation(of: self, keyPath: keyPath, mutation)
                        }
                    }

                    extension Trip: SwiftData.PersistentModel {
                    }

                    extension Trip: Observation.Observable {
                    }
                    """#,
                macroSpecs: [
                    "Model": MacroSpec(type: ModelMacro.self, conformances: ["PersistentModel", "Observable"])
                ])
        }

        func testTheAccessorsOfAProperty() {
            assertMacroExpansion(
                """
                class Trip {
                    @_PersistedProperty var name: String
                    @_PersistedProperty @Attribute(.transformable(by: "Colour")) var `default`: Colour?
                }
                """,
                expandedSource: #"""
                    class Trip {
                        var name: String {
                            @storageRestrictions(accesses: _$backingData, initializes: _name)
                            init(initialValue) {
                                _$backingData.setValue(forKey: \.name, to: initialValue)
                                _name = _SwiftDataNoType()
                            }
                            get {
                                let keyPath: Swift.KeyPath = \Trip.name
                                _$observationRegistrar.access(self, keyPath: keyPath)
                                return self.getValue(forKey: keyPath)
                            }
                            set {
                                let keyPath: Swift.KeyPath = \Trip.name
                                _$observationRegistrar.withMutation(of: self, keyPath: keyPath) {
                                    self.setValue(forKey: keyPath, to: newValue)
                                }
                            }
                        }

                        @Transient private var _name: _SwiftDataNoType = _SwiftDataNoType()
                        @Attribute(.transformable(by: "Colour")) var `default`: Colour? {
                            @storageRestrictions(accesses: _$backingData, initializes: _default)
                            init(initialValue) {
                                _$backingData.setTransformableValue(forKey: \.`default`, to: initialValue)
                                _default = _SwiftDataNoType()
                            }
                            get {
                                let keyPath: Swift.KeyPath = \Trip.`default`
                                _$observationRegistrar.access(self, keyPath: keyPath)
                                return self.getTransformableValue(forKey: keyPath)
                            }
                            set {
                                let keyPath: Swift.KeyPath = \Trip.`default`
                                _$observationRegistrar.withMutation(of: self, keyPath: keyPath) {
                                    self.setTransformableValue(forKey: keyPath, to: newValue)
                                }
                            }
                        }

                        @Transient private var _default: _SwiftDataNoType = _SwiftDataNoType()
                    }
                    """#,
                macros: ["_PersistedProperty": PersistedPropertyMacro.self])
        }

        // MARK: - Parts

        /// The expansion of `@Model` without white space, so that a test states one part of it.
        private func expanded(_ source: String, conformances: [TypeSyntax] = ["PersistentModel", "Observable"])
            -> String
        {
            let file = Parser.parse(source: source)
            let context = BasicMacroExpansionContext(
                sourceFiles: [file: .init(moduleName: "Tests", fullFilePath: "Tests.swift")])
            let specs = ["Model": MacroSpec(type: ModelMacro.self, conformances: conformances)]
            let expanded = file.expand(macroSpecs: specs) { syntax in
                BasicMacroExpansionContext(sharingWith: context, lexicalContext: syntax.allMacroLexicalContexts())
            }
            XCTAssertEqual(context.diagnostics.filter { $0.diagMessage.severity == .error }.map(\.message), [])
            return Self.condensed(expanded.description)
        }

        private static func condensed(_ text: String) -> String { text.filter { !$0.isWhitespace } }

        private func check(
            _ source: String, _ parts: String..., without absent: String..., line: UInt = #line
        ) {
            let text = expanded(source)
            for part in parts {
                XCTAssertTrue(text.contains(Self.condensed(part)), "\(part) is not in\n\(text)", line: line)
            }
            for part in absent {
                XCTAssertFalse(text.contains(Self.condensed(part)), "\(part) is in\n\(text)", line: line)
            }
        }

        /// Without the type, `0` would be an integer, and `.red` would have no meaning.
        func testAnInitialValueHasTheTypeOfItsProperty() {
            check(
                """
                @Model class Trip {
                    var ratio: Double = 0
                    var colour: Colour = .red
                    var note: String? = nil
                    var code: Int! = 3
                    var stops: [Stop] = []
                    var words = { ["a", "b"] }()
                    var long = 1 > 2
                        ? "a"
                        : "b"
                }
                """,
                #"PropertyMetadata(name: "ratio", keypath: \Trip.ratio, defaultValue: (0) as Double, metadata: nil)"#,
                #"keypath: \Trip.colour, defaultValue: (.red) as Colour, metadata: nil)"#,
                #"keypath: \Trip.note, defaultValue: (nil) as String?, metadata: nil)"#,
                #"keypath: \Trip.code, defaultValue: (3) as Int?, metadata: nil)"#,
                #"keypath: \Trip.stops, defaultValue: ([]) as [Stop], metadata: nil)"#,
                #"keypath: \Trip.words, defaultValue: { ["a", "b"] }(), metadata: nil)"#,
                #"keypath: \Trip.long, defaultValue: 1 > 2 ? "a" : "b", metadata: nil)"#)
        }

        func testTheStatementsOfAProperty() {
            check(
                #"""
                @Model class Trip {
                    @Attribute(.unique, originalName: "title") var name: String
                    @SwiftData.Attribute(.externalStorage) var image: Data?
                    @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop]
                    @Attribute var plain: Int
                    var _underscored: Int
                }
                """#,
                #"\Trip.name, defaultValue: nil, metadata: SwiftData.Schema.Attribute(.unique, originalName: "title"))"#,
                #"\Trip.image, defaultValue: nil, metadata: SwiftData.Schema.Attribute(.externalStorage))"#,
                #"metadata: SwiftData.Schema.Relationship(deleteRule: .cascade, inverse: \Stop.trip))"#,
                #"\Trip.plain, defaultValue: nil, metadata: SwiftData.Schema.Attribute())"#,
                #"name: "_underscored", keypath: \Trip._underscored"#, "__underscored = _SwiftDataNoType()")
        }

        func testWhatIsNotPersisted() {
            check(
                """
                @Model class Trip {
                    var name: String
                    @Transient var isExpanded = false
                    @Transient var cache: Cache?
                    @Transient var one = 1, two = 2
                    @SwiftData.Transient weak var delegate: Delegate?
                    @Transient lazy var slow = compute()
                    @Transient var handler: (() -> Void)?
                    @Transient var observed = 1 { didSet {} }
                    @ObservationIgnored var ignored = 1
                    static var all: [Trip] = []
                    static let shared = 1
                    var title: String { name }
                    var both: String { get { name } set { name = newValue } }
                    func work() {}
                    enum Kind { case a }
                }
                """,
                #"[SwiftData.Schema.PropertyMetadata(name: "name", keypath: \Trip.name, defaultValue: nil, metadata: nil)]"#,
                "required init(backingData: any SwiftData.BackingData<Trip>) { _name = _SwiftDataNoType() self.persist",
                without: "_isExpanded", "_cache", "_one", "_delegate", "_slow", "_handler", "_observed", "_ignored",
                "_all",
                "_title", "_both")
        }

        func testConstraintsAndIndexes() {
            check(
                #"""
                @Model class Trip {
                    #Unique<Trip>([\.name], [\.start, \.end])
                    #Index<Trip>([\.start])
                    #Index<Trip>(.rtree([\.latitude, \.longitude]))
                    var name: String
                    var start: Date
                    var end: Date
                    var latitude: Double
                    var longitude: Double
                }
                """#,
                #"(name: "unique", keypath: \Trip.self, metadata: SwiftData.Schema.Unique<Trip>([\.name], [\.start, \.end]))"#,
                #"(name: "index", keypath: \Trip.self, metadata: SwiftData.Schema.Index<Trip>([\.start]))"#,
                #"SwiftData.Schema.Index<Trip>(.rtree([\.latitude, \.longitude]))"#)
        }

        // MARK: - Kinds of classes

        func testTheAccessOfAClass() {
            for (modifier, access) in [
                ("public", "public "), ("open", "public "), ("package", "package "), ("private", ""),
            ] {
                check(
                    "@Model \(modifier) class Trip { \(modifier == "open" ? "public " : "")var name: String }",
                    "_createBackingData() \(access) var persistentBackingData",
                    "} \(access) class var schemaMetadata", "{} \(access) required init(backingData:",
                    "() \(access) final var _observationRegistrar")
            }
        }

        func testASubclassAddsToItsSuperclass() {
            let text = expanded(
                """
                @Model
                public final class BusinessTrip: Trip {
                    var purpose: String
                    init(purpose: String) { self.purpose = purpose; super.init() }
                }
                """, conformances: [])
            for part in [
                "private var _$backingData: any SwiftData.BackingData<BusinessTrip> = BusinessTrip._createBackingData()",
                "public override var persistentBackingData: any SwiftData.BackingData<Root> {",
                "get { _$backingData._joined(to: super.persistentBackingData) }",
                "set { super.persistentBackingData = newValue }",
                "public override class var schemaMetadata: [SwiftData.Schema.PropertyMetadata] { super.schemaMetadata + [",
                #"keypath: \BusinessTrip.purpose"#,
                "private var _$observationRegistrar: Observation.ObservationRegistrar { _inheritedRegistrar }",
                """
                public required init(backingData: any SwiftData.BackingData<Root>) {
                    _purpose = _SwiftDataNoType()
                    super.init(backingData: backingData)
                }
                """,
            ] {
                XCTAssertTrue(text.contains(Self.condensed(part)), "\(part) is not in\n\(text)")
            }
            XCTAssertFalse(text.contains("extension"), "The superclass has the conformances.")
            XCTAssertFalse(text.contains("funcaccess<"))
            XCTAssertFalse(text.contains("=Observation.ObservationRegistrar()"), "An object has one registrar.")
        }

        /// A superclass that is not a model, or a protocol, is no reason to override anything.
        func testAClassWithAProtocol() {
            check(
                "@Model class Trip: Identifiable, NSObjectProtocol { var name: String }",
                "var persistentBackingData: any SwiftData.BackingData<Trip>",
                "extension Trip: SwiftData.PersistentModel {}",
                without: "override", "super.")
        }

        func testNestedClassesAndExtensions() {
            check(
                "enum V1 { @Model final class Trip { var name: String } }",
                #"keypath: \Trip.name"#, "extension V1.Trip: SwiftData.PersistentModel {}")
            check(
                "extension Versions.V1 { @Model final class Trip { var name: String } }",
                #"keypath: \Trip.name"#, "extension Versions.V1.Trip: Observation.Observable {}")
        }

        func testAGenericClass() {
            check(
                "@Model final class Box<Content: Codable> { var content: Content }",
                "any SwiftData.BackingData<Box> = Box._createBackingData()", #"keypath: \Box.content"#)
        }

        func testAModelActor() {
            assertMacroExpansion(
                """
                @ModelActor
                package actor Archive {
                }
                """,
                expandedSource: """
                    package actor Archive {

                        package nonisolated let modelExecutor: any SwiftData.ModelExecutor

                        package nonisolated let modelContainer: SwiftData.ModelContainer

                        package init(modelContainer: SwiftData.ModelContainer) {
                            let modelContext = SwiftData.ModelContext(modelContainer)
                            self.modelExecutor = SwiftData.DefaultSerialModelExecutor(modelContext: modelContext)
                            self.modelContainer = modelContainer
                        }
                    }

                    extension Archive: SwiftData.ModelActor {
                    }
                    """,
                macroSpecs: ["ModelActor": MacroSpec(type: ModelActorMacro.self, conformances: ["ModelActor"])])
        }
    }
#endif

#if Macros
    import SwiftIfConfig
    import SwiftSyntaxMacroExpansion
    import SwiftSyntaxMacros
    import SwiftSyntaxMacrosTestSupport
    import XCTest

    @testable import ManagedMacroExpansion

    /// The expansion of the macros, compared as text. Uses XCTest, as swift-syntax's test support does.
    final class ManagedMacroTests: XCTestCase {
        private let macros: [String: any Macro.Type] = [
            "Managed": ManagedMacro.self, "ManagedValue": ManagedValueMacro.self,
        ]

        func testProperty() {
            assertMacroExpansion(
                """
                class Note {
                    @ManagedValue var title: String?
                }
                """,
                expandedSource: #"""
                    class Note {
                        var title: String? {
                            get {
                                #if canImport(Darwin)
                                _noteManagedReading()
                                willAccessValue(forKey: "title")
                                defer {
                                    didAccessValue(forKey: "title")
                                }
                                return primitiveValue(forKey: "title") as? String
                                #else
                                return Self._managed_title[self]
                                #endif
                            }
                            set {
                                #if canImport(Darwin)
                                willChangeValue(forKey: "title")
                                defer {
                                    didChangeValue(forKey: "title")
                                }
                                setPrimitiveValue(newValue, forKey: "title")
                                #else
                                Self._managed_title[self] = newValue
                                #endif
                            }
                        }

                        #if !canImport(Darwin)
                        private static let _managed_title = ManagedProperty<String?>("title")
                        #endif
                    }
                    """#,
                macros: macros)
        }

        func testObjectiveC() {
            // The attributes only: the expansion of @ManagedValue is that of testProperty.
            assertMacroExpansion(
                """
                @Managed
                class Note {
                    var title: String?
                    var count: Int16
                    var kind: Kind
                    @objc(isDone) var done: Bool
                }
                """,
                expandedSource: #"""
                    class Note {
                        @ManagedValue @objc
                        var title: String?
                        @ManagedValue @objc
                        var count: Int16
                        @ManagedValue
                        var kind: Kind
                        @objc(isDone)
                        @ManagedValue var done: Bool

                        #if !canImport(Darwin)
                        override class func registerKeyPaths() {
                            super.registerKeyPaths()
                            func register<Object: Note>(_: Object.Type) {
                                KeyPathRegistry.register(\Object.title, as: "title")
                                KeyPathRegistry.register(\Object.count, as: "count")
                                KeyPathRegistry.register(\Object.kind, as: "kind")
                                KeyPathRegistry.register(\Object.done, as: "done")
                            }
                            register(Self.self)
                        }
                        #endif
                    }
                    """#,
                macros: ["Managed": ManagedMacro.self],
                buildConfiguration: StaticBuildConfiguration(
                    targetRuntimes: ["_ObjC"], languageVersion: VersionTuple(6), compilerVersion: VersionTuple(6, 3)))
        }

        func testClass() {
            assertMacroExpansion(
                """
                @Managed
                public final class Note: NSManagedObject {
                    public var title: String?
                    public var `default`: Int16
                    var isExpanded = false
                    var length: Int { 3 }
                    static var all: [Note]
                    let number: Int
                }
                """,
                expandedSource: #"""
                    public final class Note: NSManagedObject {
                        @ManagedValue
                        public var title: String?
                        @ManagedValue
                        public var `default`: Int16
                        var isExpanded = false
                        var length: Int { 3 }
                        static var all: [Note]
                        let number: Int

                        #if !canImport(Darwin)
                        public override class func registerKeyPaths() {
                            super.registerKeyPaths()
                            KeyPathRegistry.register(\Note.title, as: "title")
                            KeyPathRegistry.register(\Note.`default`, as: "default")
                        }
                        #endif
                    }
                    """#,
                macros: ["Managed": ManagedMacro.self])
        }

        /// The key path of an inherited property has the subclass as its root.
        func testKeyPathsOfAClassWithSubclasses() {
            assertMacroExpansion(
                """
                @Managed
                class Note: NSManagedObject {
                    var title: String?
                    var rank: Int16
                }
                """,
                expandedSource: #"""
                    class Note: NSManagedObject {
                        @ManagedValue
                        var title: String?
                        @ManagedValue
                        var rank: Int16

                        #if !canImport(Darwin)
                        override class func registerKeyPaths() {
                            super.registerKeyPaths()
                            func register<Object: Note>(_: Object.Type) {
                                KeyPathRegistry.register(\Object.title, as: "title")
                                KeyPathRegistry.register(\Object.rank, as: "rank")
                            }
                            register(Self.self)
                        }
                        #endif
                    }
                    """#,
                macros: ["Managed": ManagedMacro.self])
        }

        /// On Apple's platforms the compiler requests the conformance; elsewhere the superclass has it.
        func testConformance() {
            let source = """
                @Managed
                class Note: NSManagedObject {
                }
                """
            assertMacroExpansion(
                source,
                expandedSource: """
                    class Note: NSManagedObject {
                    }

                    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
                    extension Note: Observation.Observable {
                    }
                    """,
                macroSpecs: ["Managed": MacroSpec(type: ManagedMacro.self, conformances: ["Observable"])])
            assertMacroExpansion(
                source,
                expandedSource: """
                    class Note: NSManagedObject {
                    }
                    """,
                macroSpecs: ["Managed": MacroSpec(type: ManagedMacro.self)])
        }

        /// `String!` is stored as `String?`, and a type that may be an enumeration is converted by a function that
        /// distinguishes the two cases.
        func testTypesOfValues() {
            func expanded(_ declaration: String, _ name: String, _ type: String, _ read: String, _ write: String)
                -> String
            {
                #"""
                class Note {
                    \#(declaration) {
                        get {
                            #if canImport(Darwin)
                            _noteManagedReading()
                            willAccessValue(forKey: "\#(name)")
                            defer {
                                didAccessValue(forKey: "\#(name)")
                            }
                            return \#(read)
                            #else
                            return Self._managed_\#(name)[self]
                            #endif
                        }
                        set {
                            #if canImport(Darwin)
                            willChangeValue(forKey: "\#(name)")
                            defer {
                                didChangeValue(forKey: "\#(name)")
                            }
                            setPrimitiveValue(\#(write), forKey: "\#(name)")
                            #else
                            Self._managed_\#(name)[self] = newValue
                            #endif
                        }
                    }

                    #if !canImport(Darwin)
                    private static let _managed_\#(name) = ManagedProperty<\#(type)>("\#(name)")
                    #endif
                }
                """#
            }
            for (declaration, name, type, read, write) in [
                ("var title: String!", "title", "String?", #"primitiveValue(forKey: "title") as? String"#, "newValue"),
                (
                    "private(set) var kind: Kind", "kind", "Kind", #"_managedValue(primitiveValue(forKey: "kind"))"#,
                    "_managedPrimitiveValue(newValue)"
                ),
                (
                    "var mood: Mood?", "mood", "Mood?", #"_managedValue(primitiveValue(forKey: "mood"))"#,
                    "_managedPrimitiveValue(newValue)"
                ),
                (
                    "var items: NSOrderedSet", "items", "NSOrderedSet",
                    #"primitiveValue(forKey: "items") as! NSOrderedSet"#, "newValue"
                ),
            ] {
                assertMacroExpansion(
                    "class Note {\n    @ManagedValue \(declaration)\n}",
                    expandedSource: expanded(declaration, name, type, read, write), macros: macros)
            }
        }

        /// Declarations that look managed and cannot be: the message names the property and what to write.
        func testMistakes() {
            let source = """
                final class Note: NSManagedObject {
                    @NSManaged var title: String?
                    var a: Int16, b: Int16
                    var seen: Bool {
                        didSet {
                        }
                    }
                    lazy var length: Int = 3
                }
                """
            assertMacroExpansion(
                "@Managed\n" + source, expandedSource: source,
                diagnostics: [
                    DiagnosticSpec(
                        message: "Remove @NSManaged from title: @Managed implements the property.", line: 3, column: 5),
                    DiagnosticSpec(
                        message:
                            "Declare a and b separately, each with `var` and a type: @Managed implements declarations "
                            + "of one property.", line: 4, column: 5),
                    DiagnosticSpec(
                        message: "seen cannot have an observer, because @Managed implements its accessors. Override "
                            + "didChangeValue(forKey:), or write an initial value, with which seen is not managed.",
                        line: 5, column: 5),
                ], macros: ["Managed": ManagedMacro.self])
            assertMacroExpansion(
                "class Note {\n    @ManagedValue var rank = 3\n}", expandedSource: "class Note {\n    var rank = 3\n}",
                diagnostics: [
                    DiagnosticSpec(
                        message:
                            "rank cannot be a managed property: write `var rank: String?`, with a type, and without a "
                            + "value, an accessor or an observer.", line: 2, column: 5)
                ], macros: macros)
        }

        func testMisuse() {
            assertMacroExpansion(
                """
                @Managed
                struct Note {
                }
                """,
                expandedSource: """
                    struct Note {
                    }
                    """,
                diagnostics: [
                    DiagnosticSpec(
                        message: "@Managed must be attached to a subclass of NSManagedObject.", line: 1,
                        column: 1)
                ],
                macros: macros)
        }
    }
#endif

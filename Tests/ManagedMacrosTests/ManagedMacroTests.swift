#if Macros
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

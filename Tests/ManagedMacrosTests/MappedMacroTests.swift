#if Macros
    import SwiftSyntaxMacros
    import SwiftSyntaxMacrosTestSupport
    import XCTest

    @testable import ManagedMacroExpansion

    /// The expansion of `@Mapped`, compared as text.
    final class MappedMacroTests: XCTestCase {
        private let macros: [String: any Macro.Type] = ["Mapped": MappedMacro.self, "MappedAs": MappedAsMacro.self]

        func testFinalClass() {
            assertMacroExpansion(
                """
                @Mapped
                public final class Person: Mapped {
                    public var name = ""
                    @MappedAs("kAddress", "address") var address: String?
                    @MappedAs(dates: .unix) var born: Date! { didSet { changes += 1 } }
                    @MappedAs("list", elements: Person.self) var others: [Any] = []
                    var changes: Int { get { 0 } set {} }
                    let id = 1
                    static var shared: Person?
                }
                """,
                expandedSource: #"""
                    public final class Person: Mapped {
                        public var name = ""
                        var address: String?
                        var born: Date! { didSet { changes += 1 } }
                        var others: [Any] = []
                        var changes: Int { get { 0 } set {} }
                        let id = 1
                        static var shared: Person?

                        public static var mappedProperties: [MappedProperty] {
                            [
                                MappedProperty("name", \Person.name),
                                MappedProperty("address", \Person.address, mapping: PropertyMapping("kAddress", "address")),
                                MappedProperty("born", \Person.born, mapping: PropertyMapping(dates: .unix)),
                                MappedProperty("others", \Person.others, mapping: PropertyMapping("list"), elements: Person.self),
                            ]
                        }

                        public init() {
                        }
                    }
                    """#,
                macros: macros)
        }

        func testSubclassAddsItsProperties() {
            // The test expander has no types: a class without the conformance is treated as one that inherits it.
            assertMacroExpansion(
                """
                @Mapped
                class Child: Person {
                    var toys = 0, `class` = "a"
                }
                """,
                expandedSource: #"""
                    class Child: Person {
                        var toys = 0, `class` = "a"

                        override class var mappedProperties: [MappedProperty] {
                            super.mappedProperties + [
                                MappedProperty("toys", \Child.toys),
                                MappedProperty("class", \Child.`class`),
                            ]
                        }
                    }
                    """#,
                macros: macros)
        }

        func testMistakes() {
            assertMacroExpansion(
                "@Mapped struct Point {}", expandedSource: "struct Point {}",
                diagnostics: [
                    DiagnosticSpec(
                        message: "@Mapped must be attached to a class. Structures can be Codable.", line: 1, column: 1)
                ], macros: macros)
            assertMacroExpansion(
                """
                @Mapped
                class Box: Mapped {
                    @MappedAs("x") let side = 1
                    var width: Int
                    init() { width = 0 }
                }
                """,
                expandedSource: """
                    class Box: Mapped {
                        let side = 1
                        var width: Int
                        init() { width = 0 }

                        class var mappedProperties: [MappedProperty] {
                            [
                                MappedProperty("width", \\Box.width),
                            ]
                        }
                    }
                    """,
                diagnostics: [
                    DiagnosticSpec(message: "@MappedAs must be attached to a stored var.", line: 3, column: 5)
                ], macros: macros)
        }
    }
#endif

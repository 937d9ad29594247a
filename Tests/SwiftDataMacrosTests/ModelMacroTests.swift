#if Macros
    import SwiftSyntax
    import SwiftSyntaxMacroExpansion
    import SwiftSyntaxMacros
    import SwiftSyntaxMacrosTestSupport
    import XCTest

    @testable import SwiftDataMacros

    /// The expansion of the macros, compared as text. Uses XCTest, as swift-syntax's test support does.
    final class ModelMacroTests: XCTestCase {
        func testProperty() {
            assertMacroExpansion(
                """
                class Trip {
                    @_PersistedProperty var name: String
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
                                _$observationRegistrar.access(self, keyPath: \.name)
                                return self.getValue(forKey: \.name)
                            }
                            set {
                                _$observationRegistrar.withMutation(of: self, keyPath: \.name) {
                                    self.setValue(forKey: \.name, to: newValue)
                                }
                            }
                        }

                        @Transient private var _name: _SwiftDataNoType = _SwiftDataNoType()
                    }
                    """#,
                macros: ["_PersistedProperty": PersistedPropertyMacro.self])
        }

        func testAnObserverIsRefused() {
            assertMacroExpansion(
                """
                @Model class Trip {
                    var name: String { didSet {} }
                }
                """,
                expandedSource: """
                    class Trip {
                        var name: String { didSet {} }
                    }
                    """,
                diagnostics: [
                    DiagnosticSpec(
                        message:
                            "name cannot have an observer, because @Model implements its accessors. Observe it with "
                            + "withObservationTracking, or mark it @Transient.",
                        line: 2, column: 5)
                ],
                macros: ["Model": OnlyMistakes.self])
        }

        func testSeveralPropertiesInOneDeclarationAreRefused() {
            assertMacroExpansion(
                """
                @Model class Trip {
                    var days = 1, nights = 2
                }
                """,
                expandedSource: """
                    class Trip {
                        var days = 1, nights = 2
                    }
                    """,
                diagnostics: [
                    DiagnosticSpec(
                        message:
                            "Declare days and nights separately: @Model implements declarations of one property.",
                        line: 2, column: 5)
                ],
                macros: ["Model": OnlyMistakes.self])
        }

        func testAConstantKeepsItsInitialValue() {
            assertMacroExpansion(
                """
                @Model class Trip {
                    let id = UUID()
                }
                """,
                expandedSource: """
                    class Trip {
                        let id = UUID()
                    }
                    """,
                diagnostics: [
                    DiagnosticSpec(
                        message:
                            "id is saved, but a fetched object gets its initial value again. Declare it as `private(set) var id`.",
                        line: 2, column: 5, severity: .warning)
                ],
                macros: ["Model": OnlyMistakes.self])
        }

        func testAStructureIsRefused() {
            assertMacroExpansion(
                "@Model struct Trip {}",
                expandedSource: "struct Trip {}",
                diagnostics: [DiagnosticSpec(message: "@Model must be attached to a class.", line: 1, column: 1)],
                macros: ["Model": OnlyMistakes.self])
        }
    }

    /// `@Model` without its members, so that a test states the diagnostics only.
    private struct OnlyMistakes: MemberMacro {
        static func expansion(
            of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
            conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
        ) throws -> [DeclSyntax] {
            _ = try ModelMacro.expansion(
                of: node, providingMembersOf: declaration, conformingTo: protocols, in: context)
            return []
        }
    }
#endif

#if Macros
    import SwiftDiagnostics
    import SwiftSyntaxMacroExpansion
    import SwiftSyntaxMacros
    import XCTest

    @testable import SwiftDataMacros

    /// What `@Model` says about a declaration that cannot be persisted, and where.
    final class ModelMistakeTests: XCTestCase {
        /// Expands a class with one declaration in its second line, and compares the only message about it.
        private func check(
            _ declaration: String, _ message: String, column: Int = 5, severity: DiagnosticSeverity = .error,
            line: UInt = #line
        ) {
            let source = "@Model class Trip {\n    \(declaration)\n}"
            let found = MacroDiagnostics(of: source, ["Model": ModelMacro.self])
            XCTAssertEqual(found.messages, [message], line: line)
            XCTAssertEqual(found.places, ["2:\(column)"], line: line)
            XCTAssertEqual(found.severities, [severity], line: line)
        }

        func testDeclarationsOfSeveralProperties() {
            let several = "Declare one and two separately: @Model implements declarations of one property."
            check("var one = 1, two = 2", several)
            check("var (one, two) = (1, 2)", several)
        }

        func testMembersInsideConditions() {
            let source = """
                @Model class Trip {
                    var name: String
                    #if DEBUG
                    var note: String?
                    @Transient var cache = 0
                    static let all = 1
                    var length: Int { 3 }
                    #elseif os(iOS)
                        #if swift(>=6)
                        let id = UUID()
                        #endif
                    #else
                    #Unique<Trip>([\\.name])
                    func f() {}
                    #endif
                }
                """
            let found = MacroDiagnostics(of: source, ["Model": ModelMacro.self])
            XCTAssertEqual(
                found.messages,
                ["note", "id"].map {
                    "\($0) is inside #if, where @Model does not find it. Declare it outside of #if, or mark it @Transient."
                } + ["#Unique is inside #if, where @Model does not find it."])
            XCTAssertEqual(found.places, ["4:5", "10:9", "13:5"])
        }

        func testPropertiesWithBehaviour() {
            check(
                "var name: String { didSet {} }",
                "name cannot have an observer, because @Model implements its accessors. Observe it with "
                    + "withObservationTracking, or mark it @Transient.")
            check(
                "lazy var name = slow()",
                "name cannot be lazy, because @Model implements its accessors. Mark it @Transient.")
            check(
                "private weak var owner: Owner?",
                "owner cannot be weak, because the context keeps related objects. Remove weak, or mark owner @Transient.",
                column: 13)
        }

        func testConstants() {
            check("let name: String", "name must be a var: @Model sets it when an object is fetched.")
            check(
                "let id = UUID()",
                "id is saved, but a fetched object gets its initial value again. Declare it as `private(set) var id`.",
                severity: .warning)
        }

        func testTypesThatAreNeverCodable() {
            for (declaration, column) in [
                ("var value: () -> Void", 16), ("var value: (@Sendable () -> Void)?", 16),
                ("var value: (Int, Int)", 16),
                ("var value: [any Shape]", 16), ("var value: Any", 16), ("var value: [String: Any]", 16),
                ("public var value: Shape.Type", 23),
            ] {
                let type = declaration.split(separator: ": ", maxSplits: 1)[1]
                check(
                    declaration,
                    "value has the type \(type), which is not Codable. Use a Codable type, store it with "
                        + ".transformable(by:), or mark it @Transient.", column: column)
            }
            check("var value = { 3 }", "value is a function, which cannot be stored. Mark it @Transient.", column: 17)
        }

        func testTransientPropertiesWithoutAValue() {
            check(
                "@Transient var size: Int",
                "size needs an initial value or an optional type, because a fetched object has no other value for a property "
                    + "with @Transient.")
        }

        func testStatementsWithoutAProperty() {
            check("@Attribute(.unique) var id: Int { 3 }", "id is computed and has nothing to store: remove Attribute.")
            check(
                "@Attribute @Relationship var stops: [Stop]",
                "stops has several of @Attribute and @Relationship. One of them describes a property.", column: 16)
        }

        func testConstraintsOfOtherProperties() {
            let source = #"""
                @Model class Trip {
                    #Unique<Trip>([\.name, \.isExpanded])
                    #Index<Trip>(.binary([\.title]), .binary([\.inherited]))
                    var name: String
                    @Transient var isExpanded = false
                    var title: String { name }
                }
                """#
            let found = MacroDiagnostics(of: source, ["Model": ModelMacro.self])
            XCTAssertEqual(
                found.messages,
                [
                    "isExpanded is not persisted, and cannot be a part of #Unique.",
                    "title is not persisted, and cannot be a part of #Index.",
                ])
            XCTAssertEqual(found.places, ["2:28", "3:27"])
        }

        func testTypesThatAreNoClasses() {
            for type in ["struct", "enum", "actor"] {
                let found = MacroDiagnostics(of: "@Model \(type) Trip {}", ["Model": ModelMacro.self])
                XCTAssertEqual(found.messages, ["@Model must be attached to a class."])
                XCTAssertEqual(found.places, ["1:1"])
            }
            let found = MacroDiagnostics(of: "@ModelActor class Archive {}", ["ModelActor": ModelActorMacro.self])
            XCTAssertEqual(found.messages, ["@ModelActor must be attached to an actor."])
        }

        /// A declaration with a mistake gets no accessors, whose mistakes would hide it.
        func testAPropertyWithAMistakeIsNotImplemented() {
            let source = "@Model class Trip {\n    var name: String { didSet {} }\n}"
            let found = MacroDiagnostics(of: source, ["Model": ModelMacro.self])
            XCTAssertFalse(found.expanded.contains("_PersistedProperty"))
            XCTAssertFalse(found.expanded.contains("_name"))
        }
    }
#endif

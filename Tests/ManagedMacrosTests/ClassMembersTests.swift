#if Macros
    import SwiftParser
    import SwiftSyntax
    import SwiftSyntaxMacroExpansion
    import SwiftSyntaxMacros
    import XCTest

    @testable import ManagedMacroExpansion

    /// Properties inside `#if`, and classes with the access `package`.
    final class ClassMembersTests: XCTestCase {
        /// The expansion of a source, with one space between words.
        private func expanded(_ source: String) -> String {
            let macros: [String: any Macro.Type] = ["Managed": ManagedMacro.self, "Mapped": MappedMacro.self]
            let file = Parser.parse(source: source)
            let context = BasicMacroExpansionContext(
                sourceFiles: [file: .init(moduleName: "Tests", fullFilePath: "Tests.swift")])
            let expanded = file.expand(macroSpecs: macros.mapValues { MacroSpec(type: $0) }) { syntax in
                BasicMacroExpansionContext(sharingWith: context, lexicalContext: syntax.allMacroLexicalContexts())
            }
            XCTAssertEqual(context.diagnostics.map(\.message), [])
            return expanded.description.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }

        private func check(_ text: String, contains part: String, line: UInt = #line) {
            XCTAssertTrue(text.contains(part), text, line: line)
        }

        func testManagedPropertiesInsideConditions() {
            let text = expanded(
                """
                @Managed final class Note: NSManagedObject {
                    var title: String?
                    #if DEBUG
                    var trace: String?
                    #if os(Linux)
                    var pid: Int64
                    #endif
                    #elseif os(iOS)
                    var isShown = false
                    #else
                    var count: Int16
                    #endif
                    #if os(iOS)
                    static let all = 1
                    #endif
                }
                """)
            check(
                text,
                contains: #"""
                    super.registerKeyPaths() KeyPathRegistry.register(\Note.title, as: "title") #if DEBUG KeyPathRegistry.register(\Note.trace, as: "trace") #if os(Linux) KeyPathRegistry.register(\Note.pid, as: "pid") #endif #elseif os(iOS) #else KeyPathRegistry.register(\Note.count, as: "count") #endif }
                    """#)
        }

        func testMappedPropertiesInsideConditions() {
            let source = """
                @Mapped class Note: Mapped {
                    var title = ""
                    #if DEBUG
                    var trace: String?
                    #endif
                }
                """
            check(
                expanded(source),
                contains: #"""
                    var properties: [MappedProperty] = [ MappedProperty("title", \Note.title), ] #if DEBUG properties.append(MappedProperty("trace", \Note.trace)) #endif return properties }
                    """#)
            let subclass = expanded(source.replacing(": Mapped", with: ": Entry"))
            check(subclass, contains: "var properties: [MappedProperty] = super.mappedProperties + [")
        }

        func testPackageAccess() {
            let managed = expanded("@Managed package class Note: NSManagedObject {\n    package var title: String?\n}")
            check(managed, contains: "package override class func registerKeyPaths()")
            let mapped = expanded("@Mapped package class Note: Mapped {\n    package var title: String?\n}")
            check(mapped, contains: "package class var mappedProperties: [MappedProperty]")
            check(mapped, contains: "package required init()")
            let subclass = expanded("@Mapped package class Note: Entry {\n    package var title: String?\n}")
            check(subclass, contains: "package override class var mappedProperties: [MappedProperty]")
        }
    }
#endif

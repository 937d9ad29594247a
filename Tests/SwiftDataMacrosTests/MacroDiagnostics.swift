#if Macros
    import SwiftDiagnostics
    import SwiftParser
    import SwiftSyntax
    import SwiftSyntaxMacroExpansion
    import SwiftSyntaxMacros

    /// The expansion of a source, and what the macros say about it.
    struct MacroDiagnostics {
        let expanded: String
        private let diagnostics: [Diagnostic]
        private let context: BasicMacroExpansionContext

        init(of source: String, _ macros: [String: any Macro.Type], conformances: [TypeSyntax] = []) {
            let file = Parser.parse(source: source)
            let context = BasicMacroExpansionContext(
                sourceFiles: [file: .init(moduleName: "Tests", fullFilePath: "Tests.swift")])
            let specs = macros.mapValues { MacroSpec(type: $0, conformances: conformances) }
            expanded =
                file.expand(macroSpecs: specs) { syntax in
                    BasicMacroExpansionContext(sharingWith: context, lexicalContext: syntax.allMacroLexicalContexts())
                }.description
            self.context = context
            diagnostics = context.diagnostics
        }

        var messages: [String] { diagnostics.map(\.message) }
        var severities: [DiagnosticSeverity] { diagnostics.map(\.diagMessage.severity) }

        /// Line and column of each message.
        var places: [String] {
            diagnostics.map { diagnostic in
                let place = context.location(
                    for: diagnostic.position, anchoredAt: diagnostic.node, fileName: "Tests.swift")
                return "\(place.line):\(place.column)"
            }
        }
    }
#endif

#if Macros
    import ModelCodeGeneration
    import SwiftSyntax

    /// Adds `import CoreData` to files that use its names, and `import ManagedMacros` to files that use its macros.
    struct ImportRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            var edits = PackageEdits()
            for (index, file) in package.files.enumerated() {
                var missing: [String] = []
                if PortingFinding.findings(in: file.text, file: "").contains(where: { $0.rule == .missingImport }) {
                    missing.append("CoreData")
                }
                let macros = MacroAttributes()
                macros.walk(file.tree)
                if macros.isUsed, !macros.isImported { missing.append("ManagedMacros") }
                edits.add(Self.edits(importing: missing, in: file), to: index)
            }
            return edits
        }

        /// Inserts imports in alphabetical order between those at the beginning of a file.
        static func edits(importing modules: [String], in file: SourceFile) -> [SourceEdit] {
            let imports = file.tree.statements.compactMap { $0.item.as(ImportDeclSyntax.self) }
            return modules.map { module in
                let line = "import " + module
                if let next = imports.first(where: { $0.path.trimmedDescription > module }) {
                    return SourceEdit(insertionAt(next.codeRange.lowerBound), line + file.lineBreak)
                }
                if let last = imports.last {
                    return SourceEdit(insertionAt(last.endPosition.utf8Offset), file.lineBreak + line)
                }
                return SourceEdit(insertionAt(endOfHeader(of: file)), line + file.lineBreak + file.lineBreak)
            }
        }

        private static func insertionAt(_ offset: Int) -> Range<Int> { offset..<offset }

        /// The position after the comment at the beginning of a file, which an empty line separates from the code.
        private static func endOfHeader(of file: SourceFile) -> Int {
            var offset = 0
            var end = 0
            for piece in file.tree.statements.first?.leadingTrivia ?? [] {
                offset += piece.sourceLength.utf8Length
                switch piece {
                case .newlines(let count), .carriageReturnLineFeeds(let count): if count > 1 { end = offset }
                default: break
                }
            }
            return end
        }

        private final class MacroAttributes: CompiledCodeVisitor {
            var isUsed = false
            var isImported = false

            override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind {
                if ["Managed", "ManagedValue"].contains(node.attributeName.trimmedDescription) { isUsed = true }
                return .visitChildren
            }

            override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
                if node.path.trimmedDescription == "ManagedMacros" { isImported = true }
                return .skipChildren
            }
        }
    }
#endif

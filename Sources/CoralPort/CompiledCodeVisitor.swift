#if Macros
    import ModelCodeGeneration
    import SwiftSyntax

    /// Visits the code that is compiled outside Apple's platforms. Branches of `#if` that are never compiled there are skipped.
    class CompiledCodeVisitor: SyntaxVisitor {
        init() { super.init(viewMode: .sourceAccurate) }

        override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind {
            for clause in node.compiledClauses { walk(clause) }
            return .skipChildren
        }
    }

    extension IfConfigDeclSyntax {
        /// The branches that may be compiled outside Apple's platforms.
        var compiledClauses: [IfConfigClauseSyntax] {
            var compiled: [IfConfigClauseSyntax] = []
            for clause in clauses {
                let value = clause.condition.map { ConditionStack.value(of: $0.trimmedDescription) } ?? true
                if value != false { compiled.append(clause) }
                if value == true { break }
            }
            return compiled
        }
    }

    extension SyntaxProtocol {
        /// The nearest enclosing node of a type; nil if there is none. Takes at most as many steps as the parser's limit of
        /// nesting.
        func enclosing<Node: SyntaxProtocol>(_ type: Node.Type) -> Node? {
            var node = parent
            while let current = node {
                if let found = current.as(type) { return found }
                node = current.parent
            }
            return nil
        }
    }

    /// Collects the replacements of one file.
    class EditVisitor: CompiledCodeVisitor {
        final var edits: [SourceEdit] = []
    }

    /// Collects replacements that depend on the whole file.
    class FileEditVisitor: EditVisitor {
        final let file: SourceFile

        init(_ file: SourceFile) {
            self.file = file
            super.init()
        }
    }

    extension PackageIndex {
        /// The replacements in all files that contain one of some texts, without which a file needs none. A new visitor collects those
        /// of each file.
        func edits(containing texts: [String], by makeVisitor: (SourceFile) -> EditVisitor) -> PackageEdits {
            var edits = PackageEdits()
            for (index, file) in files(containing: texts) {
                let visitor = makeVisitor(file)
                visitor.walk(file.tree)
                edits.add(visitor.edits, to: index)
            }
            return edits
        }
    }
#endif

#if Macros
    import ModelCodeGeneration
    import SwiftSyntax

    /// `[a, b] as NSSet` becomes `NSSet(array: [a, b])`, and `note.tags = [a, b]` too, where the property is an `NSSet`.
    struct SetLiteralRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            var edits = PackageEdits()
            let sets = SetProperties(texts: package.files.lazy.map(\.text))
            for (index, file) in package.files(containing: ["NSSet", "= ["]) {
                let assignments = LiteralAssignments()
                assignments.walk(file.tree)
                for (name, array) in assignments.found where sets.contains(name) {
                    edits.add(SourceEdit(array.codeRange, "NSSet(array: \(array.trimmedDescription))"), to: index)
                }
                for cast in Casts.all(in: file.tree) where cast.mark == nil && cast.type.trimmedDescription == "NSSet" {
                    guard let array = cast.value.as(ArrayExprSyntax.self) else { continue }
                    edits.add(SourceEdit(cast.range, "NSSet(array: \(array.trimmedDescription))"), to: index)
                }
            }
            return edits
        }
    }

    /// Collects the array literals that are assigned to members.
    private final class LiteralAssignments: CompiledCodeVisitor {
        var found: [(name: String, array: ArrayExprSyntax)] = []

        override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
            let elements = Array(node.elements)
            if elements.count == 3, elements[1].is(AssignmentExprSyntax.self),
                let member = elements[0].as(MemberAccessExprSyntax.self),
                let array = elements[2].as(ArrayExprSyntax.self)
            {
                found.append((member.declName.baseName.text, array))
            }
            return .visitChildren
        }
    }

    /// An expression `value as Type`, `value as! Type` or `value as? Type`.
    struct Cast {
        let value: ExprSyntax
        /// `!` or `?`.
        let mark: String?
        let type: TypeSyntax

        var range: Range<Int> { value.codeRange.lowerBound..<type.codeRange.upperBound }
    }

    /// Collects the casts of a file.
    final class Casts: CompiledCodeVisitor {
        private var casts: [Cast] = []

        static func all(in tree: SourceFileSyntax) -> [Cast] {
            let visitor = Casts()
            visitor.walk(tree)
            return visitor.casts
        }

        /// Operators are not folded: the elements of a sequence alternate between operands and operators.
        override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
            let elements = Array(node.elements)
            for (index, element) in elements.enumerated() where index > 0 && index + 1 < elements.count {
                guard let cast = element.as(UnresolvedAsExprSyntax.self),
                    let type = elements[index + 1].as(TypeExprSyntax.self)
                else { continue }
                casts.append(
                    Cast(value: elements[index - 1], mark: cast.questionOrExclamationMark?.text, type: type.type))
            }
            return .visitChildren
        }
    }
#endif

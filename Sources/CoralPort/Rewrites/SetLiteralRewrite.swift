#if Macros
    import SwiftSyntax

    /// `[a, b] as NSSet` becomes `NSSet(array: [a, b])`.
    struct SetLiteralRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            var edits = PackageEdits()
            for (index, file) in package.files.enumerated() {
                for cast in Casts.all(in: file.tree) where cast.mark == nil && cast.type.trimmedDescription == "NSSet" {
                    guard let array = cast.value.as(ArrayExprSyntax.self) else { continue }
                    edits.add(SourceEdit(cast.range, "NSSet(array: \(array.trimmedDescription))"), to: index)
                }
            }
            return edits
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

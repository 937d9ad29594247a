#if Macros
    import SwiftSyntax

    /// `#keyPath(Note.author.name)` becomes `"author.name"`, which is the same text on all platforms.
    struct KeyPathRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            var edits = PackageEdits()
            for (index, file) in package.files(containing: ["#keyPath"]) {
                let visitor = Visitor(package)
                visitor.walk(file.tree)
                edits.add(visitor.edits, to: index)
            }
            return edits
        }

        private final class Visitor: CompiledCodeVisitor {
            let package: PackageIndex
            var edits: [SourceEdit] = []

            init(_ package: PackageIndex) {
                self.package = package
                super.init()
            }

            override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
                guard node.macroName.text == "keyPath", node.arguments.count == 1, let argument = node.arguments.first,
                    let keys = keys(of: argument.expression.trimmedDescription, isRead: Self.isRead(node))
                else { return .visitChildren }
                edits.append(SourceEdit(node.codeRange, "\"\(keys)\""))
                return .skipChildren
            }

            /// Whether the key path is used to read a value by key-value coding, which outside Apple's platforms finds only the
            /// model's properties.
            private static func isRead(_ node: MacroExpansionExprSyntax) -> Bool {
                guard let argument = node.parent?.as(LabeledExprSyntax.self), let label = argument.label?.text else {
                    return false
                }
                if label == "sectionNameKeyPath" { return true }
                let function = argument.parent?.parent?.as(FunctionCallExprSyntax.self)?.calledExpression
                    .trimmedDescription
                return label.hasPrefix("forKey")
                    && ["value", "setValue"].contains { function == $0 || function?.hasSuffix("." + $0) == true }
            }

            /// The keys of a path, without the type at its beginning; nil if the path is not a list of names, or if a computed
            /// property would be read.
            private func keys(of path: String, isRead: Bool) -> String? {
                var depth = 0
                // Arguments of a generic type are not keys.
                let plain = path.filter { character in
                    if character == "<" { depth += 1 }
                    defer { if character == ">" { depth -= 1 } }
                    return depth == 0 && !character.isWhitespace && character != "`"
                }
                var names = plain.split(separator: ".").map(String.init)
                guard !names.isEmpty, names.allSatisfy({ $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } })
                else {
                    return nil
                }
                var type: String?
                while names.count > 1, let first = names.first, isType(first, isFirst: type == nil) {
                    type = names.removeFirst()
                }
                var keys: [String] = []
                for name in names {
                    let key = type.map { $0 + "." + name }
                    if isRead, let key, package.computedProperties.contains(key) { return nil }
                    keys.append(key.flatMap { package.objectiveCNames[$0] } ?? name)
                    type = key.flatMap { package.propertyTypes[$0] }.map { $0.filter { $0 != "?" && $0 != "!" } }
                }
                return keys.joined(separator: ".")
            }

            private func isType(_ name: String, isFirst: Bool) -> Bool {
                package.types.contains(name) || isFirst && name.first?.isUppercase == true
            }
        }
    }
#endif

#if Macros
    import SwiftSyntax

    /// Methods that mapping models call by their selectors get a function that finds them outside Apple's platforms: those with
    /// `@objc` in a subclass of `NSEntityMigrationPolicy` or `NSMigrationManager`, if they return a value.
    struct MigrationFunctionRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            var edits = PackageEdits()
            for (index, file) in package.files(containing: ["@objc"]) {
                let visitor = Visitor(package, file)
                visitor.walk(file.tree)
                edits.add(visitor.edits, to: index)
            }
            return edits
        }

        private final class Visitor: EditVisitor {
            private let package: PackageIndex
            private let file: SourceFile

            init(_ package: PackageIndex, _ file: SourceFile) {
                self.package = package
                self.file = file
                super.init()
            }

            override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
                let bases = ["NSEntityMigrationPolicy", "NSMigrationManager"]
                guard bases.contains(where: { package.inherits(node, from: $0, module: file.module) }),
                    !node.memberBlock.trimmedDescription.contains("value(forFunction")
                else { return .visitChildren }
                let isExposed = node.attributes.named("objcMembers") != nil
                let cases = node.memberBlock.members.compactMap { member in
                    member.decl.as(FunctionDeclSyntax.self).flatMap { Self.lines(of: $0, isExposed: isExposed) }
                }
                guard !cases.isEmpty else { return .visitChildren }
                let isPublic = node.modifiers.contains("public") || node.modifiers.contains("open")
                let lines =
                    [
                        "#if !canImport(ObjectiveC)",
                        "// What mapping models call by selectors.",
                        (isPublic ? "public " : "")
                            + "override func value(forFunction selector: String, arguments: [Any?]) throws -> Any? {",
                        "    switch selector {",
                    ] + cases.joined().map { "    " + $0 } + [
                        "    default: break",
                        "    }",
                        "    return try super.value(forFunction: selector, arguments: arguments)",
                        "}",
                        "#endif",
                    ]
                let brace = node.memberBlock.rightBrace.codeRange.lowerBound
                let outer = file.indentation(at: brace)
                let inner =
                    node.memberBlock.members.first.map { file.indentation(at: $0.codeRange.lowerBound) } ?? outer
                    + "    "
                // Lines before the one of the closing brace.
                let text = lines.map { inner + $0 + file.lineBreak }.joined()
                let start = file.beginsLine(brace) ? brace - outer.utf8.count : brace
                edits.append(
                    SourceEdit(
                        start..<start, file.lineBreak + text + (file.beginsLine(brace) ? "" : outer)))
                return .visitChildren
            }

            /// The case of a method; nil for one that is not called by its selector, or that needs a type of its caller.
            private static func lines(of function: FunctionDeclSyntax, isExposed: Bool) -> [String]? {
                let hidden = ["static", "class", "override", "private", "fileprivate"]
                guard isExposed || function.attributes.named("objc") != nil,
                    !hidden.contains(where: function.modifiers.contains),
                    function.genericParameterClause == nil,
                    let type = function.signature.returnClause?.type.trimmedDescription, !["Void", "()"].contains(type)
                else { return nil }
                let parameters = Array(function.signature.parameterClause.parameters)
                var bindings = parameters.isEmpty ? [] : ["arguments.count == \(parameters.count)"]
                var values: [String] = []
                for (index, parameter) in parameters.enumerated() {
                    let label = parameter.firstName.text == "_" ? "" : parameter.firstName.text + ": "
                    if let optional = parameter.type.as(OptionalTypeSyntax.self) {
                        values.append("\(label)arguments[\(index)] as? \(optional.wrappedType.trimmedDescription)")
                    } else {
                        bindings.append(
                            "let value\(index) = arguments[\(index)] as? \(parameter.type.trimmedDescription)")
                        values.append("\(label)value\(index)")
                    }
                }
                let effects = function.signature.effectSpecifiers?.throwsClause == nil ? "" : "try "
                let call = "return \(effects)\(function.name.text)(\(values.joined(separator: ", ")))"
                let selector = function.attributes.objectiveCName ?? selector(of: function)
                let head = "case \"\(selector)\":"
                guard !bindings.isEmpty else { return [head, "    " + call] }
                return [head, "    if \(bindings.joined(separator: ", ")) {", "        \(call)", "    }"]
            }

            /// The selector that Swift derives: the first label follows the name with "With", unless the label begins with a
            /// preposition or the name ends with one.
            private static func selector(of function: FunctionDeclSyntax) -> String {
                let name = function.name.text
                let labels = function.signature.parameterClause.parameters.map(\.firstName.text)
                guard let first = labels.first else { return name }
                var head = ""
                if first != "_" {
                    let lastWord = name[(name.lastIndex(where: \.isUppercase) ?? name.startIndex)...].lowercased()
                    let words = [String(first.prefix { !$0.isUppercase }), lastWord]
                    head = prepositions.isDisjoint(with: words) ? "With" : ""
                    head += first.prefix(1).uppercased() + first.dropFirst()
                }
                return name + head + ":" + labels.dropFirst().map { ($0 == "_" ? "" : $0) + ":" }.joined()
            }

            /// What the compiler takes for prepositions.
            private static let prepositions: Set = [
                "above", "after", "along", "alongside", "as", "at", "before", "below", "by", "following", "for", "from",
                "given", "in", "including", "inside", "into", "matching", "of", "on", "passing", "preceding", "since",
                "to",
                "until", "using", "via", "when", "with", "within",
            ]
        }
    }
#endif

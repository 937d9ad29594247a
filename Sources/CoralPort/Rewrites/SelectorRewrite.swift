#if Macros
    import SwiftSyntax

    /// The selector of one of Foundation's comparison methods becomes the selector's name as a string. An observer of
    /// notifications with a selector becomes one with a closure outside Apple's platforms. In a module that uses Core Data,
    /// whose `NotificationCenter` knows observers by their object there, `removeObserver(self)` ends it as before.
    struct SelectorRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            var edits = PackageEdits()
            let modules = Set(package.files.filter { $0.declarations.imports.contains("CoreData") }.map(\.module))
            for (index, file) in package.files(containing: ["#selector", "selector: Selector("]) {
                let visitor = Visitor(package, file, usesCoreData: modules.contains(file.module))
                visitor.walk(file.tree)
                edits.add(visitor.edits, to: index)
                if visitor.addsOwnedObservers, !file.declarations.imports.contains("CoreData") {
                    edits.add(ImportRewrite.edits(importing: ["CoreData"], in: file), to: index)
                }
            }
            return edits
        }

        private final class Visitor: EditVisitor {
            let package: PackageIndex
            let file: SourceFile
            let usesCoreData: Bool
            private(set) var addsOwnedObservers = false
            /// The methods of `NSString` and others that compare with one argument, for selectors without parentheses.
            private static let comparisons: Set<String> = [
                "compare", "caseInsensitiveCompare", "localizedCompare", "localizedCaseInsensitiveCompare",
                "localizedStandardCompare",
            ]

            init(_ package: PackageIndex, _ file: SourceFile, usesCoreData: Bool) {
                self.package = package
                self.file = file
                self.usesCoreData = usesCoreData
                super.init()
            }

            override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
                guard node.macroName.text == "selector", let argument = node.arguments.first?.expression else {
                    return .visitChildren
                }
                if let name = nameOfComparison(argument.trimmedDescription) {
                    edits.append(SourceEdit(node.codeRange, "Selector((\"\(name)\"))"))
                } else if let edit = observer(node, argument) {
                    edits.append(edit)
                }
                return .skipChildren
            }

            /// An observer with a selector that is a string, `Selector(("didSave:"))`, of a method of the object.
            override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
                guard node.calledExpression.trimmedDescription == "Selector", node.arguments.count == 1,
                    let argument = node.arguments.first?.expression, let type = enclosingType(node),
                    let text =
                        (argument.as(StringLiteralExprSyntax.self)
                        ?? argument.as(TupleExprSyntax.self)?.elements.first?.expression.as(
                            StringLiteralExprSyntax.self))?.representedLiteralValue
                else { return .visitChildren }
                let name = text.hasSuffix(":") ? String(text.dropLast()) : text
                guard package.parameterCounts[type + "." + name] == text.count - name.count,
                    let call = node.enclosing(FunctionCallExprSyntax.self),
                    let statement = call.parent?.as(CodeBlockItemSyntax.self),
                    let edit = observer(
                        statement, selector: node.trimmedDescription,
                        method: self.call(name, label: name == text ? nil : "_"))
                else { return .visitChildren }
                edits.append(edit)
                return .skipChildren
            }

            /// The name of the selector of a method of a Foundation class, such as `NSString.localizedStandardCompare(_:)`; nil
            /// for others.
            private func nameOfComparison(_ text: String) -> String? {
                let parts = text.split(separator: ".", maxSplits: 1)
                guard parts.count == 2, parts[0].hasPrefix("NS"), !package.types.contains(String(parts[0])) else {
                    return nil
                }
                if Self.comparisons.contains(String(parts[1])) { return parts[1] + ":" }
                guard parts[1].hasSuffix(")"), let open = parts[1].firstIndex(of: "(") else { return nil }
                let labels = parts[1][parts[1].index(after: open)...].dropLast()
                // If the first parameter has a label, the selector's name differs from the method's.
                guard labels.isEmpty || labels.hasPrefix("_:") else { return nil }
                return String(parts[1][..<open]) + labels.replacing("_:", with: ":")
            }

            /// Rewrites `center.addObserver(self, selector: #selector(didSave(_:)), name: name, object: object)`.
            private func observer(_ selector: MacroExpansionExprSyntax, _ argument: ExprSyntax) -> SourceEdit? {
                guard let method = methodCall(argument.trimmedDescription, at: selector),
                    let call = selector.enclosing(FunctionCallExprSyntax.self),
                    let statement = call.parent?.as(CodeBlockItemSyntax.self)
                else { return nil }
                return observer(statement, selector: selector.trimmedDescription, method: method)
            }

            /// A constant with a selector whose only uses are observers in the same block: `let didSave = #selector(…)`.
            override func visit(_ node: CodeBlockItemListSyntax) -> SyntaxVisitorContinueKind {
                for item in node {
                    guard let variable = item.item.as(VariableDeclSyntax.self), let constant = constant(variable)
                    else { continue }
                    // An array, because filtering a collection of swift-syntax creates a new tree, whose nodes have other
                    // positions.
                    let users = Array(node).filter { user in
                        user != item && user.tokens(viewMode: .sourceAccurate).contains { $0.text == constant.name }
                    }
                    replace(constant, declaredBy: item, users: users)
                }
                return .visitChildren
            }

            /// The same as a private property of a class, whose uses are in the body of the class.
            override func visit(_ node: MemberBlockItemListSyntax) -> SyntaxVisitorContinueKind {
                for item in node {
                    guard let variable = item.decl.as(VariableDeclSyntax.self), let constant = constant(variable),
                        variable.modifiers.contains("private") || variable.modifiers.contains("fileprivate")
                    else { continue }
                    let users = Statements(with: constant.name)
                    users.walk(file.tree)
                    replace(constant, declaredBy: item, users: users.found)
                }
                return .visitChildren
            }

            private typealias Constant = (name: String, method: (parameter: String, call: String))

            private func constant(_ variable: VariableDeclSyntax) -> Constant? {
                guard variable.bindings.count == 1, let binding = variable.bindings.first,
                    let selector = binding.initializer?.value.as(MacroExpansionExprSyntax.self),
                    selector.macroName.text == "selector", let argument = selector.arguments.first?.expression,
                    nameOfComparison(argument.trimmedDescription) == nil,
                    let method = methodCall(argument.trimmedDescription, at: selector)
                else { return nil }
                return (binding.pattern.trimmedDescription, method)
            }

            private func replace(
                _ constant: Constant, declaredBy item: some SyntaxProtocol, users: [CodeBlockItemSyntax]
            ) {
                let observers = users.map { observer($0, selector: constant.name, method: constant.method) }
                guard file.beginsLine(item.codeRange.lowerBound), !observers.isEmpty, !observers.contains(nil) else {
                    return
                }
                edits += observers.compactMap { $0 }
                let indentation = file.indentation(at: item.codeRange.lowerBound)
                let lines = ["#if canImport(ObjectiveC)", item.trimmedDescription, "#endif"]
                edits.append(SourceEdit(item.codeRange, lines.joined(separator: file.lineBreak + indentation)))
            }

            /// Collects the innermost statements with a name.
            private final class Statements: CompiledCodeVisitor {
                let name: String
                private(set) var found: [CodeBlockItemSyntax] = []

                init(with name: String) {
                    self.name = name
                    super.init()
                }

                override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
                    if node.baseName.text == name, let item = node.enclosing(CodeBlockItemSyntax.self) {
                        found.append(item)
                    }
                    return .visitChildren
                }
            }

            /// The observer with a closure for other platforms; nil if the statement does not add this object as an observer with
            /// the selector.
            private func observer(
                _ statement: CodeBlockItemSyntax, selector: String, method: (parameter: String, call: String)
            ) -> SourceEdit? {
                guard let call = statement.item.as(FunctionCallExprSyntax.self),
                    let member = call.calledExpression.as(MemberAccessExprSyntax.self),
                    member.declName.baseName.text == "addObserver", let center = member.base?.trimmedDescription,
                    file.beginsLine(statement.codeRange.lowerBound)
                else { return nil }
                let arguments = Array(call.arguments)
                guard arguments.map({ $0.label?.text ?? "" }) == ["", "selector", "name", "object"],
                    let owner = arguments[0].expression.as(DeclReferenceExprSyntax.self)?.baseName.text,
                    owner == (Self.constant(of: selector) ?? "self"),
                    arguments[1].expression.trimmedDescription == selector
                else { return nil }
                let (name, object) = (
                    arguments[2].expression.trimmedDescription, arguments[3].expression.trimmedDescription
                )
                let indentation = file.indentation(at: statement.codeRange.lowerBound)
                addsOwnedObservers = usesCoreData
                let other =
                    usesCoreData
                    ? [
                        "\(center).addObserver(\(owner), name: \(name), object: \(object)) { observer, \(method.parameter) in",
                        "    observer.\(method.call)", "}",
                    ]
                    : [
                        "_ = \(center).addObserver(forName: \(name), object: \(object), queue: nil) { [weak \(owner)] \(method.parameter) in",
                        "    \(owner)?.\(method.call)", "}",
                    ]
                return SourceEdit(
                    statement.codeRange,
                    file.conditional(
                        statement.trimmedDescription, else: other.joined(separator: file.lineBreak + indentation),
                        indentation: indentation))
            }

            /// The call of a method of the object itself with the notification; nil if the method's declaration is not found.
            private func methodCall(_ text: String, at node: some SyntaxProtocol) -> (parameter: String, call: String)?
            {
                var method = Substring(text)
                if method.hasPrefix("self.") { method = method.dropFirst(5) }
                if let constant = Self.constant(of: "#selector(\(text))") {
                    method = method.dropFirst(constant.count + 1)
                }
                if let type = enclosingType(node), method.hasPrefix(type) {
                    var rest = method.dropFirst(type.count)
                    if rest.first == "<", let end = rest.firstIndex(of: ">") { rest = rest[rest.index(after: end)...] }
                    if rest.first == "." { method = rest.dropFirst() }
                }
                if let open = method.firstIndex(of: "("), method.hasSuffix(")") {
                    let labels = method[method.index(after: open)...].dropLast().split(separator: ":").map(String.init)
                    guard labels.count <= 1, !method[..<open].contains(".") else { return nil }
                    return call(String(method[..<open]), label: labels.first)
                }
                guard let type = enclosingType(node), let count = package.parameterCounts[type + "." + method],
                    count <= 1
                else {
                    return nil
                }
                return call(String(method), label: count == 0 ? nil : "_")
            }

            /// The constant for the object in `#selector(strongSelf.didSave(_:))`, which a closure writes that refers to itself weakly; nil for
            /// `self`, a type, or a name alone.
            private static func constant(of selector: String) -> String? {
                guard selector.hasPrefix("#selector(") else { return nil }
                let parts = selector.dropFirst("#selector(".count).split(separator: ".", maxSplits: 1)
                guard parts.count == 2, parts[0] != "self", parts[0].first?.isLowercase == true,
                    parts[0].allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
                else { return nil }
                return String(parts[0])
            }

            private func call(_ name: String, label: String?) -> (parameter: String, call: String) {
                guard let label else { return ("_", name + "()") }
                return ("notification", name + (label == "_" ? "(notification)" : "(\(label): notification)"))
            }

            private func enclosingType(_ node: some SyntaxProtocol) -> String? {
                let declaration = node.enclosing(ClassDeclSyntax.self)
                if let enclosing = node.enclosing(ExtensionDeclSyntax.self),
                    enclosing.position > declaration?.position ?? AbsolutePosition(utf8Offset: -1)
                {
                    return enclosing.extendedName
                }
                return declaration?.name.text
            }
        }
    }

    /// A call of a method that a delegate of a results controller may lack, `delegate?.controllerDidChangeContent?(controller)`, becomes a
    /// plain call for other platforms, where each delegate has all methods.
    struct OptionalCallRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            package.edits(containing: ["controllerWillChangeContent?(", "controllerDidChangeContent?(", "controller?("])
            {
                Visitor($0)
            }
        }

        private final class Visitor: FileEditVisitor {
            override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
                guard let called = node.calledExpression.as(OptionalChainingExprSyntax.self),
                    let member = called.expression.as(MemberAccessExprSyntax.self), let base = member.base,
                    Self.isOfDelegate(member.declName.baseName.text, node.arguments),
                    // Otherwise the call has an optional result on Apple's platforms only.
                    base.is(OptionalChainingExprSyntax.self) || node.parent?.is(CodeBlockItemSyntax.self) == true
                else { return .visitChildren }
                let mark = called.questionMark.codeRange
                edits += [file.conditional(around: node, replacing: mark, by: "")].compactMap(\.self)
                return .visitChildren
            }

            private static func isOfDelegate(_ name: String, _ arguments: LabeledExprListSyntax) -> Bool {
                let labels = arguments.map { $0.label?.text ?? "" }
                if ["controllerWillChangeContent", "controllerDidChangeContent"].contains(name) {
                    return labels == [""]
                }
                let seconds = ["didChange", "didChangeContentWith", "sectionIndexTitleForSectionName"]
                return name == "controller" && labels.count >= 2 && labels[0].isEmpty && seconds.contains(labels[1])
            }
        }
    }
#endif

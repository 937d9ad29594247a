#if Macros
    import ModelCodeGeneration
    import SwiftSyntax

    /// A file that calls a class of the package which catches exceptions of Objective-C, as `try ExceptionCatcher.try { … }`, gets a type of
    /// that name for other platforms. It only calls the closure, because there are no exceptions. The constants that are declared beside
    /// the class, such as the keys of its errors, become constants of the file.
    struct ExceptionCatcherRewrite: Rewrite {
        private let catchers: ExceptionCatchers

        init(_ files: [CSourceFile]) { catchers = ExceptionCatchers(files.map(\.text)) }

        func edits(in package: PackageIndex) -> PackageEdits {
            var edits = PackageEdits()
            let classes = catchers.classes.subtracting(package.types)
            guard !classes.isEmpty else { return edits }
            for (index, file) in package.files(containing: classes.sorted()) {
                let calls = CatchingCalls(classes)
                calls.walk(file.tree)
                guard !calls.methods.isEmpty else { continue }
                let lineBreak = file.lineBreak
                var lines = ["", "#if !canImport(ObjectiveC)"]
                for (name, methods) in calls.methods.sorted(by: { $0.key < $1.key }) {
                    lines += ["/// There are no exceptions of Objective-C here.", "private enum \(name) {"]
                    lines += methods.sorted().map { "    static func `\($0)`(_ body: () -> Void) throws { body() }" }
                    lines.append("}")
                }
                for (name, value) in catchers.constants.sorted(by: { $0.key < $1.key }) where calls.names.contains(name)
                {
                    lines.append("private let \(name) = \"\(value)\"")
                }
                lines.append("#endif")
                let end = file.text.utf8.count
                let separator = file.text.hasSuffix(lineBreak) ? "" : lineBreak
                edits.add(
                    SourceEdit(end..<end, separator + lines.map { $0 + lineBreak }.joined()), to: index)
            }
            return edits
        }

        /// Collects the calls with a closure of methods that throw.
        private final class CatchingCalls: CompiledCodeVisitor {
            let classes: Set<String>
            /// The names of the methods by class.
            private(set) var methods: [String: Set<String>] = [:]
            private(set) var names: Set<String> = []

            init(_ classes: Set<String>) {
                self.classes = classes
                super.init()
            }

            override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
                let argument = node.trailingClosure ?? node.arguments.first?.expression.as(ClosureExprSyntax.self)
                if let member = node.calledExpression.as(MemberAccessExprSyntax.self),
                    let base = member.base?.trimmedDescription, classes.contains(base), argument != nil,
                    node.arguments.count == (node.trailingClosure == nil ? 1 : 0),
                    node.arguments.first?.label == nil, node.parent?.is(TryExprSyntax.self) == true
                {
                    let name = member.declName.baseName.text.filter { $0 != "`" }
                    methods[base, default: []].insert(name)
                }
                return .visitChildren
            }

            override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
                names.insert(node.baseName.text)
                return .visitChildren
            }
        }
    }

    /// `NSException(name: name, reason: reason, userInfo: nil).raise()` ends the program with the reason outside Apple's platforms, as an
    /// exception does there that nobody catches. Swift cannot catch it, so code after the statement does not expect to run.
    struct RaisedExceptionRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            package.edits(containing: ["NSException("]) { Visitor($0) }
        }

        private final class Visitor: FileEditVisitor {
            override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
                guard let call = node.item.as(FunctionCallExprSyntax.self), call.arguments.isEmpty,
                    let member = call.calledExpression.as(MemberAccessExprSyntax.self),
                    member.declName.baseName.text == "raise",
                    let exception = member.base?.as(FunctionCallExprSyntax.self),
                    exception.calledExpression.trimmedDescription == "NSException",
                    let reason = exception.arguments.first(where: { $0.label?.text == "reason" })?.expression
                else { return .visitChildren }
                let text = reason.trimmedDescription
                let message =
                    reason.is(StringLiteralExprSyntax.self)
                    ? text : reason.is(NilLiteralExprSyntax.self) ? "\"NSException\"" : "String(describing: \(text))"
                let stop = "fatalError(\(message))"  // because an uncaught exception does too
                let edit = file.conditional(around: call, replacing: call.codeRange, by: stop)
                if let edit { edits.append(edit) }
                return edit == nil ? .visitChildren : .skipChildren
            }
        }
    }

    /// The classes in files of Objective-C that catch exceptions, and the texts that are constants of these files.
    struct ExceptionCatchers {
        private(set) var classes: Set<String> = []
        private(set) var constants: [String: String] = [:]

        init(_ texts: [String]) {
            for text in texts where text.containsBytes(of: "@catch") && CCode(text).isCompiled {
                for line in text.split(whereSeparator: \.isNewline) {
                    let words = line.split { $0.isWhitespace || "*();".contains($0) }
                    if words.first == "@implementation", words.count > 1 { classes.insert(String(words[1])) }
                    // NSString * const Key = @"key";
                    if let equals = words.firstIndex(of: "="), equals > 1, words.contains("NSString"),
                        words[equals - 2] == "const", words.count == equals + 2, words[equals + 1].hasPrefix("@\""),
                        words[equals + 1].hasSuffix("\"")
                    {
                        constants[String(words[equals - 1])] = String(words[equals + 1].dropFirst(2).dropLast())
                    }
                }
            }
        }
    }
#endif

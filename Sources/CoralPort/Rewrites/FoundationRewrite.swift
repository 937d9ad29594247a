#if Macros
    import ModelCodeGeneration
    import SwiftSyntax

    /// Calls that Foundation has on Apple's platforms only, or with other types, become calls that all platforms have:
    ///
    /// - `CFAbsoluteTimeGetCurrent()` becomes `Date().timeIntervalSinceReferenceDate`, and the types `CFAbsoluteTime` and
    ///   `CFTimeInterval` become `TimeInterval`,
    /// - `NSStringFromSelector(#selector(getter: Note.title))` becomes `"title"`,
    /// - `type(of: note).description()` becomes `String(reflecting: type(of: note))`, unless a type of the package has such a method,
    /// - `bundle.urls(forResourcesWithExtension: e, subdirectory: s)` gets `?.map { $0 as URL }`, because its elements are of type `NSURL`
    ///   on other platforms,
    /// - `NSURL()`, which Foundation lacks, becomes the URL of the root folder,
    /// - `Bundle(for: Note.self)` becomes `Bundle.module` in the target of the class if that has resources, and in other targets
    ///   `Bundle.resources(ofModuleOf: Note.self)` for other platforms,
    /// - `Bundle(identifier: "org.example.Notes")!`, the framework that a target was, becomes `Bundle.module` in a target with resources,
    /// - `Bundle.main.url(forResource: "Notes", withExtension: "momd")`, a model in the app's bundle, is searched for in `Bundle.module`
    ///   in a target with resources; a target without them that imports the model's module, as the tests of an app, searches in the
    ///   bundle of that module,
    /// - `Bundle.allBundles`, which is empty on other platforms, becomes `[Bundle.main]` there, in which models of targets are found too,
    /// - `Bundle.main.bundleIdentifier!` becomes the identifier or, where the bundle has none, the name of the process,
    /// - `Port()`, which stops the program on other platforms, becomes `LocalPort()` there,
    /// - `ProcessInfo()` becomes `ProcessInfo.processInfo`, and `kCFBundleNameKey` the key itself,
    /// - `Thread.isMainThread` in a file that imports Core Data becomes `Thread.executesMainQueue` for other platforms, where the main
    ///   thread does not execute the main queue in a program with an asynchronous `main`,
    /// - `folder.appendingPathComponent(name, conformingTo: .database)` becomes `folder.appendingPathComponent(name)` for other platforms, if
    ///   files of the type need no extension,
    /// - `Range(range, in: self)` in an extension of `StringProtocol`, where only a `String` is accepted on other platforms, finds the
    ///   same indices there,
    /// - `CFNumberIsFloatType(n)` becomes a comparison of `n.objCType`, and `CFGetTypeID(n) == CFBooleanGetTypeID()` one for other
    ///   platforms, if `n` is declared as `NSNumber` in the file,
    /// - `.commonModes` in calls of `CFRunLoop…` becomes `kCFRunLoopCommonModes` for other platforms,
    /// - `XCTExpectFailure(…)` is left out on other platforms, so that the test fails there as expected,
    /// - `record(XCTIssue(type: t, compactDescription: d))` becomes `XCTFail(d)` for other platforms.
    struct FoundationRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            package.edits(containing: [
                "CFAbsoluteTime", "CFTimeInterval", "NSStringFromSelector", ".description()",
                "forResourcesWithExtension",
                "Bundle(for", "Bundle(identifier", "init(for", "Bundle.main.",
                "NSURL()", "XCTIssue(", "bundleIdentifier!", "CFNumberIsFloatType", "CFBooleanGetTypeID",
                ".commonModes",
                "XCTExpectFailure", "ProcessInfo()", "kCFBundle", "extension StringProtocol", ".isMainThread",
                "conformingTo:", "Port()", "Bundle.allBundles",
            ]) { Visitor(package, $0) }
        }

        private final class Visitor: EditVisitor {
            let package: PackageIndex
            let file: SourceFile

            init(_ package: PackageIndex, _ file: SourceFile) {
                (self.package, self.file) = (package, file)
                super.init()
            }

            override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
                let called = node.calledExpression.trimmedDescription
                let labels = node.arguments.map { $0.label?.text ?? "" }
                if called == "CFAbsoluteTimeGetCurrent", labels.isEmpty {
                    edits.append(SourceEdit(node.codeRange, "Date().timeIntervalSinceReferenceDate"))
                } else if called == "NSStringFromSelector", let name = Self.getter(node.arguments.first?.expression) {
                    edits.append(SourceEdit(node.codeRange, "\"\(name)\""))
                } else if called == "ProcessInfo", labels.isEmpty, node.trailingClosure == nil {
                    edits.append(SourceEdit(node.codeRange, "ProcessInfo.processInfo"))
                } else if called == "Range", labels == ["", "in"],
                    node.arguments.last?.expression.trimmedDescription == "self",
                    node.enclosing(ExtensionDeclSyntax.self)?.extendedName == "StringProtocol"
                {
                    visit(node, indicesOf: node.arguments.first)
                } else if called == "Port", labels.isEmpty, node.trailingClosure == nil,
                    !package.types.contains("Port")
                {
                    edits += [file.conditional(around: node, replacing: node.codeRange, by: "LocalPort()")]
                        .compactMap(\.self)
                } else if called == "NSURL", labels.isEmpty, node.trailingClosure == nil {
                    edits.append(SourceEdit(node.codeRange, "NSURL(fileURLWithPath: \"/\")"))
                } else if labels == ["for"], Self.isBundle(node, called), let type = node.arguments.first?.expression {
                    visit(node, bundleOf: type.trimmedDescription)
                } else if called == "record" || called == "self.record", let text = Self.issue(node.arguments) {
                    edits += [file.conditional(around: node, replacing: node.codeRange, by: "XCTFail(\(text))")]
                        .compactMap(\.self)
                } else if called == "CFNumberIsFloatType", let number = number(node.arguments) {
                    edits.append(
                        SourceEdit(node.codeRange, "[\"d\", \"f\"].contains(String(cString: \(number).objCType))"))
                } else if called.hasPrefix("CFRunLoop"), let mode = node.arguments.last?.expression,
                    [".commonModes", "CFRunLoopMode.commonModes"].contains(mode.trimmedDescription)
                {
                    edits += [file.conditional(around: node, replacing: mode.codeRange, by: "kCFRunLoopCommonModes")]
                        .compactMap(\.self)
                } else if called == "XCTExpectFailure",
                    let item = node.parent?.as(CodeBlockItemSyntax.self)
                {
                    let lines = ["#if canImport(ObjectiveC)", item.trimmedDescription, "#endif"]
                    let separator = file.lineBreak + file.indentation(at: item.codeRange.lowerBound)
                    edits.append(SourceEdit(item.codeRange, lines.joined(separator: separator)))
                } else if let member = node.calledExpression.as(MemberAccessExprSyntax.self), let base = member.base {
                    visit(node, of: base, name: member.declName.baseName.text, labels: labels)
                }
                return .visitChildren
            }

            override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
                takeTime(node.name)
                return .visitChildren
            }

            override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
                // As an expression: `CFTimeInterval(3)`.
                takeTime(node.baseName)
                if let key = PortingRule.bundleKeys[node.baseName.text] {
                    edits.append(SourceEdit(node.codeRange, "\"\(key)\""))
                }
                return .visitChildren
            }

            private func takeTime(_ name: TokenSyntax) {
                guard ["CFAbsoluteTime", "CFTimeInterval"].contains(name.text) else { return }
                edits.append(SourceEdit(name.codeRange, "TimeInterval"))
            }

            private static let areNoBundles = "Bundle.allBundles.isEmpty"

            override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
                if ["Thread.isMainThread", "Thread.current.isMainThread"].contains(node.trimmedDescription),
                    file.declarations.imports.contains("CoreData")
                {
                    edits.append(
                        file.conditional(around: node, replacing: node.codeRange, by: "Thread.executesMainQueue")
                            ?? file.conditionalMembers(of: node, else: ".executesMainQueue"))
                } else if node.trimmedDescription == "Bundle.allBundles",
                    node.enclosing(SequenceExprSyntax.self)?.trimmedDescription.contains(Self.areNoBundles) != true
                {
                    edits.append(
                        file.conditional(around: node, replacing: node.codeRange, by: "[Bundle.main]")
                            ?? SourceEdit(node.codeRange, "(\(Self.areNoBundles) ? [Bundle.main] : Bundle.allBundles)"))
                }
                return .visitChildren
            }

            override func visit(_ node: ForceUnwrapExprSyntax) -> SyntaxVisitorContinueKind {
                let member = node.expression.as(MemberAccessExprSyntax.self)
                if member?.trimmedDescription == "Bundle.main.bundleIdentifier" {
                    let text = node.expression.trimmedDescription + " ?? ProcessInfo.processInfo.processName"
                    edits.append(SourceEdit(node.codeRange, "(\(text))"))
                } else if let call = node.expression.as(FunctionCallExprSyntax.self),
                    call.calledExpression.trimmedDescription == "Bundle",
                    call.arguments.map({ $0.label?.text }) == ["identifier"], !Self.isOfSystem(call.arguments),
                    package.modulesWithResources.contains(file.module)
                {
                    edits.append(SourceEdit(node.codeRange, "Bundle.module"))
                }
                return .visitChildren
            }

            /// A string that is a part of another one does not have the indices of its copy.
            private func visit(_ node: FunctionCallExprSyntax, indicesOf argument: LabeledExprSyntax?) {
                guard let range = argument?.expression.trimmedDescription else { return }
                let index = "utf16.index(startIndex, offsetBy: "
                let text =
                    "Range(\(range), in: String(self)).map { _ in"
                    + " \(index)\(range).lowerBound)..<\(index)\(range).upperBound) }"
                edits += [file.conditional(around: node, replacing: node.codeRange, by: text)].compactMap(\.self)
            }

            private func visit(_ node: FunctionCallExprSyntax, bundleOf type: String) {
                let modules = package.modulesOfClasses[String(type.split(separator: ".").dropLast().last ?? "")] ?? []
                if modules.contains(file.module) || ["type(of: self)", "Self.self", "self"].contains(type) {
                    guard package.modulesWithResources.contains(file.module) else { return }
                    edits.append(SourceEdit(node.codeRange, "Bundle.module"))
                } else if !modules.isDisjoint(with: package.modulesWithResources) {
                    let edit = file.conditional(
                        around: node, replacing: node.codeRange, by: "Bundle.resources(ofModuleOf: \(type))")
                    edits += [edit].compactMap(\.self)
                }
            }

            /// `CFGetTypeID(n) == CFBooleanGetTypeID()`, or with `!=`.
            override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
                let parts = Array(node.elements)
                guard parts.count >= 3 else { return .visitChildren }
                for index in 0...(parts.count - 3) {
                    guard let first = parts[index].as(FunctionCallExprSyntax.self),
                        first.calledExpression.trimmedDescription == "CFGetTypeID",
                        ["==", "!="].contains(parts[index + 1].trimmedDescription),
                        parts[index + 2].trimmedDescription == "CFBooleanGetTypeID()",
                        let number = number(first.arguments)
                    else { continue }
                    let range = first.codeRange.lowerBound..<parts[index + 2].codeRange.upperBound
                    let comparison = parts[index + 1].trimmedDescription
                    let other = "String(cString: \(number).objCType) \(comparison) \"c\""
                    // On Apple's platforms an `Int8` has the same `objCType` as a Boolean.
                    edits.append(
                        file.conditional(around: node, replacing: range, by: other)
                            ?? conditionalValue(range, of: node, else: other))
                }
                return .visitChildren
            }

            /// A Boolean expression that differs between the platforms, as the result of a closure, which is valid wherever an expression is.
            private func conditionalValue(_ part: Range<Int>, of node: SequenceExprSyntax, else other: String)
                -> SourceEdit
            {
                let start = node.codeRange.lowerBound
                let utf8 = Array(node.trimmedDescription.utf8)
                let apple = String(
                    decoding: utf8[(part.lowerBound - start)..<(part.upperBound - start)], as: UTF8.self)
                let indentation = file.indentation(at: start)
                let text = file.conditional("return \(apple)", else: "return \(other)", indentation: indentation)
                let separator = file.lineBreak + indentation
                return SourceEdit(part, ["({ () -> Bool in", text, "}())"].joined(separator: separator))
            }

            /// Whether the only argument is the identifier of a framework of the system.
            private static func isOfSystem(_ arguments: LabeledExprListSyntax) -> Bool {
                arguments.first?.expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue?
                    .hasPrefix("com.apple.") == true
            }

            /// The only argument, if it is a name that the file declares as `NSNumber`.
            private func number(_ arguments: LabeledExprListSyntax) -> String? {
                guard arguments.count == 1,
                    let name = arguments.first?.expression.as(DeclReferenceExprSyntax.self)?.baseName.text,
                    [" as", ":"].contains(where: { file.contains("\(name)\($0) NSNumber") })
                else { return nil }
                return name
            }

            /// Whether a call creates a bundle: `Bundle(for: T.self)`, or `.init(for: T.self)` as an argument with the label `bundle`.
            private static func isBundle(_ node: FunctionCallExprSyntax, _ called: String) -> Bool {
                if called == "Bundle" || called == "Bundle.init" { return true }
                return called == ".init" && node.parent?.as(LabeledExprSyntax.self)?.label?.text == "bundle"
            }

            /// The description in `XCTIssue(type: t, compactDescription: d)`.
            private static func issue(_ arguments: LabeledExprListSyntax) -> String? {
                guard arguments.count == 1, let issue = arguments.first?.expression.as(FunctionCallExprSyntax.self),
                    issue.calledExpression.trimmedDescription == "XCTIssue"
                else { return nil }
                return issue.arguments.first { $0.label?.text == "compactDescription" }?.expression.trimmedDescription
            }

            private func visit(_ node: FunctionCallExprSyntax, of base: ExprSyntax, name: String, labels: [String]) {
                if name == "description", labels.isEmpty, node.trailingClosure == nil,
                    base.as(FunctionCallExprSyntax.self)?.calledExpression.trimmedDescription == "type",
                    !package.hasTypeMethod("description")
                {
                    edits.append(SourceEdit(node.codeRange, "String(reflecting: \(base.trimmedDescription))"))
                }
                if name == "appendingPathComponent", labels == ["", "conformingTo"],
                    let first = node.arguments.first?.expression,
                    let last = node.arguments.last?.expression, Self.plainTypes.contains(last.trimmedDescription)
                {
                    let part = first.codeRange.upperBound..<last.codeRange.upperBound
                    edits += [file.conditional(around: node, replacing: part, by: "")].compactMap(\.self)
                }
                if base.trimmedDescription == "Bundle.main", Self.isModel(name, node.arguments) {
                    if package.modulesWithResources.contains(file.module) {
                        edits.append(SourceEdit(base.codeRange, "Bundle.module"))
                    } else if let model = node.arguments.first?.expression.as(StringLiteralExprSyntax.self)?
                        .representedLiteralValue,
                        let type = package.managedClass(besideModel: model, importedBy: file)
                    {
                        edits += [
                            file.conditional(
                                around: node, replacing: base.codeRange,
                                by: "Bundle.resources(ofModuleOf: \(type).self)")
                        ].compactMap(\.self)
                    }
                }
                guard name == "urls", labels == ["forResourcesWithExtension", "subdirectory"], !Self.isConverted(node)
                else {
                    return
                }
                let end = node.codeRange.upperBound
                let isUnwrapped = node.parent?.is(ForceUnwrapExprSyntax.self) == true
                let mark = isUnwrapped || node.parent?.is(OptionalChainingExprSyntax.self) == true ? 1 : 0
                let map = Self.isInCondition(node) ? ".map({ $0 as URL })" : ".map { $0 as URL }"
                edits.append(SourceEdit((end + mark)..<(end + mark), (mark == 1 ? "" : "?") + map))
            }

            /// Types of files that have no extension of their own.
            private static let plainTypes = [".data", ".database", ".directory", ".folder", ".item"]

            /// Whether a method of a bundle with some arguments searches for compiled models.
            private static func isModel(_ method: String, _ arguments: LabeledExprListSyntax) -> Bool {
                guard ["url", "urls", "path", "paths"].contains(method) else { return false }
                return arguments.contains { argument in
                    let text = argument.expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue
                    return argument.label?.text != "forResource" && ["momd", "mom", "cdm"].contains(text)
                }
            }

            /// Whether an expression is in the condition of a statement, where the brace after a closure would begin the body.
            private static func isInCondition(_ node: FunctionCallExprSyntax) -> Bool {
                var parent = node.parent
                while let next = parent, !next.is(CodeBlockSyntax.self), !next.is(ClosureExprSyntax.self) {
                    if next.is(ConditionElementSyntax.self) { return true }
                    parent = next.parent
                }
                return false
            }

            /// Whether the elements of the call's result are converted already.
            private static func isConverted(_ node: FunctionCallExprSyntax) -> Bool {
                var parent = node.parent
                while let next = parent, next.is(ForceUnwrapExprSyntax.self) || next.is(OptionalChainingExprSyntax.self)
                {
                    parent = next.parent
                }
                let text = parent?.as(MemberAccessExprSyntax.self)?.parent?.trimmedDescription ?? ""
                return text.hasSuffix("map { $0 as URL }") || text.hasSuffix("map({ $0 as URL })")
            }

            /// The name of the property in `#selector(getter: Note.title)`.
            private static func getter(_ expression: ExprSyntax?) -> String? {
                guard let selector = expression?.as(MacroExpansionExprSyntax.self),
                    selector.macroName.text == "selector",
                    let argument = selector.arguments.first, argument.label?.text == "getter"
                else { return nil }
                return argument.expression.as(MemberAccessExprSyntax.self)?.declName.baseName.text
                    ?? argument.expression.as(DeclReferenceExprSyntax.self)?.baseName.text
            }
        }
    }
#endif

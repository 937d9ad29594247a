#if Macros
    import SwiftSyntax

    /// An `optional func` of an `@objc` protocol becomes outside Apple's platforms a requirement with a default implementation that does
    /// nothing, and its calls `delegate?.didLoad?(items)` become plain ones.
    ///
    /// That is the same where a missing method and one that does nothing cannot be distinguished: the function has no result, and the
    /// package only calls it, in statements. Others stay, and are listed. A function also stays if a class that conforms lacks it and
    /// a subclass implements it: the default would be called there. A property of the same name has no labels: calls with labels are
    /// those of the function, and the name alone is the property.
    struct OptionalRequirementRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            var edits = PackageEdits()
            var requirements: [Requirement] = []
            for (index, file) in package.files(containing: ["optional func"]) {
                let visitor = Requirements(file: index)
                visitor.walk(file.tree)
                requirements += visitor.found
            }
            guard !requirements.isEmpty else { return edits }
            let uses = OptionalUses(of: requirements, in: package)
            let written = requirements.filter { uses.permit($0) }
            for (index, calls) in uses.calls(of: Set(written.map(\.signature))) {
                edits.add(calls, to: index)
            }
            for (protocolID, members) in Dictionary(grouping: written, by: \.protocolID) {
                guard let first = members.first else { continue }
                let file = package.files[protocolID.file]
                for member in members {
                    let range = member.declaration.codeRange
                    let edit = SourceEdit(
                        range,
                        file.conditional(
                            member.declaration.trimmedDescription, else: member.plainText,
                            indentation: file.indentation(at: range.lowerBound)))
                    edits.add(edit, to: protocolID.file)
                }
                edits.add(defaults(of: members, in: first.owner, file: file), to: protocolID.file)
            }
            return edits
        }

        /// The extension with what a type without the functions does.
        private func defaults(of members: [Requirement], in owner: ProtocolDeclSyntax, file: SourceFile) -> SourceEdit {
            let access =
                owner.modifiers.contains("public") ? "public " : owner.modifiers.contains("package") ? "package " : ""
            let functions = members.sorted { $0.declaration.position < $1.declaration.position }.map {
                "    " + access + $0.plainText + " {}"
            }
            let lines =
                ["", "", "#if !canImport(ObjectiveC)", "extension \(owner.name.text) {"] + functions + ["}", "#endif"]
            let end = owner.codeRange.upperBound
            return SourceEdit(end..<end, lines.joined(separator: file.lineBreak))
        }

        /// An optional function without a result.
        struct Requirement {
            /// A protocol by its place.
            struct ProtocolID: Hashable {
                let file: Int
                let position: AbsolutePosition
            }

            let file: Int
            let owner: ProtocolDeclSyntax
            let declaration: FunctionDeclSyntax

            var protocolID: ProtocolID { ProtocolID(file: file, position: owner.position) }
            var signature: FunctionSignature { FunctionSignature(declaration) }

            /// The declaration without what only Objective-C has.
            var plainText: String {
                let attributes = declaration.attributes.filter { element in
                    element.as(AttributeSyntax.self)?.attributeName.trimmedDescription != "objc"
                }
                let modifiers = declaration.modifiers.filter { $0.name.text != "optional" }
                let bytes = Array(declaration.trimmedDescription.utf8)
                let start = declaration.funcKeyword.codeRange.lowerBound - declaration.codeRange.lowerBound
                return
                    (attributes.map(\.trimmedDescription) + modifiers.map(\.trimmedDescription)
                    + [String(decoding: bytes[start...], as: UTF8.self)]).joined(separator: " ")
            }
        }

        /// Collects the optional functions of protocols at the top level.
        private final class Requirements: CompiledCodeVisitor {
            let file: Int
            private(set) var found: [Requirement] = []

            init(file: Int) {
                self.file = file
                super.init()
            }

            override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
                guard node.attributes.named("objc") != nil, node.parent?.is(CodeBlockItemSyntax.self) == true else {
                    return .skipChildren
                }
                for member in node.memberBlock.members {
                    guard let function = member.decl.as(FunctionDeclSyntax.self),
                        function.modifiers.contains("optional"), !function.modifiers.contains("static"),
                        ["", "Void", "()"].contains(function.signature.returnClause?.type.trimmedDescription ?? "")
                    else { continue }
                    found.append(Requirement(file: file, owner: node, declaration: function))
                }
                return .skipChildren
            }
        }
    }

    /// The name of a function with its labels.
    struct FunctionSignature: Hashable {
        let name: String
        let labels: [String]

        init(_ declaration: FunctionDeclSyntax) {
            name = declaration.name.text
            labels = declaration.signature.parameterClause.parameters.map {
                $0.firstName.text == "_" ? "" : $0.firstName.text
            }
        }

        init(name: String, calledWith arguments: LabeledExprListSyntax) {
            self.name = name
            labels = arguments.map { $0.label?.text ?? "" }
        }
    }

    /// What a package does with the names of optional functions.
    private struct OptionalUses {
        /// A call of a function that may be missing, in a statement.
        private struct Call {
            let file: Int
            let signature: FunctionSignature
            /// The statement or member that is written twice.
            let statement: Range<Int>
            let mark: Range<Int>
        }

        private let package: PackageIndex
        private var calls: [Call] = []
        /// The names that are used without a call, and the functions whose calls are more than statements.
        private var usedNames: Set<String> = []
        private var usedResults: Set<FunctionSignature> = []
        /// The names in calls with a trailing closure, which does not state its label.
        private var namesWithClosures: Set<String> = []
        /// The names that properties have, too.
        private var properties: Set<String> = []
        /// The classes that declare the functions.
        private var implementations: [FunctionSignature: Set<String>] = [:]
        /// What classes inherit, and what protocols refine, by name.
        private var inherited: [String: Set<String>] = [:]

        init(of requirements: [OptionalRequirementRewrite.Requirement], in package: PackageIndex) {
            self.package = package
            let names = Set(requirements.map(\.declaration.name.text))
            for (index, file) in package.files.enumerated() {
                let visitor = Visitor(file, names: names, usesNames: names.contains(where: file.contains))
                visitor.walk(file.tree)
                inherited.merge(visitor.inherited) { $0.union($1) }
                usedNames.formUnion(visitor.usedNames)
                usedResults.formUnion(visitor.usedResults)
                namesWithClosures.formUnion(visitor.namesWithClosures)
                properties.formUnion(visitor.properties)
                for (signature, type) in visitor.implementations {
                    implementations[signature, default: []].insert(type)
                }
                calls += visitor.calls.map {
                    Call(file: index, signature: $0.signature, statement: $0.statement, mark: $0.mark)
                }
            }
        }

        /// Whether a function may become a requirement with a default implementation.
        func permit(_ requirement: OptionalRequirementRewrite.Requirement) -> Bool {
            let signature = requirement.signature
            guard !usedResults.contains(signature), !namesWithClosures.contains(signature.name) else { return false }
            if properties.contains(signature.name) {
                guard signature.labels.contains(where: { !$0.isEmpty }) else { return false }
            } else if usedNames.contains(signature.name) {
                return false
            }
            let conforming = requirement.owner.name.text
            return implementations[signature, default: []].allSatisfy { type in
                type != conforming
                    && (isOne(type, conforming, isDirect: true) || !isOne(type, conforming, isDirect: false))
            }
        }

        /// Whether a type conforms to a protocol: by its own declaration or an extension, or also by its superclasses'.
        private func isOne(_ type: String, _ name: String, isDirect: Bool) -> Bool {
            var visited: Set<String> = [type]
            var next = Array(inherited[type] ?? [])
            while let current = next.popLast() {
                if current == name { return true }
                guard visited.insert(current).inserted else { continue }
                if !isDirect || !package.modulesOfClasses.keys.contains(current) {
                    next += inherited[current] ?? []
                }
            }
            return false
        }

        /// The replacements of the calls of functions, by the index of their file.
        func calls(of signatures: Set<FunctionSignature>) -> [Int: [SourceEdit]] {
            let written = calls.filter { signatures.contains($0.signature) }
            return Dictionary(grouping: written, by: \.file).mapValues { calls in
                let file = package.files[calls[0].file]
                let bytes = Array(file.text.utf8)
                return Dictionary(grouping: calls, by: \.statement).map { range, calls in
                    let text = String(decoding: bytes[range], as: UTF8.self)
                    let marks = calls.map {
                        SourceEdit(
                            ($0.mark.lowerBound - range.lowerBound)..<($0.mark.upperBound - range.lowerBound), "")
                    }
                    return SourceEdit(
                        range,
                        file.conditional(
                            text, else: SourceEdit.apply(marks, to: text),
                            indentation: file.indentation(at: range.lowerBound)))
                }
            }
        }

        private final class Visitor: CompiledCodeVisitor {
            let file: SourceFile
            let names: Set<String>
            let usesNames: Bool
            var calls: [(signature: FunctionSignature, statement: Range<Int>, mark: Range<Int>)] = []
            var usedNames: Set<String> = []
            var usedResults: Set<FunctionSignature> = []
            var namesWithClosures: Set<String> = []
            var properties: Set<String> = []
            var implementations: [(FunctionSignature, String)] = []
            var inherited: [String: Set<String>] = [:]

            init(_ file: SourceFile, names: Set<String>, usesNames: Bool) {
                self.file = file
                self.names = names
                self.usesNames = usesNames
                super.init()
            }

            // MARK: - Declarations

            private func add(_ clause: InheritanceClauseSyntax?, of type: String) {
                let types = clause?.inheritedTypes.map { $0.type.trimmedDescription } ?? []
                inherited[type, default: []].formUnion(
                    types.compactMap { $0.split(separator: ".").last.map(String.init) })
            }

            private func add(_ block: MemberBlockSyntax, of type: String) -> SyntaxVisitorContinueKind {
                guard usesNames else { return .visitChildren }
                for member in block.members {
                    if let function = member.decl.as(FunctionDeclSyntax.self), names.contains(function.name.text),
                        !function.modifiers.contains("override")
                    {
                        implementations.append((FunctionSignature(function), type))
                    }
                    if let variable = member.decl.as(VariableDeclSyntax.self) {
                        properties.formUnion(
                            variable.bindings.map(\.pattern.trimmedDescription).filter(names.contains))
                    }
                }
                return .visitChildren
            }

            override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
                add(node.inheritanceClause, of: node.name.text)
                return add(node.memberBlock, of: node.name.text)
            }

            override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
                add(node.inheritanceClause, of: node.extendedName)
                return add(node.memberBlock, of: node.extendedName)
            }

            override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind {
                add(node.memberBlock, of: node.name.text)
            }

            override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind {
                add(node.memberBlock, of: node.name.text)
            }

            override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind {
                add(node.memberBlock, of: node.name.text)
            }

            override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
                add(node.inheritanceClause, of: node.name.text)
                return .skipChildren
            }

            override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
                usesNames ? .visitChildren : .skipChildren
            }

            // MARK: - Uses

            override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
                if names.contains(node.declName.baseName.text) { examine(Syntax(node), node.declName.baseName.text) }
                return .visitChildren
            }

            override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
                // A call by the object itself, or a variable of the same name; a member's name is examined with the member.
                let name = node.baseName.text
                if names.contains(name), let chain = node.parent?.as(OptionalChainingExprSyntax.self) {
                    if let call = chain.parent?.as(FunctionCallExprSyntax.self) {
                        usedResults.insert(FunctionSignature(name: name, calledWith: call.arguments))
                    }
                    usedNames.insert(name)
                }
                return .visitChildren
            }

            private func examine(_ node: Syntax, _ name: String) {
                if let call = node.parent?.as(FunctionCallExprSyntax.self), Syntax(call.calledExpression) == node {
                    return
                }
                guard let chain = node.parent?.as(OptionalChainingExprSyntax.self),
                    let call = chain.parent?.as(FunctionCallExprSyntax.self)
                else {
                    usedNames.insert(name)
                    return
                }
                guard call.trailingClosure == nil else {
                    namesWithClosures.insert(name)
                    return
                }
                let signature = FunctionSignature(name: name, calledWith: call.arguments)
                guard isStatement(call), let statement = statement(around: call) else {
                    usedResults.insert(signature)
                    return
                }
                calls.append((signature, statement, chain.questionMark.codeRange))
            }

            private func isStatement(_ call: FunctionCallExprSyntax) -> Bool {
                var parent = call.parent
                while let effect = parent, effect.is(TryExprSyntax.self) || effect.is(AwaitExprSyntax.self) {
                    parent = effect.parent
                }
                return parent?.is(CodeBlockItemSyntax.self) == true
            }

            /// The innermost statement or member that begins its line, if it is short enough.
            private func statement(around node: some SyntaxProtocol) -> Range<Int>? {
                var next = node.parent
                while let current = next {
                    if current.is(CodeBlockItemSyntax.self) || current.is(MemberBlockItemSyntax.self),
                        file.beginsLine(current.codeRange.lowerBound)
                    {
                        let lineCount = current.trimmedDescription.split(whereSeparator: \.isNewline).count
                        return lineCount <= SourceFile.longestStatement ? current.codeRange : nil
                    }
                    next = current.parent
                }
                return nil
            }
        }
    }

    /// An `@objc` protocol without other protocols becomes one of classes, as Objective-C's are: a weak reference to it needs that.
    struct ObjectiveCProtocolRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            package.edits(containing: ["@objc"]) { _ in Visitor() }
        }

        private final class Visitor: EditVisitor {
            override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
                if node.attributes.named("objc") != nil, node.inheritanceClause == nil {
                    let end = (node.primaryAssociatedTypeClause?.codeRange ?? node.name.codeRange).upperBound
                    edits.append(SourceEdit(end..<end, ": AnyObject"))
                }
                return .skipChildren
            }
        }
    }
#endif

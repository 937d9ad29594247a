#if Macros
    import ModelCodeGeneration
    import SwiftSyntax

    /// `Palette.classForCoder()`, `T.self.classForCoder()` and `type(of: palette).classForCoder()` become the type itself:
    /// Foundation has the property for objects only. Expressions whose type the source does not show are not changed.
    struct ClassForCoderRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            package.edits(containing: [".classForCoder()"]) { _ in Visitor() }
        }

        private final class Visitor: EditVisitor {
            override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
                if node.arguments.isEmpty, node.trailingClosure == nil,
                    let called = node.calledExpression.as(MemberAccessExprSyntax.self),
                    called.declName.baseName.text == "classForCoder", let base = called.base, let type = Self.type(base)
                {
                    edits.append(SourceEdit(node.codeRange, type))
                }
                return .visitChildren
            }

            /// The expression of a type as a value; nil if the expression may be that of an object.
            private static func type(_ base: ExprSyntax) -> String? {
                let text = base.trimmedDescription
                if let member = base.as(MemberAccessExprSyntax.self), member.declName.baseName.text == "self" {
                    return text
                }
                if let call = base.as(FunctionCallExprSyntax.self),
                    call.calledExpression.trimmedDescription == "type"
                {
                    return text
                }
                let name =
                    base.as(DeclReferenceExprSyntax.self)?.baseName
                    ?? base.as(MemberAccessExprSyntax.self)?.declName.baseName
                return name?.text.first?.isUppercase == true ? text + ".self" : nil
            }
        }
    }

    /// `Note.fetchRequest() as! NSFetchRequest<Note>` becomes `NSFetchRequest<Note>(entityName: Note.entity().name!)`, the same
    /// request on all platforms; with `as?` it becomes an optional. Where the class may have a method `fetchRequest()` of its own, the
    /// request of that method is used, with its predicate and its order. For it, for a forced cast of another request or of its copy, and for one
    /// with `as?` of what a method such as `Note.listRequest()` returns, the statement is written twice, for each kind of platform in a
    /// branch of `#if`. So is a call with `NSFetchRequestResult.self` and a result type, which gets the class of the results.
    struct RequestCastRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            var edits = PackageEdits()
            for (index, file) in package.files(containing: ["NSFetchRequest<", "NSFetchRequestResult.self"]) {
                let types = ResultTypes()
                types.walk(file.tree)
                for (node, type) in types.found {
                    let edit = file.conditional(around: node, replacing: node.codeRange, by: type + ".self")
                    if let edit { edits.add(edit, to: index) }
                }
                for cast in Casts.all(in: file.tree) {
                    guard cast.mark != nil, cast.type.trimmedDescription.hasPrefix("NSFetchRequest<") else { continue }
                    if let edit = edit(of: cast, in: file, of: package) { edits.add(edit, to: index) }
                }
            }
            return edits
        }

        private func edit(of cast: Cast, in file: SourceFile, of package: PackageIndex) -> SourceEdit? {
            let value = cast.value.trimmedDescription
            let type = cast.type.trimmedDescription
            if let entity = Self.entity(of: value) {
                let owner = Self.owner(of: cast.value)
                let result = package.result(of: "fetchRequest", in: owner)
                // Of a type that is not a class of the package, such as a generic parameter, the class is not known.
                let isUnknown = package.modulesOfClasses[owner] == nil && package.hasTypeMethod("fetchRequest")
                if result != nil || isUnknown {
                    let request = result == type ? "(\(value) as \(type))" : "\(type)(\(value))"
                    return file.conditional(
                        around: cast.value, replacing: cast.range,
                        by: cast.mark == "?" ? "Optional(\(request))" : request)
                }
                let request = "\(type)(entityName: \(entity).name!)"
                return SourceEdit(cast.range, cast.mark == "?" ? "Optional(\(request))" : request)
            }
            if cast.mark == "!" {
                let request = Self.original(of: cast.value) ?? value
                return file.conditional(around: cast.value, replacing: cast.range, by: "\(type)(\(request))")
            }
            guard Self.returnsRequest(cast.value) else { return nil }
            return file.conditional(around: cast.value, replacing: cast.range, by: "Optional(\(type)(\(value)))")
        }

        /// Whether an expression is a parameter with the type of a request, or the call of a method that returns one, by its name. Other
        /// values may be of a class that has more kinds of requests, and the cast then tells them apart.
        private static func returnsRequest(_ value: ExprSyntax) -> Bool {
            if let name = value.as(DeclReferenceExprSyntax.self)?.baseName.text {
                let parameters =
                    value.enclosing(FunctionDeclSyntax.self)?.signature.parameterClause.parameters
                    ?? value.enclosing(InitializerDeclSyntax.self)?.signature.parameterClause.parameters
                return parameters?.contains { parameter in
                    let type = parameter.type.trimmedDescription
                    return (parameter.secondName ?? parameter.firstName).text == name
                        && type.hasPrefix("NSFetchRequest<") && type.hasSuffix(">")
                } == true
            }
            let called = value.as(FunctionCallExprSyntax.self)?.calledExpression
            let name =
                called?.as(MemberAccessExprSyntax.self)?.declName.baseName
                ?? called?.as(DeclReferenceExprSyntax.self)?.baseName
            return name?.text.hasSuffix("etchRequest") == true
        }

        /// The request in `request.copy()`, whose type is `Any`: the request that replaces the cast is a copy too.
        private static func original(of value: ExprSyntax) -> String? {
            let member = value.as(FunctionCallExprSyntax.self)?.calledExpression.as(MemberAccessExprSyntax.self)
            guard member?.declName.baseName.text == "copy", let base = member?.base?.trimmedDescription,
                !base.contains("?")
            else { return nil }
            return base
        }

        /// The entity of `Note.fetchRequest()` or `fetchRequest()` as an expression; nil for other requests.
        private static func entity(of value: String) -> String? {
            if value == "fetchRequest()" { return "entity()" }
            let call = ".fetchRequest()"
            guard value.hasSuffix(call), !value.hasPrefix("try") else { return nil }
            return value.dropLast(call.count) + ".entity()"
        }

        /// The name of the type whose method `fetchRequest()` is called: the enclosing type where the call names none.
        private static func owner(of value: ExprSyntax) -> String {
            let member = value.as(FunctionCallExprSyntax.self)?.calledExpression.as(MemberAccessExprSyntax.self)
            let name = member?.base?.trimmedDescription.split(separator: ".").last.map(String.init)
            if let name, !["self", "Self"].contains(name), !name.hasSuffix(")") { return name }
            return value.enclosing(ClassDeclSyntax.self)?.name.text
                ?? value.enclosing(ExtensionDeclSyntax.self)?.extendedName ?? ""
        }

        /// Collects the arguments `NSFetchRequestResult.self` of calls that also state a result type.
        private final class ResultTypes: CompiledCodeVisitor {
            var found: [(node: MemberAccessExprSyntax, type: String)] = []
            private static let types = [
                ".managedObjectIDResultType": "NSManagedObjectID", ".managedObjectResultType": "NSManagedObject",
                ".dictionaryResultType": "NSDictionary", ".countResultType": "NSNumber",
            ]

            override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
                guard node.trimmedDescription == "NSFetchRequestResult.self",
                    let call = node.enclosing(FunctionCallExprSyntax.self)
                else { return .visitChildren }
                let words = call.arguments.tokens(viewMode: .sourceAccurate).map(\.text)
                let stated = words.indices.dropFirst().compactMap { Self.types[words[$0 - 1] + words[$0]] }
                if let type = stated.first { found.append((node, type)) }
                return .visitChildren
            }
        }
    }

    /// `Predicate<Note>` becomes `Queries.Predicate<Note>` where the package's module Queries declares the type and Foundation has one
    /// of that name too.
    struct AmbiguousNameRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            var edits = PackageEdits()
            let ambiguous = AmbiguousNames(files: package.files.lazy.map { ($0.text, $0.module) })
            for (index, file) in package.files(containing: AmbiguousNames.foundation.sorted()) {
                let names = ambiguous.names(in: file.text, module: file.module)
                guard !names.isEmpty else { continue }
                let references = References()
                references.walk(file.tree)
                for name in references.names {
                    guard let module = names[name.text] else { continue }
                    let start = name.positionAfterSkippingLeadingTrivia.utf8Offset
                    edits.add(SourceEdit(start..<start, module + "."), to: index)
                }
            }
            return edits
        }

        /// Collects the names of types and values that are not members.
        private final class References: CompiledCodeVisitor {
            var names: [TokenSyntax] = []

            override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
                names.append(node.name)
                return .visitChildren
            }

            override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
                if node.parent?.as(MemberAccessExprSyntax.self)?.declName != node { names.append(node.baseName) }
                return .visitChildren
            }
        }
    }
#endif

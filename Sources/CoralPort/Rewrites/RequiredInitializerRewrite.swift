#if Macros
    import SwiftSyntax

    /// `override init(entity:insertInto:)` becomes `override required init(entity:insertInto:)`, and likewise `init(context:)`
    /// and a coordinator's `init(managedObjectModel:)`: outside Apple's platforms the superclass requires them, and on Apple's
    /// platforms the modifier is permitted. An `init(context:)` of a managed object's class needs no `override` there, and
    /// becomes required too, as does the `override init()` of a transformer or a migration policy. A transformer without `init()`
    /// gets one that stops the program, as Objective-C's does where the class has no such initialiser. A class of stores or of managed
    /// objects with initialisers of its own only gets its required one too.
    struct RequiredInitializerRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            package.edits(containing: ["init("]) { Visitor(package, $0) }
        }

        private final class Visitor: EditVisitor {
            private static let labels = [["entity", "insertInto"], ["context"], ["managedObjectModel"]]
            private static let transformers: Set<String> = ["ValueTransformer", "NSSecureUnarchiveFromDataTransformer"]
            /// The initialisers that Core Data calls for classes that it knows by name, which these inherit only where they declare none.
            private typealias Missing = (superclasses: Set<String>, labels: [String], parameters: [String])
            private static let ofManagedObjects: Missing = (
                ["NSManagedObject"], ["entity", "insertInto"],
                ["entity: NSEntityDescription", "insertInto context: NSManagedObjectContext?"]
            )
            private static let missing: [Missing] = [
                (transformers, [], []),
                (
                    ["NSAtomicStore", "NSIncrementalStore", "NSPersistentStore"],
                    ["persistentStoreCoordinator", "configurationName", "at", "options"],
                    [
                        "persistentStoreCoordinator root: NSPersistentStoreCoordinator?",
                        "configurationName name: String?", "at url: URL", "options: [AnyHashable: Any]? = nil",
                    ]
                ),
            ]
            let package: PackageIndex
            let file: SourceFile
            var module: String { file.module }

            init(_ package: PackageIndex, _ file: SourceFile) {
                (self.package, self.file) = (package, file)
                super.init()
            }

            override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
                let superclass = node.inheritanceClause?.inheritedTypes.first?.type.trimmedDescription ?? ""
                let managed = package.isManaged(node, module: module) ? Self.ofManagedObjects : nil
                guard let missing = managed ?? Self.missing.first(where: { $0.superclasses.contains(superclass) })
                else { return .visitChildren }
                let initializers = node.memberBlock.initializers
                guard !initializers.contains(where: { $0.labels == missing.labels }),
                    let designated = initializers.first(where: { !$0.modifiers.contains("convenience") })
                else { return .visitChildren }
                let indentation = file.indentation(at: designated.codeRange.lowerBound)
                let access = node.modifiers.contains("public") || node.modifiers.contains("open") ? "public " : ""
                let head = access + "required init(" + missing.parameters.joined(separator: ", ") + ") {"
                let name = "init(" + missing.labels.map { $0 + ":" }.joined() + ")"
                // The text stops the program, because Swift writes the same for an initialiser that a class on Apple's platforms neither
                // declares nor inherits.
                let lines = [
                    "", "#if !canImport(ObjectiveC)", head,
                    "    Swift.fatalError(\"Use of unimplemented initializer '\(name)'\")", "}", "#endif",
                ]
                let end = designated.codeRange.upperBound
                edits.append(
                    SourceEdit(
                        end..<end,
                        lines.map { file.lineBreak + ($0.isEmpty ? "" : indentation + $0) }.joined()))
                return .visitChildren
            }

            override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
                let parameters = node.signature.parameterClause.parameters
                let labels = node.labels
                guard Self.labels.contains(labels) || labels.isEmpty && isOfNamedClass(node),
                    !node.modifiers.contains("required")
                else { return .visitChildren }
                if let override = node.modifiers.first(where: { $0.name.text == "override" }) {
                    edits.append(SourceEdit(override.codeRange, "override required"))
                    // A required initialiser is accessible wherever the class is.
                    let access = node.modifiers.first { ["private", "fileprivate"].contains($0.name.text) }
                    if let access { edits.append(SourceEdit(access.codeRange, "internal")) }
                } else if labels == ["context"],
                    parameters.first?.type.trimmedDescription == "NSManagedObjectContext", isOfManagedClass(node)
                {
                    let word =
                        node.modifiers.first(where: { $0.name.text == "convenience" })?.name ?? node.initKeyword
                    edits.append(SourceEdit(word.codeRange, "required " + word.text))
                }
                return .visitChildren
            }

            /// Around an initialiser are its item, the list of items, and the block of the type.
            private func owner(of node: InitializerDeclSyntax) -> Syntax? { node.parent?.parent?.parent?.parent }

            /// Whether models name classes like that of an initialiser, whose objects they create by `init()`.
            private func isOfNamedClass(_ node: InitializerDeclSyntax) -> Bool {
                let types = owner(of: node)?.as(ClassDeclSyntax.self)?.inheritanceClause?.inheritedTypes
                let superclass = types?.first?.type.trimmedDescription ?? ""
                return superclass == "NSEntityMigrationPolicy" || Self.transformers.contains(superclass)
            }

            private func isOfManagedClass(_ node: InitializerDeclSyntax) -> Bool {
                let owner = owner(of: node)
                if let declaration = owner?.as(ClassDeclSyntax.self) {
                    return package.isManaged(declaration, module: module)
                }
                return owner?.as(ExtensionDeclSyntax.self).map { package.isManaged($0.extendedName, module: module) }
                    ?? false
            }
        }
    }

    extension InitializerDeclSyntax {
        fileprivate var labels: [String] { signature.parameterClause.parameters.map(\.firstName.text) }
    }

    extension MemberBlockSyntax {
        /// The initialisers that are compiled outside Apple's platforms, those inside `#if` too.
        var initializers: [InitializerDeclSyntax] {
            func initializers(in members: MemberBlockItemListSyntax) -> [InitializerDeclSyntax] {
                members.flatMap { member -> [InitializerDeclSyntax] in
                    if let initializer = member.decl.as(InitializerDeclSyntax.self) { return [initializer] }
                    let clauses = member.decl.as(IfConfigDeclSyntax.self)?.compiledClauses ?? []
                    return clauses.flatMap { clause in
                        clause.elements?.as(MemberBlockItemListSyntax.self).map(initializers) ?? []
                    }
                }
            }
            return initializers(in: members)
        }
    }
#endif

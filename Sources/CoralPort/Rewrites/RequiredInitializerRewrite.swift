#if Macros
    import SwiftSyntax

    /// `override init(entity:insertInto:)` becomes `override required init(entity:insertInto:)`, and likewise `init(context:)`
    /// and a coordinator's `init(managedObjectModel:)`: outside Apple's platforms the superclass requires them, and on Apple's
    /// platforms the modifier is permitted. A `convenience init(context:)` of a managed object's class needs no `override` there, and
    /// becomes required too.
    struct RequiredInitializerRewrite: Rewrite {
        func edits(in package: PackageIndex) -> PackageEdits {
            package.edits(containing: ["init("]) { Visitor(package, module: $0.module) }
        }

        private final class Visitor: EditVisitor {
            private static let labels = [["entity", "insertInto"], ["context"], ["managedObjectModel"]]
            let package: PackageIndex
            let module: String

            init(_ package: PackageIndex, module: String) {
                self.package = package
                self.module = module
                super.init()
            }

            override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
                let parameters = node.signature.parameterClause.parameters
                let labels = parameters.map(\.firstName.text)
                guard Self.labels.contains(labels), !node.modifiers.contains("required") else { return .visitChildren }
                if let override = node.modifiers.first(where: { $0.name.text == "override" }) {
                    edits.append(SourceEdit(override.codeRange, "override required"))
                } else if labels == ["context"],
                    parameters.first?.type.trimmedDescription == "NSManagedObjectContext",
                    let convenience = node.modifiers.first(where: { $0.name.text == "convenience" }),
                    isOfManagedClass(node)
                {
                    edits.append(SourceEdit(convenience.codeRange, "required convenience"))
                }
                return .visitChildren
            }

            private func isOfManagedClass(_ node: InitializerDeclSyntax) -> Bool {
                // Around the initialiser are its item, the list of items, and the block of the type.
                let owner = node.parent?.parent?.parent?.parent
                if let declaration = owner?.as(ClassDeclSyntax.self) {
                    return package.isManaged(declaration, module: module)
                }
                return owner?.as(ExtensionDeclSyntax.self).map { package.isManaged($0.extendedName, module: module) }
                    ?? false
            }
        }
    }
#endif

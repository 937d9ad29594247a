#if Macros
    import Foundation
    import ModelFiles
    import SwiftSyntax

    /// `@NSManaged var task: Walk?` becomes `var task: Errand?` where the model lets the relationship refer to objects of `Errand`, a
    /// superclass, and of other subclasses: outside Apple's platforms the property is nil for those.
    ///
    /// A property stays as it is if code reads what only the narrower class has: `note.task?.distance`.
    struct DestinationClassRewrite: Rewrite {
        let models: [URL]

        func edits(in package: PackageIndex) -> PackageEdits {
            var edits = PackageEdits()
            let properties = package.files(containing: ["@NSManaged"]).flatMap { index, file in
                ManagedReferences.all(in: file.tree).map { (file: index, property: $0) }
            }
            .filter { item in
                let module = package.files[item.file].module
                let declaration = package.classDeclaration(item.property.type.name.text, module: module)?.declaration
                return declaration?.superclassName.flatMap { package.classDeclaration($0, module: module) } != nil
            }
            guard !properties.isEmpty else { return edits }
            let destinations = DestinationClasses(models)
            for (index, property) in properties {
                let module = package.files[index].module
                let narrow = property.type.name.text
                guard let wide = destinations[property.owner, property.name],
                    let path = package.superclasses(from: narrow, to: wide.name, module: module), !path.isEmpty,
                    wide.classes.contains(where: { package.superclasses(from: $0, to: narrow, module: module) == nil }),
                    !package.isUsed(property, asOneOf: path)
                else { continue }
                edits.add(SourceEdit(property.type.codeRange, wide.name), to: index)
            }
            return edits
        }
    }

    /// The classes of the objects that to-one relationships refer to, by the current versions of models.
    private struct DestinationClasses {
        struct Destination {
            /// The class of the destination entity.
            let name: String
            /// The classes of the entity and its subentities, without abstract ones.
            let classes: Set<String>
        }

        private var destinations: [String: Destination] = [:]

        subscript(owner: String, property: String) -> Destination? { destinations[owner + "." + property] }

        /// Models that cannot be read are left out: the build reports them.
        init(_ urls: [URL]) {
            for model in urls.compactMap({ try? ModelFile.readCurrentModel(at: $0) }) {
                let names = model.entities.map { ($0.name, $0.className?.split(separator: ".").last.map(String.init)) }
                let classNames = Dictionary(names, uniquingKeysWith: { first, _ in first })
                let subentities = Dictionary(grouping: model.entities, by: { $0.parentName ?? "" })
                func concreteClasses(of name: String) -> Set<String> {
                    var classes: Set<String> = []
                    var visited: Set<String> = []
                    var waiting = model.entities.filter { $0.name == name }
                    while let entity = waiting.popLast() {
                        guard visited.insert(entity.name).inserted else { continue }
                        if !entity.isAbstract, let name = classNames[entity.name] ?? nil { classes.insert(name) }
                        waiting += subentities[entity.name] ?? []
                    }
                    return classes
                }
                for entity in model.entities {
                    guard let owner = classNames[entity.name] ?? nil else { continue }
                    for relationship in entity.relationships where !relationship.isToMany {
                        guard let destination = relationship.destinationName,
                            let name = classNames[destination] ?? nil
                        else { continue }
                        destinations[owner + "." + relationship.name] = Destination(
                            name: name, classes: concreteClasses(of: destination))
                    }
                }
            }
        }
    }

    /// Collects the properties with `@NSManaged` whose type is a plain name, `Note`, `Note?` or `Note!`.
    private final class ManagedReferences: CompiledCodeVisitor {
        struct Property {
            let owner: String, name: String
            let type: IdentifierTypeSyntax
        }

        private var found: [Property] = []

        static func all(in tree: SourceFileSyntax) -> [Property] {
            let visitor = ManagedReferences()
            visitor.walk(tree)
            return visitor.found
        }

        override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
            guard node.attributes.named("NSManaged") != nil, node.bindings.count == 1,
                let binding = node.bindings.first,
                let type = binding.typeAnnotation?.type
            else { return .skipChildren }
            let wrapped =
                type.as(OptionalTypeSyntax.self)?.wrappedType
                ?? type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self)?.wrappedType ?? type
            if let owner = node.owner, let name = wrapped.as(IdentifierTypeSyntax.self),
                name.genericArgumentClause == nil
            {
                found.append(Property(owner: owner, name: binding.pattern.trimmedDescription, type: name))
            }
            return .skipChildren
        }
    }

    /// Finds uses of a property's value as one of some classes: `note.task?.distance`, and `task!.distance` in the property's class.
    private final class ValueUses: CompiledCodeVisitor {
        private let property: ManagedReferences.Property, members: Set<String>
        private(set) var isFound = false

        init(of property: ManagedReferences.Property, members: Set<String>) {
            (self.property, self.members) = (property, members)
            super.init()
        }

        override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
            guard members.contains(node.declName.baseName.text), var base = node.base else { return .visitChildren }
            while let inner = base.as(OptionalChainingExprSyntax.self)?.expression
                ?? base.as(ForceUnwrapExprSyntax.self)?.expression
            {
                base = inner
            }
            if let member = base.as(MemberAccessExprSyntax.self) {
                if member.declName.baseName.text == property.name { isFound = true }
            } else if base.as(DeclReferenceExprSyntax.self)?.baseName.text == property.name {
                if node.owner == property.owner { isFound = true }
            }
            return .visitChildren
        }
    }

    extension SyntaxProtocol {
        /// The name of the class or the extended type around the node.
        fileprivate var owner: String? {
            enclosing(ClassDeclSyntax.self)?.name.text ?? enclosing(ExtensionDeclSyntax.self)?.extendedName
        }
    }

    extension DeclSyntax {
        /// The names of a property or a function that overrides none.
        fileprivate var newNames: [String] {
            if let function = self.as(FunctionDeclSyntax.self) {
                return function.modifiers.contains("override") ? [] : [function.name.text]
            }
            guard let variable = self.as(VariableDeclSyntax.self), !variable.modifiers.contains("override") else {
                return []
            }
            return variable.bindings.map(\.pattern.trimmedDescription)
        }
    }

    extension ClassDeclSyntax {
        fileprivate var superclassName: String? { inheritanceClause?.inheritedTypes.first?.type.trimmedDescription }
    }

    extension PackageIndex {
        /// The classes of a module from one up to a superclass, which is not among them; nil if it is not a superclass.
        fileprivate func superclasses(from name: String, to superclass: String, module: String) -> [String]? {
            var path: [String] = []
            var next: String? = name
            while let current = next, current != superclass {
                guard !path.contains(current) else { return nil }
                path.append(current)
                next = classDeclaration(current, module: module)?.declaration.superclassName
            }
            return next == nil ? nil : path
        }

        /// Whether code reads a member that one of some classes declares from the value of a property.
        fileprivate func isUsed(_ property: ManagedReferences.Property, asOneOf classes: [String]) -> Bool {
            let members = files.flatMap(\.declarations.members).filter { classes.contains($0.type) }
            let names = Set(members.flatMap(\.declaration.newNames))
            return files.contains { file in
                guard file.contains(property.name) else { return false }
                let uses = ValueUses(of: property, members: names)
                uses.walk(file.tree)
                return uses.isFound
            }
        }
    }
#endif

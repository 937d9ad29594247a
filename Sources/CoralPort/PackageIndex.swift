#if Macros
    import SwiftSyntax

    /// The files of a package with the declarations that rewriting looks up across files.
    struct PackageIndex {
        /// A class with its declaration in a file.
        struct Class {
            /// The index of the file in ``PackageIndex/files``.
            let file: Int
            let declaration: ClassDeclSyntax
        }

        let files: [SourceFile]
        /// The classes by module and name; nil for a name that several classes of a module have.
        private var classes: [String: Class?] = [:]
        /// The modules that declare a class, by its name.
        private(set) var modulesOfClasses: [String: Set<String>] = [:]
        /// The names of types with `@NSManaged` properties.
        private var managedTypes: Set<String> = []
        /// The names of all types of the package.
        private(set) var types: Set<String> = []
        /// The types of properties by `Class.property`.
        private(set) var propertyTypes: [String: String] = [:]
        /// The computed properties as `Class.property`.
        private(set) var computedProperties: Set<String> = []
        /// Objective-C names of properties by `Class.property`, where they differ from the names in Swift.
        private(set) var objectiveCNames: [String: String] = [:]
        /// The results of methods of types that have no parameters, by `Class.method`.
        private(set) var typeMethods: [String: String] = [:]
        /// The numbers of parameters of methods by `Class.method`.
        private(set) var parameterCounts: [String: Int] = [:]

        /// The resources of the package's modules.
        struct Resources {
            /// The modules with resources: a model among their files, or files that the manifest names.
            var modules: Set<String> = []
            /// The modules of the models, by the models' names.
            var models: [String: Set<String>] = [:]
        }

        private let resources: Resources
        var modulesWithResources: Set<String> { resources.modules }
        /// The files that a pass of a rewrite examines, by their index.
        private var examined: [Int]

        /// - Parameter examined: The files that a pass examines; nil means all.
        init(_ files: [SourceFile], resources: Resources = Resources(), examining examined: Set<Int>? = nil) {
            self.files = files
            self.resources = resources
            self.examined = examined?.sorted() ?? Array(files.indices)
            for (index, file) in files.enumerated() {
                let declarations = file.declarations
                for declaration in declarations.classes {
                    modulesOfClasses[declaration.name.text, default: []].insert(file.module)
                    let key = Self.key(declaration.name.text, module: file.module)
                    classes.updateValue(
                        classes[key] == nil ? Class(file: index, declaration: declaration) : nil, forKey: key)
                }
                types.formUnion(declarations.types)
                for member in declarations.members { add(member.declaration, to: member.type) }
            }
        }

        /// The class with a name in a module; nil if no class or several classes of the module have the name.
        func classDeclaration(_ name: String, module: String) -> Class? {
            classes[Self.key(name, module: module)] ?? nil
        }

        /// The name of a class of managed objects in the module that alone has a model, if a file imports that module.
        func managedClass(besideModel name: String, importedBy file: SourceFile) -> String? {
            guard let modules = resources.models[name], modules.count == 1, let module = modules.first,
                file.declarations.imports.contains(module.split(separator: "/").last.map(String.init) ?? module)
            else { return nil }
            return files.lazy.filter { $0.module == module }.flatMap(\.declarations.classes)
                .first { isManaged($0, module: module) }?.name.text
        }

        /// Lets the next pass examine all files.
        mutating func examineAll() { examined = Array(files.indices) }

        /// The files to examine that contain one of some texts, with their index. Cost: a search in each file for each text; a file
        /// without them is not visited.
        func files(containing texts: [String]) -> [(index: Int, file: SourceFile)] {
            examined.map { ($0, files[$0]) }.filter { _, file in texts.contains(where: file.contains) }
        }

        /// Whether a class of a module is one of managed objects: it inherits from `NSManagedObject`, or has `@NSManaged` properties,
        /// here or in its superclasses of the same module.
        func isManaged(_ name: String, module: String) -> Bool {
            classDeclaration(name, module: module).map { isManaged($0.declaration, module: module) } ?? false
        }

        /// Whether a class is one of managed objects.
        func isManaged(_ declaration: ClassDeclSyntax, module: String) -> Bool {
            inherits(declaration, from: "NSManagedObject", module: module) { managedTypes.contains($0) }
        }

        /// Whether a class inherits from one of Core Data's, or it or a superclass of its module fulfils a condition.
        func inherits(
            _ declaration: ClassDeclSyntax, from base: String, module: String,
            or isOne: (String) -> Bool = { _ in false }
        ) -> Bool {
            var next: ClassDeclSyntax? = declaration
            // A class that inherits from itself does not compile, but may be read.
            var visited: Set<String> = []
            while let current = next, visited.insert(current.name.text).inserted {
                let superclass = current.inheritanceClause?.inheritedTypes.first?.type.trimmedDescription
                if superclass == base || superclass == "CoreData.\(base)" || isOne(current.name.text) { return true }
                next = superclass.flatMap { classDeclaration($0, module: module)?.declaration }
            }
            return false
        }

        /// The result of a type's own method without parameters, or of that of a superclass of its module; nil if the package has none.
        func result(of method: String, in name: String) -> String? {
            var found = typeMethods["\(name).\(method)"]
            for module in modulesOfClasses[name] ?? [] where found == nil {
                guard let declaration = classDeclaration(name, module: module)?.declaration else { continue }
                _ = inherits(declaration, from: "", module: module) { other in
                    found = found ?? typeMethods["\(other).\(method)"]
                    return found != nil
                }
            }
            return found
        }

        /// Whether a type of the package has a method of its own without parameters.
        func hasTypeMethod(_ method: String) -> Bool { typeMethods.keys.contains { $0.hasSuffix(".\(method)") } }

        private static func key(_ name: String, module: String) -> String { module + "\0" + name }

        private mutating func add(_ declaration: DeclSyntax, to type: String) {
            if let function = declaration.as(FunctionDeclSyntax.self) {
                let (key, parameters) = (type + "." + function.name.text, function.signature.parameterClause.parameters)
                parameterCounts[key] = parameters.count
                if parameters.isEmpty, function.modifiers.contains("class") || function.modifiers.contains("static") {
                    typeMethods[key] = function.signature.returnClause?.type.trimmedDescription ?? "Void"
                }
            }
            guard let variable = declaration.as(VariableDeclSyntax.self) else { return }
            let objectiveCName = variable.attributes.objectiveCName
            if variable.attributes.named("NSManaged") != nil { managedTypes.insert(type) }
            for binding in variable.bindings {
                let key = type + "." + binding.pattern.trimmedDescription
                propertyTypes[key] = binding.typeAnnotation?.type.trimmedDescription
                if binding.accessorBlock != nil { computedProperties.insert(key) }
                if let objectiveCName { objectiveCNames[key] = objectiveCName }
            }
        }
    }

    /// The types of a file and their members, and what it imports.
    struct SourceDeclarations: Sendable {
        fileprivate(set) var classes: [ClassDeclSyntax] = []
        fileprivate(set) var types: Set<String> = []
        fileprivate(set) var members: [(type: String, declaration: DeclSyntax)] = []
        /// The modules that the file imports, and its attributes.
        fileprivate(set) var imports: Set<String> = []
        fileprivate(set) var attributes: Set<String> = []

        init() {}

        init(of tree: SourceFileSyntax) {
            let collector = Collector()
            collector.walk(tree)
            self = collector.found
        }

        private final class Collector: CompiledCodeVisitor {
            var found = SourceDeclarations()

            private func add(_ name: String, _ block: MemberBlockSyntax) -> SyntaxVisitorContinueKind {
                found.members += block.members.map { (name, $0.decl) }
                return .visitChildren
            }

            override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
                found.classes.append(node)
                found.types.insert(node.name.text)
                return add(node.name.text, node.memberBlock)
            }

            override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
                found.imports.insert(node.path.first?.name.text ?? "")
                return .visitChildren
            }

            override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind {
                found.attributes.insert(node.attributeName.trimmedDescription)
                return .visitChildren
            }

            override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind {
                found.types.insert(node.name.text)
                return .visitChildren
            }

            override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind {
                found.types.insert(node.name.text)
                return .visitChildren
            }

            override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
                add(node.extendedName, node.memberBlock)
            }
        }
    }

    extension ExtensionDeclSyntax {
        /// The name of the type, without the types that contain it.
        var extendedName: String {
            let type = extendedType.trimmedDescription
            return type.split(separator: ".").last.map(String.init) ?? type
        }
    }

    extension AttributeListSyntax {
        /// The attribute with a name. Attributes inside `#if` are not found.
        func named(_ name: String) -> AttributeSyntax? {
            for case .attribute(let attribute) in self where attribute.attributeName.trimmedDescription == name {
                return attribute
            }
            return nil
        }
    }

    extension AttributeListSyntax {
        /// Whether one of a class's attributes can be a macro: except for global actors, the compiler's own begin with a small letter.
        /// Coral's macro `@Managed` does not need the attribute.
        var hasMacro: Bool {
            contains { element in
                guard case .attribute(let attribute) = element else { return false }
                let name = attribute.attributeName.trimmedDescription
                return name.first?.isUppercase == true && !["MainActor", "Managed"].contains(name)
            }
        }

        /// The Objective-C name of the declaration, if one is written; also inside `#if`.
        var objectiveCName: String? {
            for element in self {
                switch element {
                case .attribute(let attribute):
                    if attribute.attributeName.trimmedDescription == "objc", let name = attribute.arguments {
                        return name.trimmedDescription
                    }
                case .ifConfigDecl(let declaration):
                    for clause in declaration.clauses {
                        if case .attributes(let list)? = clause.elements, let name = list.objectiveCName { return name }
                    }
                }
            }
            return nil
        }
    }

    extension DeclModifierListSyntax {
        /// Whether one of the modifiers has the name, as in `public` but not as in `private(set)`.
        func contains(_ name: String) -> Bool { contains { $0.name.text == name && $0.detail == nil } }

        /// Whether the declaration has an access level of its own.
        var hasAccessLevel: Bool {
            ["open", "public", "package", "internal", "fileprivate", "private"].contains { contains($0) }
        }
    }
#endif

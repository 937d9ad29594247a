#if Macros
    import ModelCodeGeneration
    import SwiftSyntax

    /// A file about an interface or a service of Apple's platforms is compiled on those alone: `#if canImport(SwiftUI)` around it, if it
    /// imports the module at its top level, or uses names of a module that Foundation imports there.
    ///
    /// A file stays as it is if the other files have a name that it declares, if it has a class of managed objects, a model or the
    /// program's beginning, or if it adds an initialiser to a type of the package. The other files are not those of an app, whose
    /// beginning imports such a module. Files of tests that name one of the types are compiled with them, and so are a few files of the
    /// module with public types that no other file names: a repository over a storage in the keychain.
    struct AppleFileRewrite: Rewrite {
        /// Modules that other packages or other rewrites replace.
        private static let replaced: Set<String> = ["Combine", "CryptoKit", "Darwin", "OSLog", "ObjectiveC", "os"]
        private static let modules = Set(PortingRule.appleModules).subtracting(replaced)
        /// Modules that Foundation imports on Apple's platforms, by their names.
        private static let foundationModules = Dictionary(
            uniqueKeysWithValues: PortingRule.securityNames.map { ($0, "Security") }
                + associations.map { ($0, "ObjectiveC") })
        private static let associations = ["objc_getAssociatedObject", "objc_setAssociatedObject"]

        func edits(in package: PackageIndex) -> PackageEdits {
            var edits = PackageEdits()
            let candidates = package.files(
                containing: Self.modules.sorted().map { "import " + $0 } + Self.foundationModules.keys.sorted())
            var closed: [Int: (modules: [String], names: DeclaredNames)] = [:]
            var apps: Set<String> = []
            let isTest = package.files.map { !$0.declarations.imports.isDisjoint(with: ["XCTest", "Testing"]) }
            for (index, file) in candidates {
                let modules = Self.imports(of: file) + Self.foundationModules(of: file, in: package)
                let names = DeclaredNames(of: file.tree, types: package.types)
                let stays = Self.hasModel(file, isTest: isTest[index], in: package) || names.mustStay
                if !modules.isEmpty, !stays { closed[index] = (modules, names) }
                if !modules.isEmpty, names.isProgram { apps.insert(file.module) }
            }
            guard !closed.isEmpty else { return edits }
            let words = package.files.map { Words(of: $0.tree) }
            for index in closed.keys.sorted() {
                let users = users(of: index, closed: closed.mapValues(\.names), words, isTest, in: package)
                for (user, names) in users where !apps.contains(package.files[user].module) {
                    closed[user] = (closed[index]?.modules ?? [], names)
                }
            }
            // A file that stays may need the names of one that was to be closed.
            var isComplete = false
            while !isComplete {
                let others = package.files.indices.filter {
                    closed[$0] == nil && !apps.contains(package.files[$0].module)
                }
                let needed = closed.filter { index, file in
                    others.contains { other in
                        let all = file.names.topLevel.union(file.names.members)
                        let own = package.files[other].declarations.types
                        return isTest[other] && isTest[index]
                            ? !words[other].names.subtracting(own).isDisjoint(with: all)
                            : !words[other].names.isDisjoint(with: isTest[other] ? file.names.members : all)
                    }
                }
                for index in needed.keys { closed[index] = nil }
                isComplete = needed.isEmpty
            }
            for index in package.files.indices {
                let file = package.files[index]
                // Several modules may have tests of the same name.
                let declared = file.declarations.types
                let needed = closed.filter { other, file in
                    isTest[index] && !isTest[other]
                        && !words[index].names.subtracting(declared).isDisjoint(with: file.names.topLevel)
                }
                let modules = closed[index]?.modules ?? needed.values.flatMap(\.modules)
                guard !modules.isEmpty, let first = file.tree.statements.first else { continue }
                let condition = Set(modules).sorted().map { "canImport(\($0))" }.joined(separator: " && ")
                let (start, end) = (first.codeRange.lowerBound, file.text.utf8.count)
                let separator = file.text.hasSuffix(file.lineBreak) ? "" : file.lineBreak
                edits.add(SourceEdit(start..<start, "#if \(condition)" + file.lineBreak), to: index)
                edits.add(SourceEdit(end..<end, separator + "#endif" + file.lineBreak), to: index)
            }
            return edits
        }

        /// Whether a file has classes that a model names. Those of SwiftData are named in the code, in tests by the file itself.
        private static func hasModel(_ file: SourceFile, isTest: Bool, in package: PackageIndex) -> Bool {
            file.declarations.classes.contains { package.isManaged($0, module: file.module) }
                || file.declarations.attributes.contains("Model") && !isTest
        }

        /// The maximum number of files that are closed because they use another one.
        private static let mostUsers = 2

        /// The files that name a type of a file that is to be closed, and can be closed with it; none if another file needs one of them.
        /// Only names of types count: a member's name says little about its type.
        private func users(
            of index: Int, closed: [Int: DeclaredNames], _ words: [Words], _ isTest: [Bool], in package: PackageIndex
        ) -> [Int: DeclaredNames] {
            guard let first = closed[index] else { return [:] }
            let module = package.files[index].module
            var users: [Int: DeclaredNames] = [:]
            var waiting = [first]
            while let names = waiting.popLast() {
                for other in package.files.indices where closed[other] == nil && users[other] == nil && !isTest[other] {
                    let file = package.files[other]
                    guard words[other].names.isDisjoint(with: names.members) else { return [:] }
                    guard !words[other].names.isDisjoint(with: names.topLevel) else { continue }
                    let declared = DeclaredNames(of: file.tree, types: package.types)
                    guard file.module == module, users.count < Self.mostUsers, !declared.mustStay,
                        Self.isInterface(file), !Self.hasModel(file, isTest: false, in: package),
                        names.topLevel.allSatisfy({ $0.first?.isUppercase == true })
                    else { return [:] }
                    users[other] = declared
                    waiting.append(declared)
                }
            }
            return users
        }

        /// Whether a file consists of public types, which clients of the package use.
        private static func isInterface(_ file: SourceFile) -> Bool {
            let declarations = file.tree.statements.compactMap { $0.item.as(DeclSyntax.self) }
                .filter { !$0.is(ImportDeclSyntax.self) }
            return !declarations.isEmpty
                && declarations.allSatisfy { declaration in
                    let modifiers = declaration.asProtocol((any WithModifiersSyntax).self)?.modifiers
                    return declaration.asProtocol((any DeclGroupSyntax).self) != nil
                        && (modifiers?.contains("public") == true || modifiers?.contains("open") == true)
                }
        }

        /// The modules of Apple's that a file imports without a condition.
        private static func imports(of file: SourceFile) -> [String] {
            file.tree.statements.compactMap { $0.item.as(ImportDeclSyntax.self)?.path.first?.name.text }
                .filter(modules.contains)
        }

        /// The modules that a file uses through Foundation. Objects are associated with types of other modules only: those of the
        /// package can have a property.
        private static func foundationModules(of file: SourceFile, in package: PackageIndex) -> [String] {
            let names = Words(of: file.tree).names.compactMap { foundationModules[$0] }
            let needsProperty = file.tree.statements.contains { statement in
                let extended = statement.item.as(ExtensionDeclSyntax.self)?.extendedName
                return (extended.map(package.types.contains) ?? true)
                    && associations.contains(where: statement.description.containsBytes)
            }
            return names.filter { $0 != "ObjectiveC" || !needsProperty }
        }

        /// The names that other files can use.
        private struct DeclaredNames {
            /// Those of the file's types, functions and variables.
            var topLevel: Set<String> = []
            /// Those of members of extensions.
            var members: Set<String> = []
            /// Whether something cannot be found by its name.
            var mustStay = false
            /// Whether the program begins here.
            var isProgram = false

            init(of tree: SourceFileSyntax, types declared: Set<String>) {
                for item in tree.statements {
                    guard let declaration = item.item.as(DeclSyntax.self) else { continue }
                    if let block = declaration.as(ExtensionDeclSyntax.self) {
                        for member in block.memberBlock.members {
                            if member.decl.is(InitializerDeclSyntax.self), declared.contains(block.extendedName),
                                !Self.extendsTypeOfApple(block)
                            {
                                mustStay = true
                            }
                            if !Self.isPrivate(declaration) { members.formUnion(Self.names(of: member.decl)) }
                        }
                    } else {
                        topLevel.formUnion(Self.names(of: declaration))
                    }
                    let attributes = declaration.asProtocol((any WithAttributesSyntax).self)?.attributes
                    if attributes?.named("main") != nil { (mustStay, isProgram) = (true, true) }
                }
            }

            /// Whether an extension names the module of its type, as `SwiftUI.FetchRequest` beside a type of the package.
            private static func extendsTypeOfApple(_ block: ExtensionDeclSyntax) -> Bool {
                let module = block.extendedType.as(MemberTypeSyntax.self)?.baseType.trimmedDescription
                return module.map(AppleFileRewrite.modules.contains) ?? false
            }

            private static func isPrivate(_ declaration: DeclSyntax) -> Bool {
                let modifiers = declaration.asProtocol((any WithModifiersSyntax).self)?.modifiers
                return modifiers?.contains("private") == true || modifiers?.contains("fileprivate") == true
            }

            private static func names(of declaration: DeclSyntax) -> [String] {
                if isPrivate(declaration) { return [] }
                if let variable = declaration.as(VariableDeclSyntax.self) {
                    return variable.bindings.map(\.pattern.trimmedDescription)
                }
                return declaration.asProtocol((any NamedDeclSyntax).self).map { [$0.name.text] } ?? []
            }
        }

        /// The identifiers of the code that is compiled outside Apple's platforms.
        private final class Words: CompiledCodeVisitor {
            private(set) var names: Set<String> = []

            init(of tree: SourceFileSyntax) {
                super.init()
                walk(tree)
            }

            override func visit(_ token: TokenSyntax) -> SyntaxVisitorContinueKind {
                if case .identifier(let name) = token.tokenKind { names.insert(name) }
                return .skipChildren
            }
        }
    }
#endif

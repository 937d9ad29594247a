import Foundation

/// The accessors of a module's `@NSManaged` properties and functions, as a Swift file of the module.
///
/// Outside Apple's platforms the compiler accepts `@NSManaged` and calls accessors that do not exist. A function can have the
/// name of such an accessor in the object file, by `@_silgen_name`; it must be a `final` method of the class, since a method
/// receives its object in a register of its own, and a setter's value must be `__owned`. The names are ``AccessorSymbols``.
package struct ManagedAccessors {
    private let classes: [ClassAccessors]
    private let imports: [String]
    /// The declarations for which there are no accessors, in the order of the files.
    package let mistakes: [ManagedDeclarationMistake]

    /// The beginning of the file.
    private static let heading = "// Generated from the declarations with @NSManaged. Do not edit.\n"

    /// Reads the files of a module, and gets the symbols of the accessors from the compiler. Cost: every file is read once; two
    /// runs of the compiler, half a second, if there are declarations.
    ///
    /// - Parameter files: The texts of the module's files, by their paths.
    /// - Throws: ``AccessorError`` where a type of a property is unknown: it comes from a module that is not Foundation, CoreData
    ///   or this one.
    package init(of files: [(path: String, text: String)], moduleName: String, compiler: SwiftCompiler) throws {
        let files = files.sorted { $0.path < $1.path }.map { SwiftDeclarations($0.text, file: $0.path) }
        let declarations = files.flatMap(\.managed)
        let types = ModuleTypes(files, for: declarations)
        var mistakes = files.flatMap(\.mistakes)
        let valid = declarations.filter { declaration in
            let sentence = Self.mistake(in: declaration, types)
            if let sentence {
                mistakes.append(
                    ManagedDeclarationMistake(file: declaration.file, line: declaration.line, sentence: sentence))
            }
            return sentence == nil
        }.map(types.qualified)
        let symbols = try AccessorSymbols(valid, types: types, moduleName: moduleName, compiler: compiler)
        let byOwner = Dictionary(grouping: valid.enumerated(), by: \.element.owner)
        let ownProperties = Self.namedProperties(in: files, types)
        var classes: [ClassAccessors] = []
        for owner in Set(byOwner.keys).union(ownProperties.keys).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let members = byOwner[owner] ?? []
            classes.append(
                ClassAccessors(
                    owner: owner, isFinal: types[owner]?.isFinal ?? false, globalActor: types.globalActor(of: owner),
                    members: members.sorted { $0.offset < $1.offset }.map { ($0.offset, $0.element) },
                    ownProperties: ownProperties[owner] ?? [],
                    optionalPaths: Self.optionalPaths(of: owner, byOwner.mapValues { $0.map(\.element) }, types),
                    symbols: symbols, engineNames: types.engineNames))
        }
        self.classes = classes
        self.mistakes = mistakes + classes.flatMap(\.mistakes)
        let written = Set(files.filter { !$0.managed.isEmpty }.flatMap(\.imports))
        let missing = ["CoreData", "Foundation"].filter { module in
            !written.contains { $0.hasSuffix("import " + module) }
        }
        imports = written.union(missing.map { "import " + $0 }).sorted()
    }

    /// The declarations for which there can be no accessors, in the order of the files. Does not run the compiler.
    ///
    /// - Parameter files: The texts of a module's files that contain such declarations, by their paths. Classes in other files
    ///   are not known, and taken to be neither private nor generic.
    package static func mistakes(in files: [(path: String, text: String)]) -> [ManagedDeclarationMistake] {
        let files = files.sorted { $0.path < $1.path }.map { SwiftDeclarations($0.text, file: $0.path) }
        let declarations = files.flatMap(\.managed)
        let types = ModuleTypes(files, for: declarations)
        return files.flatMap(\.mistakes)
            + declarations.compactMap { declaration in
                guard types[declaration.owner] != nil else { return nil }
                return mistake(in: declaration, types).map {
                    ManagedDeclarationMistake(file: declaration.file, line: declaration.line, sentence: $0)
                }
            }
    }

    /// The names of the properties of managed object classes that have keys on Apple's platforms although the class implements
    /// them itself, by their classes.
    private static func namedProperties(in files: [SwiftDeclarations], _ types: ModuleTypes) -> [[String]: [String]] {
        let named = files.flatMap(\.ownProperties).filter { property in
            guard let type = types[property.owner], property.isExposed || type.exposesMembers else { return false }
            return types.isManagedObjectClass(property.owner) && obstacle(toExtending: property.owner, types) == nil
        }
        return Dictionary(grouping: named, by: \.owner).mapValues { $0.map(\.name) }
    }

    /// The key paths of a class through its optional relationships to classes of the module. They are registered one by one: a path
    /// that is composed of others, such as `\\Note.folder` and `\\Folder?.?.name`, is not equal to `\\Note.folder?.name`.
    private static func optionalPaths(
        of owner: [String], _ declarations: [[String]: [ManagedDeclaration]], _ types: ModuleTypes
    ) -> [(path: String, name: String)] {
        (declarations[owner] ?? []).flatMap { declaration -> [(path: String, name: String)] in
            guard !declaration.isPrivate, case .property(let type) = declaration.kind, type.hasSuffix("?"),
                let destination = types.classPath(of: String(type.dropLast()), in: owner)
            else { return [] }
            let inherited = ([destination] + types.superclasses(of: destination)).flatMap { declarations[$0] ?? [] }
            let names = inherited.filter { !$0.isPrivate && $0.isProperty }.map(\.name)
            return names.map { name in
                let path = "\(SwiftName.identifier(declaration.name))?.\(SwiftName.identifier(name))"
                return (path, declaration.name + "." + name)
            }
        }
    }

    /// Why there can be no accessor; nil if there can.
    private static func mistake(in declaration: ManagedDeclaration, _ types: ModuleTypes) -> String? {
        obstacle(toExtending: declaration.owner, types).map { "“\(declaration.name)” has no accessor, because \($0)" }
    }

    private static let remedy = "coral-port --fix, which writes the accessors of properties."

    /// Why a class cannot be extended in another file; nil if it can.
    private static func obstacle(toExtending path: [String], _ types: ModuleTypes) -> String? {
        let owner = path.joined(separator: ".")
        guard let type = types[path], type.kind == "class" else {
            return "the class “\(owner)” is not in this module. Declare the property in the class's module."
        }
        if (1...path.count).contains(where: { types[Array(path.prefix($0))]?.isPrivate == true }) {
            return "“\(owner)” is private. Remove `private`, or run \(remedy)"
        }
        return type.rest.hasPrefix("<") ? "“\(owner)” is generic. Run \(remedy)" : nil
    }

    /// The text of the file.
    package var text: String {
        var text = SwiftText(heading: Self.heading, imports: imports)
        for accessors in classes { accessors.write(to: &text) }
        return text.finished()
    }
}

/// A property or a function that is declared with `@NSManaged`.
struct ManagedDeclaration {
    enum Kind {
        /// A property with the type as it is written.
        case property(type: String)
        /// A function that changes a to-many relationship, with its parameters as they are written, in parentheses.
        case function(parameters: String, values: [RelationshipFunction.Parameter])
    }

    /// The names of the class and of the types that enclose it, the outermost first.
    let owner: [String]
    /// The name, without backticks.
    let name: String
    var kind: Kind
    /// The access level that is written, or that the extension has.
    let access: String
    /// The file's path and the line, starting at 1.
    let file: String, line: Int

    /// The access level of the accessor: it is called from outside its file even if the property is private.
    var accessorAccess: String {
        switch access {
        case "open", "public": "public "
        case "package": "package "
        default: ""
        }
    }

    var isPrivate: Bool { ["private", "fileprivate"].contains(access) }

    var isProperty: Bool { if case .property = kind { true } else { false } }

    /// The type of a property's values: that of `String!` is `String?`.
    static func valueType(_ type: String) -> String { type.hasSuffix("!") ? type.dropLast() + "?" : type }
}

/// A declaration for which no accessor can be written.
package struct ManagedDeclarationMistake: Error, Sendable, Equatable {
    /// The file's path and the line, starting at 1.
    package let file: String, line: Int
    /// A description of the mistake, in one sentence.
    package let sentence: String

    /// The mistake in the format of compilers.
    package var compilerMessage: String { "\(file):\(line): error: \(sentence)" }
}

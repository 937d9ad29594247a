/// The types of a module to which `@NSManaged` declarations refer.
struct ModuleTypes {
    private let types: [[String]: SwiftDeclarations.TypeDeclaration]
    /// The paths of the types that are needed, the outermost first.
    private let needed: [[String]]
    let engineNames: EngineNames

    init(_ files: [SwiftDeclarations], for declarations: [ManagedDeclaration]) {
        let types = files.flatMap(\.types).reduce(into: [:]) { types, type in
            types[type.path] = types[type.path] ?? type
        }
        let byName = Dictionary(grouping: types.values, by: { $0.path.last ?? "" })
        var needed: Set<[String]> = []
        var pending = declarations.flatMap { declaration in
            switch declaration.kind {
            case .property(let type): Self.names(in: type) + declaration.owner
            case .function(let parameters, _): Self.names(in: parameters) + declaration.owner
            }
        }
        while let name = pending.popLast() {
            for type in byName[name] ?? [] where needed.insert(type.path).inserted {
                pending += type.path
                // The target of a type alias, and the superclass, whose nested types are inherited.
                if ["typealias", "class"].contains(type.kind) { pending += Self.names(in: type.rest) }
            }
        }
        self.types = types
        engineNames = EngineNames(besides: Set(byName.keys))
        self.needed = needed.sorted { $0.lexicographicallyPrecedes($1) }
    }

    /// The type of a path.
    subscript(_ path: [String]) -> SwiftDeclarations.TypeDeclaration? { types[path] }

    /// Whether a class inherits from `NSManagedObject` by way of classes of the module.
    func isManagedObjectClass(_ path: [String]) -> Bool {
        guard types[path]?.kind == "class", let rest = types[superclasses(of: path).last ?? path]?.rest,
            let colon = rest.firstIndex(of: ":")
        else { return false }
        let superclass = rest[rest.index(after: colon)...].split { ",{".contains($0) }.first ?? ""
        return superclass.split { ". ".contains($0) }.last == "NSManagedObject"
    }

    /// The attribute of the global actor that isolates a class, its own or a superclass's.
    func globalActor(of path: [String]) -> String? {
        ([path] + superclasses(of: path)).lazy.compactMap { types[$0]?.globalActor }.first
    }

    private static func names(in text: String) -> [String] {
        text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
    }

    /// The superclasses of a class in the module, the nearest first.
    func superclasses(of path: [String]) -> [[String]] {
        var found: [[String]] = []
        var next: [String]? = path
        while let path = next, found.count < types.count, let rest = types[path]?.rest,
            let colon = rest.firstIndex(of: ":")
        {
            let name = rest[rest.index(after: colon)...].split { ",<{".contains($0) }.first ?? ""
            next = classPath(of: String(name), in: Array(path.dropLast()), except: path)
            if let next { found.append(next) }
        }
        return found
    }

    /// The class of the module with a name as it is written in some type, or one that encloses it; nil if there is none.
    func classPath(of name: String, in enclosing: [String], except excluded: [String]? = nil) -> [String]? {
        let names = name.split { ". ".contains($0) }.map(String.init)
        // Looked up in the types that enclose the name, from the innermost.
        return (0...enclosing.count).reversed().map { Array(enclosing[..<$0]) + names }.first {
            types[$0]?.kind == "class" && $0 != excluded
        }
    }

    /// A declaration with the full names of the types beside its class: an extension of a nested class does not see them.
    func qualified(_ declaration: ManagedDeclaration) -> ManagedDeclaration {
        var result = declaration
        result.kind =
            switch declaration.kind {
            case .property(let type): .property(type: qualified(type, in: declaration.owner))
            case .function(let parameters, let values):
                .function(parameters: qualified(parameters, in: declaration.owner), values: values)
            }
        return result
    }

    private func qualified(_ text: String, in owner: [String]) -> String {
        let own = [owner] + superclasses(of: owner)
        var result = ""
        var rest = text[...]
        while let first = rest.first {
            let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
            rest = rest.dropFirst(max(word.count, 1))
            let name = String(word.isEmpty ? rest.prefix(0) : word)
            guard !name.isEmpty, result.last != ".", !own.contains(where: { types[$0 + [name]] != nil }),
                let outer = owner.indices.dropFirst().reversed().first(where: { types[owner[..<$0] + [name]] != nil })
            else {
                result += word.isEmpty ? String(first) : name
                continue
            }
            result += (owner[..<outer].map(SwiftName.identifier) + [name]).joined(separator: ".")
        }
        return result
    }

    /// The declarations of the types without members, as Swift text.
    ///
    /// The classes have no superclasses, so that a property of any name can be declared in an extension. The types that a class
    /// inherits from its superclasses are therefore declared again, as aliases.
    var declarations: String {
        needed.compactMap { path in types[path].map(declaration) }.joined(separator: "\n")
    }

    private func declaration(of type: SwiftDeclarations.TypeDeclaration) -> String {
        let name = SwiftName.identifier(type.path.last ?? "")
        let generics = type.rest.hasPrefix("<") ? String(type.rest.prefix { $0 != ">" }) + ">" : ""
        let text =
            switch type.kind {
            case "typealias": "typealias \(name) \(type.rest)"
            case "protocol": "protocol \(name): AnyObject {}"
            case "enum": "enum \(name)\(generics): Hashable { case only }"
            case "struct": "struct \(name)\(generics): Hashable {}"
            default:
                """
                \(type.kind) \(name)\(generics): Hashable {
                static func == (a: \(name), b: \(name)) -> Bool { a === b }
                func hash(into: inout Hasher) {}
                \(inheritedTypes(of: type.path))
                }
                """
            }
        guard type.path.count > 1 else { return text }
        let outer = type.path.dropLast().map(SwiftName.identifier).joined(separator: ".")
        return "extension \(outer) {\n\(text)\n}"
    }

    private func inheritedTypes(of path: [String]) -> String {
        var aliases: [String: [String]] = [:]
        for superclass in superclasses(of: path) {
            for inner in needed where inner.count == superclass.count + 1 && inner.starts(with: superclass) {
                let name = inner.last ?? ""
                if aliases[name] == nil, types[path + [name]] == nil { aliases[name] = inner }
            }
        }
        return aliases.sorted { $0.key < $1.key }.map { name, path in
            "typealias \(SwiftName.identifier(name)) = \(path.map(SwiftName.identifier).joined(separator: "."))"
        }.joined(separator: "\n")
    }
}

/// The engine's types in generated code. A module whose own type has such a name, as `ManagedProperty`, gets the name with the module's.
package struct EngineNames: Sendable {
    private let declared: Set<String>

    /// - Parameter declared: The names of the types of the module for which code is generated.
    package init(besides declared: Set<String>) { self.declared = declared }

    /// The expression for a type of the engine.
    package subscript(_ name: String) -> String { declared.contains(name) ? "CoreData." + name : name }
}

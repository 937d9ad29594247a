/// The accessors of one class's `@NSManaged` declarations, and the names of its key paths.
struct ClassAccessors {
    private struct Member {
        let declaration: ManagedDeclaration
        let symbols: [AccessorSymbols.Role: String]
    }

    private let owner: [String]
    private let isFinal: Bool
    private let globalActor: String?
    private let members: [Member]
    /// The names of the properties that the class implements itself.
    private let ownProperties: [String]
    /// The key paths through optional relationships, as `folder?.name`, and their names.
    private let optionalPaths: [(path: String, name: String)]
    /// The types of the class's properties by name.
    private let propertyTypes: [String: String]
    private let engineNames: EngineNames
    /// The functions with `@NSManaged` that do not change a relationship, which are errors.
    let mistakes: [ManagedDeclarationMistake]

    init(
        owner: [String], isFinal: Bool, globalActor: String?, members: [(offset: Int, declaration: ManagedDeclaration)],
        ownProperties: [String], optionalPaths: [(path: String, name: String)], symbols: AccessorSymbols,
        engineNames: EngineNames
    ) {
        self.engineNames = engineNames
        self.owner = owner
        self.ownProperties = ownProperties
        self.optionalPaths = optionalPaths
        self.isFinal = isFinal
        self.globalActor = globalActor
        self.members = members.map { offset, declaration in
            let roles: [AccessorSymbols.Role] = [.getter, .setter, .function]
            let named = roles.compactMap { role in symbols[offset, role].map { (role, $0) } }
            return Member(declaration: declaration, symbols: Dictionary(uniqueKeysWithValues: named))
        }
        let types = members.compactMap { member -> (String, String)? in
            guard case .property(let type) = member.declaration.kind else { return nil }
            return (member.declaration.name, type)
        }
        let propertyTypes = Dictionary(types, uniquingKeysWith: { first, _ in first })
        self.propertyTypes = propertyTypes
        mistakes = members.compactMap { _, declaration in
            guard case .function(_, let values) = declaration.kind,
                RelationshipFunction(declaration.name, values, properties: propertyTypes) == nil
            else { return nil }
            return ManagedDeclarationMistake(
                file: declaration.file, line: declaration.line,
                sentence:
                    "“\(declaration.name)” has no accessor, because it is not a function that Core Data implements, such as"
                    + " addToTags(_:).")
        }
    }

    private var typeName: String { owner.map(SwiftName.identifier).joined(separator: ".") }
    /// The class's name as a part of other names.
    private var flatName: String { owner.joined(separator: "_") }
    /// The function that registers the key paths: a name of its own, because extensions cannot override.
    private var registration: String { "_registerKeyPaths_\(flatName)" }
    private var properties: [Member] {
        members.filter { if case .property = $0.declaration.kind { true } else { false } }
    }

    func write(to text: inout SwiftText) {
        text.block("extension \(typeName)") { text in
            if !members.isEmpty {
                writeManagedProperties(to: &text)
                for member in members { write(member, to: &text) }
                text.line()
            }
            writeKeyPaths(to: &text)
        }
        text.line()
        text.block("final class ManagedKeyPaths_\(flatName): \(engineNames["ManagedKeyPaths"])") { text in
            text.block("override class func register(of type: NSManagedObject.Type)") { text in
                guard let globalActor else {
                    text.line("(type as? \(typeName).Type)?.\(registration)()")
                    return
                }
                // Names do not depend on the actor, and are registered on any thread. Only a function of the actor can form key paths.
                text.line("guard let type = type as? \(typeName).Type else { return }")
                text.line("let register: \(globalActor) () -> Void = type.\(registration)")
                text.line("unsafeBitCast(register, to: (() -> Void).self)()")
            }
        }
        text.line()
    }

    private func writeManagedProperties(to text: inout SwiftText) {
        text.block("private enum ManagedProperties") { text in
            for member in properties {
                guard case .property(let type) = member.declaration.kind else { continue }
                let name = member.declaration.name
                let value = ManagedDeclaration.valueType(type)
                text.line(
                    "static let \(SwiftName.identifier(name)) = \(engineNames["ManagedProperty"])<\(value)>(\"\(name)\")"
                )
            }
        }
    }

    private func write(_ member: Member, to text: inout SwiftText) {
        let declaration = member.declaration
        let name = SwiftName.identifier(declaration.name)
        func write(_ role: AccessorSymbols.Role, _ prefix: String, _ signature: String, _ body: String) {
            guard let symbol = member.symbols[role] else { return }
            text.line()
            text.line("@_silgen_name(\"\(symbol)\")")
            let function = "\(prefix)_\(flatName)_\(declaration.name)"
            text.line("\(declaration.accessorAccess)final func \(function)\(signature) { \(body) }")
        }
        switch declaration.kind {
        case .property(let type):
            let value = ManagedDeclaration.valueType(type)
            write(.getter, "_get", "() -> \(value)", "ManagedProperties.\(name)[self]")
            write(.setter, "_set", "(_ value: __owned \(value))", "ManagedProperties.\(name)[self] = value")
        case .function(let parameters, let values):
            guard let function = RelationshipFunction(declaration.name, values, properties: propertyTypes) else {
                return
            }
            write(.function, "_call", parameters, function.body)
        }
    }

    /// The class that registers the names of the key paths, for `NSSortDescriptor(keyPath: \Note.title, …)`. The engine finds
    /// it by its name, because an extension cannot override a method.
    private func writeKeyPaths(to text: inout SwiftText) {
        // The key path of an inherited property has the subclass as its root, and `Self` is the subclass.
        let root = isFinal ? typeName : "Object"
        let managed = properties.filter { !$0.declaration.isPrivate }.map(\.declaration.name)
        func statement(_ path: String, _ name: String, label: String = "") -> String {
            "\(engineNames["KeyPathRegistry"]).register(\(label)\\\(root).\(path), as: \"\(name)\")"
        }
        let registrations =
            managed.map { statement(SwiftName.identifier($0), $0) }
            + ownProperties.map { statement(SwiftName.identifier($0), $0, label: "implemented: ") }
            + optionalPaths.map { statement($0.path, $0.name) }
        text.block("fileprivate static func \(registration)()") { text in
            guard !registrations.isEmpty, !isFinal else {
                for line in registrations { text.line(line) }
                return
            }
            text.block("func register<Object: \(typeName)>(_: Object.Type)") { text in
                for line in registrations { text.line(line) }
            }
            text.line("register(Self.self)")
        }
    }
}

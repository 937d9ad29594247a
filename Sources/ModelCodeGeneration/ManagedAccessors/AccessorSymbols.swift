import Foundation

/// The symbols of the accessors of `@NSManaged` declarations in the object files of a module.
///
/// They are read from the compiler's output: it compiles a model of the module, which contains the declarations with empty
/// bodies, and of its types only the names. Each body contains the number of its declaration as a string, next to the name of
/// the function in the output. A private member's name depends on the name of its file, so the model has the same files.
struct AccessorSymbols {
    /// The accessors of a declaration.
    enum Role: String {
        case getter, setter, function
    }

    private var names: [String: String] = [:]

    /// The symbol of an accessor, by the position of its declaration.
    subscript(_ declaration: Int, _ role: Role) -> String? { names[Self.marker(declaration, role)] }

    /// Compiles the model of a module.
    ///
    /// - Throws: ``AccessorError`` with the compiler's messages, at the positions of the declarations.
    init(_ declarations: [ManagedDeclaration], types: ModuleTypes, moduleName: String, compiler: SwiftCompiler) throws {
        guard !declarations.isEmpty else { return }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("accessors-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func write(_ text: String, _ name: String) throws -> String {
            let file = folder.appendingPathComponent(name)
            try Data(text.utf8).write(to: file)
            return file.path
        }
        // The module of the engine's classes, of which only the names are needed.
        let engine = try write(Self.engineClasses, "Engine.swift")
        let module = folder.appendingPathComponent("ManagedObjects.swiftmodule").path
        try compiler.run(["-emit-module", "-module-name", "ManagedObjects", "-o", module, engine])

        let numbered = Array(declarations.enumerated())
        var files = [try write(Self.types(types), "\(UUID().uuidString).swift")]
        for (file, members) in Dictionary(grouping: numbered, by: \.element.file).sorted(by: { $0.key < $1.key }) {
            let name = URL(fileURLWithPath: file).lastPathComponent
            files.append(try write(members.map { Self.member($1, $0) }.joined(separator: "\n"), name))
        }
        let output = try compiler.run(
            ["-emit-silgen", "-wmo", "-parse-as-library", "-module-name", moduleName, "-I", folder.path, "-o", "-"]
                + files)
        read(output)
        for (number, declaration) in numbered where !hasNames(number, declaration) {
            throw AccessorError(
                message:
                    "\(declaration.file):\(declaration.line): error: The compiler's output has no name of the accessor of"
                    + " “\(declaration.name)”.")
        }
    }

    private func hasNames(_ number: Int, _ declaration: ManagedDeclaration) -> Bool {
        if case .function = declaration.kind { return self[number, .function] != nil }
        return self[number, .getter] != nil && self[number, .setter] != nil
    }

    private static func marker(_ declaration: Int, _ role: Role) -> String { "\(role.rawValue) \(declaration)" }

    /// Reads the functions' names and the strings in them.
    private mutating func read(_ output: String) {
        var function: Substring?
        for line in output.split(separator: "\n") {
            if line.hasPrefix("sil "), let start = line.firstIndex(of: "@") {
                function = line[line.index(after: start)...].prefix { $0 != " " }
            } else if let function, let start = line.range(of: "string_literal utf8 \"") {
                let text = line[start.upperBound...].prefix { $0 != "\"" }
                names[String(text)] = String(function)
            }
        }
    }

    // MARK: - The model

    private static let engineClasses = """
        import Foundation
        open class NSManagedObject: NSObject {}
        public class NSManagedObjectID: NSObject {}
        public protocol NSFetchRequestResult: AnyObject {}

        """

    private static let marking = "_accessor"

    private static func types(_ types: ModuleTypes) -> String {
        """
        import Foundation
        import ManagedObjects
        func \(marking)(_ name: StaticString) -> Never { fatalError() }  // because the text is only compiled, to read its symbols
        \(types.declarations)
        """
    }

    private static func member(_ declaration: ManagedDeclaration, _ number: Int) -> String {
        func call(_ role: Role) -> String { "{ \(marking)(\"\(marker(number, role))\") }" }
        let name = SwiftName.identifier(declaration.name)
        let text =
            switch declaration.kind {
            case .property(let type): "var \(name): \(type) { get \(call(.getter)) set \(call(.setter)) }"
            case .function(let parameters, _): "func \(name)\(parameters) \(call(.function))"
            }
        let path = declaration.file.replacingOccurrences(of: "\\", with: "\\\\", options: .literal)
            .replacingOccurrences(of: "\"", with: "\\\"", options: .literal)
        return """
            import Foundation
            import ManagedObjects
            extension \(declaration.owner.map(SwiftName.identifier).joined(separator: ".")) {
            #sourceLocation(file: "\(path)", line: \(declaration.line))
            \(declaration.isPrivate ? "private " : "")\(text)
            #sourceLocation()
            }
            """
    }
}

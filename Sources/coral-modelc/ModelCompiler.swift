import Foundation
import ModelCodeGeneration
import ModelFiles

/// The compiler that the build plugin runs: it compiles `X.xcdatamodeld` to `X.momd` and `X+Classes.swift`, and the mapping
/// model `X.xcmappingmodel` to `X.cdm`. With `accessors` it writes the accessors of a module's `@NSManaged` declarations.
///
/// An error in the model is a line `file:line: error: sentence` on standard error, in the format of compilers, with
/// exit code 1; invalid arguments have exit code 64.
@main
struct ModelCompiler {
    private let arguments: Arguments

    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        do {
            if words.first == "accessors" { return try writeAccessors(AccessorArguments(words.dropFirst())) }
            let arguments = try Arguments(words)
            try ModelCompiler(arguments: arguments).run()
        } catch let error as UsageError {
            complain("coral-modelc: error: \(error.message)\n\(Arguments.usage)\n\(AccessorArguments.usage)")
            exit(64)
        } catch let error as AccessorError {
            complain(error.message)
            exit(1)
        } catch let errors as EntityClassErrors {
            for error in errors.errors { complain(error.compilerMessage) }
            exit(1)
        } catch let error as ModelError {
            for error in error.all { complain(error.compilerMessage) }
            exit(1)
        } catch {
            complain("coral-modelc: error: \(error.localizedDescription)")
            exit(1)
        }
    }

    private func run() throws {
        let source = arguments.model
        if source.pathExtension.lowercased() == "xcmappingmodel" { return try compileMapping(source) }
        let file = try ModelFile.read(at: source)
        let name = source.deletingPathExtension().lastPathComponent
        let classes = try EntityClasses(
            of: file.model, named: source.lastPathComponent, moduleName: arguments.moduleName)
        let output = arguments.output
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        let compiled = output.appendingPathComponent(file.compiledName(name))
        try file.qualified(by: arguments.moduleName).writeCompiled(to: compiled)
        try Self.write(classes.text(), to: output.appendingPathComponent(name + "+Classes.swift"))
    }

    /// Writes the accessors of a module's `@NSManaged` declarations.
    private static func writeAccessors(_ arguments: AccessorArguments) throws {
        let compiler = try SwiftCompiler.ofBuild()
        let files = try arguments.files.map { file in
            (path: file.path, text: String(decoding: try Data(contentsOf: file), as: UTF8.self))
        }
        let accessors = try ManagedAccessors(of: files, moduleName: arguments.moduleName, compiler: compiler)
        for mistake in accessors.mistakes { complain(mistake.compilerMessage) }
        guard accessors.mistakes.isEmpty else { exit(1) }
        try FileManager.default.createDirectory(
            at: arguments.output.deletingLastPathComponent(), withIntermediateDirectories: true)
        try write(accessors.text, to: arguments.output)
    }

    /// Writes a Swift file. An unchanged one is not written, so that it is not compiled again.
    private static func write(_ text: String, to file: URL) throws {
        let data = Data(text.utf8)
        if (try? Data(contentsOf: file)) != data { try data.write(to: file, options: .atomic) }
    }

    private func compileMapping(_ source: URL) throws {
        try FileManager.default.createDirectory(at: arguments.output, withIntermediateDirectories: true)
        let name = source.deletingPathExtension().lastPathComponent
        try ModelReplacement.write(
            MappingSource(contentsOf: source).compiledData(), to: arguments.output.appendingPathComponent(name + ".cdm")
        )
    }

    private static func complain(_ line: String) {
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }
}

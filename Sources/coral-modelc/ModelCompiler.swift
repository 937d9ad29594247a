import Foundation
import ModelCodeGeneration
import ModelFiles

/// The compiler that the build plugin runs: it compiles `X.xcdatamodeld` to `X.momd` and `X+Classes.swift`, and the mapping
/// model `X.xcmappingmodel` to `X.cdm`.
///
/// An error in the model is a line `file:line: error: sentence` on standard error, in the format of compilers, with
/// exit code 1; invalid arguments have exit code 64.
@main
struct ModelCompiler {
    private let arguments: Arguments

    static func main() {
        do {
            let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
            try ModelCompiler(arguments: arguments).run()
        } catch let error as UsageError {
            complain("coral-modelc: error: \(error.message)\n\(Arguments.usage)")
            exit(64)
        } catch let errors as EntityClassErrors {
            for error in errors.errors { complain(error.compilerMessage) }
            exit(1)
        } catch let error as ModelError {
            complain(error.compilerMessage)
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
        let text = Data(classes.text().utf8)
        let swift = output.appendingPathComponent(name + "+Classes.swift")
        // Not written when it is unchanged, so that it is not compiled again.
        if (try? Data(contentsOf: swift)) != text { try text.write(to: swift, options: .atomic) }
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

import Foundation
import ModelFiles

extension ModelFile {
    /// The file name of the compiled model with a name: a `.momd`, or for a single source model a `.mom`.
    public func compiledName(_ name: String) -> String {
        name + (kind == .sourceBundle || kind == .compiledBundle ? ".momd" : ".mom")
    }

    /// The models with the module prefixed to every class name, also to those without a dot in the source.
    ///
    /// On Apple's platforms a class can have a name without its module, by `@objc(Note)`; elsewhere it is found only by
    /// its full name. Version hashes do not cover class names.
    public func qualified(by moduleName: String?) -> ModelFile {
        guard let moduleName else { return self }
        var file = self
        for version in file.versions.indices {
            for entity in file.versions[version].model.entities.indices {
                let model = file.versions[version].model.entities[entity]
                guard let name = model.ownClassName, model.classModuleName == nil else { continue }
                file.versions[version].model.entities[entity].className = moduleName + "." + name
            }
        }
        return file
    }

    /// Writes the compiled form: a bundle for a bundle, a file for a single model. An existing bundle or file is
    /// replaced when the new one is complete.
    ///
    /// - Throws: `ModelError` when a model cannot be compiled, when that would change its version hashes, or when a
    ///   file cannot be written.
    public func writeCompiled(to url: URL) throws {
        if kind == .sourceBundle || kind == .compiledBundle {
            try writeCompiledBundle(to: url)
        } else {
            try ModelFile.writeCompiledModel(model, to: url)
        }
    }
}

extension ModelError {
    /// The error in the format of compilers: `file:line: error: sentence (Entity.property)`.
    public var compilerMessage: String {
        let place = [file ?? "model", line.map { "\($0)" }].compactMap { $0 }.joined(separator: ":")
        let subject = [entity, property].compactMap { $0 }.joined(separator: ".")
        return "\(place): error: \(message)" + (subject.isEmpty ? "" : " (\(subject))")
    }
}

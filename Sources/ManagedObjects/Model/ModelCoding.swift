import Foundation

/// How descriptions take part in keyed archives: a model as a whole, and nothing less than a model.
internal enum ModelCoding {
    /// The key under which an archive holds the model's compiled form.
    static let compiledModelKey = "CompiledModel"

    /// The error of a part that is coded on its own.
    static var onlyWholeModels: CocoaError {
        CocoaError(
            .coderInvalidValue,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "An entity, a property or an index cannot be coded without its model: archive the model instead."
            ])
    }
}

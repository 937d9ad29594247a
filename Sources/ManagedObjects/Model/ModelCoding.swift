import Foundation

/// Coding of descriptions in keyed archives: only whole models can be coded.
internal enum ModelCoding {
    /// The key of the model's compiled form in an archive.
    static let compiledModelKey = "CompiledModel"

    /// The error for a part that is coded on its own.
    static var onlyWholeModels: CocoaError {
        CocoaError(
            .coderInvalidValue,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "An entity, a property or an index cannot be archived without its model: archive the model instead."
            ])
    }
}

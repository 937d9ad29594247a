import Coral
import SwiftData

extension PersistentModel {
    /// A copy of the model, and of the models that belong to it according to the rules; by default those that it owns through cascading
    /// relationships, with the rules of the classes. It is inserted, and not saved.
    ///
    ///     let copy = try recipe.deepCopy()
    ///
    /// - Parameter context: The context of the copies, which may be of another container; by default that of the model.
    /// - Throws: ``ModelToolkitError`` for a model in no context and for invalid rules, and the errors of
    ///   `GraphCopier.copy(_:into:store:progress:)`.
    public func deepCopy(rules: CopyRules = .ownership, into context: ModelContext? = nil) throws -> Self {
        let own = try contextOfToolkit
        let target = context ?? own
        let copy = try GraphCopier(rules: own.rules.applied(to: rules))
            .copy(managedObject, into: target.managedContext)
        target.noteChangesOfObjects()
        guard let model = target.model(of: copy) as? Self else {
            throw CopyError(
                .modelMismatch, "Copies of \(Self.self) have another class.", at: Schema.entityName(for: Self.self))
        }
        return model
    }
}

extension Collection where Element: PersistentModel {
    /// Copies of the models, in their order; one that several of them refer to is copied once. Throws as `deepCopy(rules:into:)` does.
    public func deepCopies(rules: CopyRules = .ownership, into context: ModelContext? = nil) throws -> [Element] {
        guard let first else { return [] }
        let own = try first.contextOfToolkit
        let target = context ?? own
        let copies = try managedObjects.deepCopies(
            rules: own.rules.applied(to: rules), into: target.managedContext)
        target.noteChangesOfObjects()
        return copies.compactMap { target.model(of: $0) as? Element }
    }
}

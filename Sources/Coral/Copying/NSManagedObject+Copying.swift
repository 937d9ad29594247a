import CoreData

extension NSManagedObject {
    /// A copy of the object and of what the rules say belongs to it; by default what it owns: what its cascading
    /// relationships lead to, with the directives in the model's user info.
    ///
    ///     let copy = try note.deepCopy()
    ///
    /// The copies are not saved. Throws as `GraphCopier.copy(_:into:store:progress:)` does.
    public func deepCopy(
        rules: CopyRules = .ownership, into context: NSManagedObjectContext? = nil
    ) throws -> Self {
        let copies = try GraphCopier(rules: rules).copy([self], into: context)
        guard let copy = copies[self] else {
            throw CopyError(
                .modelMismatch, "Copies of \(entity.name ?? "") are of another class.", at: entity.name ?? "")
        }
        return copy
    }
}

extension Collection where Element: NSManagedObject {
    /// Copies of the objects, in their order, and of what the rules say belongs to them; what several of them lead to
    /// is copied once. Throws as `GraphCopier.copy(_:into:store:progress:)` does.
    public func deepCopies(
        rules: CopyRules = .ownership, into context: NSManagedObjectContext? = nil
    ) throws -> [Element] {
        try GraphCopier(rules: rules).copy(Array(self), into: context).roots.compactMap { $0 as? Element }
    }
}

import CoreData

extension NSManagedObject {
    /// A copy of the object and of the objects that belong to it according to the rules; by default those that it owns:
    /// the destinations of its cascading relationships, with the directives in the model's user info.
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
                .modelMismatch, "Copies of \(entity.name ?? "") have another class.", at: entity.name ?? "")
        }
        return copy
    }
}

extension Collection where Element: NSManagedObject {
    /// Copies of the objects, in their order, and of the objects that belong to them according to the rules; objects
    /// that several of them refer to are copied once. Throws as `GraphCopier.copy(_:into:store:progress:)` does, and `CopyError` if
    /// a copy has another class, which is possible in another model; then there are no copies.
    public func deepCopies(
        rules: CopyRules = .ownership, into context: NSManagedObjectContext? = nil
    ) throws -> [Element] {
        let copies = try GraphCopier(rules: rules).copy(Array(self), into: context)
        if let other = copies.roots.first(where: { !($0 is Element) }) {
            let name = other.entity.name ?? ""
            let target = other.managedObjectContext
            target?.performAndWait { for (_, copy) in copies { target?.delete(copy) } }
            throw CopyError(.modelMismatch, "Copies of \(name) have another class.", at: name)
        }
        return copies.roots.compactMap { $0 as? Element }
    }
}

import CoreData

/// The managed objects that an archive refers to, one result for each reference, in order.
public struct ReferencedObjects<Object: NSManagedObject> {
    /// The result of each reference.
    package let results: [Result<Object, ReferenceError>]

    /// The objects that were found, in order.
    public var objects: [Object] { results.compactMap { try? $0.get() } }

    /// The reasons of the others, by their indexes.
    public var missing: [(index: Int, reason: ReferenceError)] {
        results.enumerated().compactMap { index, result in
            if case .failure(let reason) = result { (index, reason) } else { nil }
        }
    }
}

extension NSManagedObjectContext {
    /// The objects in an archive of `archivedReferences()`, or of the older convention.
    ///
    ///     let notes = try context.objects(fromReferences: data, as: Note.self).objects
    ///
    /// Throws `ReferenceError` for data that are not such an archive. Objects of another class are missing.
    public func objects<Object: NSManagedObject>(
        fromReferences data: Data, as type: Object.Type = NSManagedObject.self
    ) throws -> ReferencedObjects<Object> {
        let result = try ObjectArchiver.unarchive(data, in: self)
        let elements = (result.root as? NSArray).map(Array.init) ?? [result.root as Any]
        let reasons = Dictionary(
            result.missing.map { ($0.reference, $0.reason) }, uniquingKeysWith: { first, _ in first })
        return ReferencedObjects(
            results: try elements.map { element in
                switch element {
                case let object as Object: return .success(object)
                case let object as NSManagedObject:
                    return .failure(
                        ReferenceError(
                            .wrongClass, "\(object.entity.name ?? "") is not a \(String(describing: Object.self))."))
                case let reference as ManagedObjectReference:
                    return .failure(
                        reasons[reference] ?? ReferenceError(.rowDeleted, "\(reference) does not exist."))
                default: throw ReferenceError(.unreadable, "The archive contains other objects than references.")
                }
            })
    }
}

extension UserDefaults {
    /// Stores references to objects, in their order.
    ///
    ///     try UserDefaults.standard.setReferences(to: notes, forKey: "open")
    public func setReferences(to objects: some Collection<NSManagedObject>, forKey key: String) throws {
        set(try Array(objects).archivedReferences(), forKey: key)
    }

    /// The objects whose references are stored under a key; none if the key does not exist.
    public func objects<Object: NSManagedObject>(
        forReferencesKey key: String, in context: NSManagedObjectContext, as type: Object.Type = NSManagedObject.self
    ) throws -> ReferencedObjects<Object> {
        guard let data = data(forKey: key) else { return ReferencedObjects(results: []) }
        return try context.objects(fromReferences: data, as: type)
    }
}

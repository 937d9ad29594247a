import CoreData

extension Collection where Element: NSManagedObject {
    /// The context that all of the objects belong to. There must be one object at least.
    ///
    /// - Parameters:
    ///   - purpose: What is done with the objects, for messages: `export`.
    ///   - error: The error with a sentence, thrown if an object is deleted, or has no context or another one.
    package func commonContext(
        to purpose: String, else error: (String) -> any Error
    ) throws -> NSManagedObjectContext {
        var context: NSManagedObjectContext?
        var isCommon = true
        var index = startIndex
        // A loop by index, for all objects of an export or a copy: it allocates nothing in a debug build.
        while index != endIndex {
            let object = self[index]
            formIndex(after: &index)
            let own = object.managedObjectContext
            if !object.isDeleted, own != nil {
                if context == nil { context = own } else if context !== own { isCommon = false }
                continue
            }
            let uri = object.objectID.uriRepresentation()
            let name = object.objectID.isTemporaryID ? "An unsaved \(object.entity.name ?? "")" : uri.absoluteString
            throw error(
                object.isDeleted || !object.objectID.isTemporaryID
                    ? "\(name) is deleted." : "\(name) has no context, or is deleted.")
        }
        guard let context, isCommon else {
            throw error("Objects to \(purpose) must all belong to the same context.")
        }
        return context
    }
}

import CoreData

/// A store that is created in a draft location before it is moved to its final one.
package protocol StoreDraft {
    /// The draft location.
    var url: URL { get }
    /// The final location, without symbolic links.
    var destination: URL { get }

    /// A copy of a store in ``workFolder``. Later changes of the store do not affect it.
    ///
    /// - Parameter isLocked: Whether the store is the one at ``destination``, which is then locked until it is replaced.
    func copy(of url: URL, isLocked: Bool) throws -> URL

    /// Moves the store to its final location.
    func commit(replacing occupant: StoreCreation.Occupant) throws
}

extension StoreDraft {
    /// A folder for files that are needed until the store is moved to its final location.
    package var workFolder: URL {
        url.deletingLastPathComponent().appendingPathComponent("source", isDirectory: true)
    }
}

/// A store on a server that is created in a draft location before it is moved to its final one.
package protocol ServerStoreDraft {
    /// The draft location.
    var url: URL { get }

    /// Moves the store to its final location.
    func commit() throws

    /// Removes the store, if it cannot be completed.
    func remove()
}

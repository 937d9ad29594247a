import CoreData

/// The storage of chores.
public enum Checklist {
    private static let model = Bundle.module.url(forResource: "Checklist", withExtension: "momd")
        .flatMap(NSManagedObjectModel.init(contentsOf:))

    /// A container with its store at a URL; with `/dev/null` the store is in memory.
    public static func makeContainer(at url: URL) throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Checklist", managedObjectModel: model ?? NSManagedObjectModel())
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        return container
    }
}

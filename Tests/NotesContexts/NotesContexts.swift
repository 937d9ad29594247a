import Coral
import NotesModel

/// A context with a store of its own in memory, with the notes model of the examples.
package func makeNotesContext() throws -> NSManagedObjectContext {
    try makeContext(.notes())
}

package func makeContext(_ model: NSManagedObjectModel, at url: URL? = nil) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: url ?? URL(fileURLWithPath: "/dev/null"), options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
}

extension NSManagedObjectContext {
    @discardableResult
    package func insert(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }
}

/// The records of a document.
package func records(in data: Data, model: NSManagedObjectModel) throws -> [GraphRecord] {
    var reader = try JSONDocumentReader(data, schema: GraphSchema(model))
    var records: [GraphRecord] = []
    while let record = try reader.next() { records.append(record) }
    return records
}

extension Data {
    package var text: String { String(decoding: self, as: UTF8.self) }
}

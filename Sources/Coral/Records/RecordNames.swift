import CoreData
import GraphDocuments

/// Gives objects their names in one document: `Note/p12` in the document's store, the whole URI for an object of another
/// store, `#3` for one that was never saved, counted in the order in which it is met.
final class RecordNames {
    /// The UUID of the store that the document's header names.
    let store: String?
    /// Names by declared identity, where the document has such.
    let keys: KeyNames?
    private var numbers: [NSManagedObjectID: Int] = [:]

    init(store: String?, keys: KeyNames? = nil) {
        self.store = store
        self.keys = keys
    }

    func name(of id: NSManagedObjectID) -> RecordID {
        if let name = keys?.name(of: id) { return name }
        if id.isTemporaryID { return .number(number(of: id)) }
        let name = ObjectName(id)
        guard let key = name.primaryKey, name.store == store else {
            return RecordID(id.uriRepresentation().absoluteString)
        }
        return .stored(entity: name.entity, primaryKey: key)
    }

    private func number(of id: NSManagedObjectID) -> Int {
        if let number = numbers[id] { return number }
        let number = numbers.count + 1
        numbers[id] = number
        return number
    }
}

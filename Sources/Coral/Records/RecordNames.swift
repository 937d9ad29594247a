import CoreData
import GraphDocuments

/// Creates the ids of objects in one document: `Note/p12` for an object of the document's store, the whole URI for one
/// of another store, `#3` for an unsaved one, numbered in the order of first use.
final class RecordNames {
    /// The UUID of the store in the document's header.
    let store: String?
    /// Ids by natural keys, if the document has them.
    let keys: KeyNames?
    /// The references to objects outside the document; nil where they are not treated differently: in whole stores, in
    /// the plain layout, and with a mapping.
    var outside: OutsideReferences?
    /// The parts of IDs.
    let objects = ObjectNames()
    private var numbers: [ObjectIDKey: Int] = [:]

    init(store: String?, keys: KeyNames? = nil) {
        self.store = store
        self.keys = keys
    }

    func name(of id: NSManagedObjectID) -> RecordID {
        if let name = keys?.name(of: id) { return name }
        if id.isTemporaryID { return .number(number(of: id)) }
        let name = objects.name(of: id)
        guard let key = name.primaryKey, name.store == store else {
            return RecordID(id.uriRepresentation().absoluteString)
        }
        return .stored(entity: name.entity, primaryKey: key)
    }

    /// The id of an object that a relationship refers to. That of an object outside the document contains its natural
    /// key, by which the object is found in other stores.
    func reference(to id: NSManagedObjectID) -> RecordID {
        guard let outside, !outside.isMember(id), let key = outside.keys.name(of: id) else { return name(of: id) }
        return id.isTemporaryID || keys != nil ? key : name(of: id).adding(key: key)
    }

    private func number(of id: NSManagedObjectID) -> Int {
        if let number = numbers[ObjectIDKey(id)] { return number }
        let number = numbers.count + 1
        numbers[ObjectIDKey(id)] = number
        return number
    }
}

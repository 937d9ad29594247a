import CoreData
import GraphDocuments

/// The parts of an object's ID: the store and the row, or a temporary identifier.
struct ObjectName: Hashable {
    /// The UUID of the store; nil for an object that was never saved.
    var store: String?
    var entity: String
    /// The primary key; nil for an object that was never saved, and for stores whose keys are not numbers.
    var primaryKey: Int64?
    /// The last component of the URI, if there is no key.
    var text = ""

    init(_ id: NSManagedObjectID) {
        entity = id.entity.name ?? ""
        if readParts(of: id) { return }
        let uri = id.uriRepresentation()
        let last = uri.lastPathComponent
        if !id.isTemporaryID {
            store = uri.host ?? ""
            if last.first == "p" { primaryKey = Int64(last.dropFirst()) }
        }
        if primaryKey == nil { text = last }
    }
}

extension ObjectName: Comparable {
    /// By entity, then by primary key as a number; objects without one come last.
    static func < (left: ObjectName, right: ObjectName) -> Bool {
        if left.entity != right.entity { return left.entity < right.entity }
        if left.store != right.store { return (left.store ?? "\u{10FFFF}") < (right.store ?? "\u{10FFFF}") }
        switch (left.primaryKey, right.primaryKey) {
        case (let a?, let b?): return a < b
        case (_?, nil): return true
        case (nil, _?): return false
        case (nil, nil): return left.text < right.text
        }
    }
}

extension RecordID {
    /// The URI of the object with this id, in the store with that UUID unless the id states its own; nil for an id that
    /// does not belong to a store.
    func uri(inStore store: String?, entity: String? = nil) -> URL? {
        if text.hasPrefix("x-coredata:") { return URL(string: withoutAddedKey.text) }
        guard let store, let key = primaryKey, let entity = entity ?? self.entity else { return nil }
        return URL(string: "x-coredata://\(store)/\(entity)/p\(key)")
    }
}

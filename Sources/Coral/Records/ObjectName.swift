import CoreData
import GraphDocuments

/// What an object's ID says: which row of which store, or that there is none yet.
struct ObjectName: Hashable {
    /// The UUID of the store; nil for an object that was never saved.
    var store: String?
    var entity: String
    /// The primary key; nil for an object that was never saved, and in stores whose keys are no numbers.
    var primaryKey: Int64?
    /// The last part of the URI, where there is no key.
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
    /// By entity, then by key as a number; objects without one come last.
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
    /// The URI of the object that the id names, in the store of that UUID unless it says its own; nil for an id that is none
    /// of a store.
    func uri(inStore store: String?, entity: String? = nil) -> URL? {
        if text.hasPrefix("x-coredata:") { return URL(string: text) }
        guard let store, let key = primaryKey, let entity = entity ?? self.entity else { return nil }
        return URL(string: "x-coredata://\(store)/\(entity)/p\(key)")
    }
}

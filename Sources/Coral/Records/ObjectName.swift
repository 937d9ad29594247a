import CoreData
import GraphDocuments

/// What an object's ID says: which row of which store, or that there is none yet.
struct ObjectName: Hashable {
    /// The UUID of the store; nil for an object that was never saved.
    var store: String?
    var entity: String
    /// The primary key; nil for an object that was never saved, and in stores whose keys are no numbers.
    var primaryKey: Int64?
    /// The last part of the URI.
    var text: String

    init(_ id: NSManagedObjectID) {
        entity = id.entity.name ?? ""
        let uri = id.uriRepresentation()
        text = uri.lastPathComponent
        guard !id.isTemporaryID else { return }
        store = uri.host ?? ""
        if text.first == "p" { primaryKey = Int64(text.dropFirst()) }
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

import Coral

/// The short name of a stored object: `Note/p12`.
struct StoredName: Comparable {
    let entity: String
    let key: String

    init(_ id: NSManagedObjectID) {
        entity = id.entity.name ?? ""
        key = id.uriRepresentation().lastPathComponent
    }

    /// The primary key; nil for an object without a number.
    var primaryKey: Int64? { Int64(key.dropFirst()) }

    var text: String { "\(entity)/\(key)" }

    /// Replaces the URIs of objects in a sentence by their short names.
    static func shortened(_ sentence: String) -> String {
        sentence.replacingOccurrences(of: "x-coredata://[^/ ]*/", with: "", options: .regularExpression)
    }

    /// IDs in the order of the objects' names.
    static func sorted(_ ids: [NSManagedObjectID]) -> [NSManagedObjectID] {
        ids.map { (StoredName($0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// Objects in the order of their names.
    static func sorted<Object: NSManagedObject>(_ objects: [Object]) -> [Object] {
        objects.map { (StoredName($0.objectID), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    static func < (left: StoredName, right: StoredName) -> Bool {
        if left.entity != right.entity { return left.entity < right.entity }
        // Keys are the letter p and a number: a longer one is greater.
        return (left.key.utf8.count, left.key) < (right.key.utf8.count, right.key)
    }
}

import CoreData
import GraphDocuments

/// The parts of an object's ID: the store and the row, or a temporary identifier.
package struct ObjectName: Hashable {
    /// The UUID of the store; nil for an object that was never saved.
    package var store: String?
    package var entity: String
    /// The primary key; nil for an object that was never saved, and for stores whose keys are not numbers.
    package var primaryKey: Int64?
    /// The last component of the URI, if there is no key.
    package var text = ""

    package init(store: String?, entity: String, primaryKey: Int64) {
        self.store = store
        self.entity = entity
        self.primaryKey = primaryKey
    }

    /// - Parameter known: The UUID of a store that the object probably is in, so that equal names share a text.
    package init(_ id: NSManagedObjectID, in known: String? = nil) {
        if let name = Engine.current.name(of: id) {
            self = name
            return
        }
        entity = id.entity.name ?? ""
        // In one pass over the text: x-coredata://STORE/Entity/p12
        var uri = id.uriRepresentation().absoluteString
        let isTemporary = id.isTemporaryID
        (store, primaryKey, text) = uri.withUTF8 { ObjectName.parts(of: $0, isTemporary: isTemporary, store: known) }
    }

    private static func parts(
        of uri: UnsafeBufferPointer<UInt8>, isTemporary: Bool, store known: String?
    ) -> (store: String?, primaryKey: Int64?, text: String) {
        let slash = UInt8(ascii: "/")
        guard let first = uri.firstIndex(of: slash), let last = uri.lastIndex(of: slash), first + 2 < last,
            let end = uri[(first + 2)...].firstIndex(of: slash)
        else { return (nil, nil, decoded(uri[...])) }
        let name = uri[(last + 1)...]
        if isTemporary { return (nil, nil, decoded(name)) }
        let text = uri[(first + 2)..<end]
        let store = known.flatMap { $0.utf8.elementsEqual(text) ? $0 : nil } ?? decoded(text)
        if name.first == UInt8(ascii: "p"), let key = number(name.dropFirst()) { return (store, key, "") }
        return (store, nil, decoded(name))
    }

    private static func number(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int64? {
        guard (1...18).contains(digits.count) else { return Int64(String(decoding: digits, as: UTF8.self)) }
        var number: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else {
                return Int64(String(decoding: digits, as: UTF8.self))
            }
            number = number * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return number
    }

    private static func decoded(_ part: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        let text = String(decoding: part, as: UTF8.self)
        return part.contains(UInt8(ascii: "%")) ? text.removingPercentEncoding ?? text : text
    }
}

extension ObjectName: Comparable {
    /// By entity, then by primary key as a number; objects without one come last.
    package static func < (left: ObjectName, right: ObjectName) -> Bool {
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

extension Sequence {
    /// The elements in the order of documents: by the names of the IDs of their objects. Each name is read once; for a single
    /// element no name is read.
    package func sortedByName(of id: (Element) -> NSManagedObjectID) -> [Element] {
        let elements = Array(self)
        guard elements.count > 1 else { return elements }
        return elements.map { (ObjectName(id($0)), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
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

/// The names of objects by their IDs. With Core Data's public API a name is read from a URI, which costs more than
/// looking up a known one.
package final class ObjectNames {
    private var names: [ObjectIDKey: ObjectName] = [:]
    /// The store of the last name, which is usually that of the next one.
    private var lastStore: String?
    /// The maximum number of cached names. When it is reached, all are removed, so that memory does not grow with the store.
    private static let limit = 50_000

    package func name(of id: NSManagedObjectID) -> ObjectName {
        if let name = Engine.current.name(of: id) { return name }
        if let name = names[ObjectIDKey(id)] { return name }
        if names.count >= ObjectNames.limit { names.removeAll(keepingCapacity: true) }
        let name = newName(of: id)
        names[ObjectIDKey(id)] = name
        return name
    }

    /// The name of an ID that is not looked up again. It is not cached.
    package func newName(of id: NSManagedObjectID) -> ObjectName {
        if let name = Engine.current.name(of: id) { return name }
        let name = ObjectName(id, in: lastStore)
        lastStore = name.store
        return name
    }
}

/// An object's ID as the key of a dictionary or a member of a set.
///
/// Its equality is that of two IDs: a set of the IDs themselves compares them as values of type `Any`, which costs a cast.
struct ObjectIDKey: Hashable {
    let id: NSManagedObjectID

    init(_ id: NSManagedObjectID) { self.id = id }

    static func == (left: ObjectIDKey, right: ObjectIDKey) -> Bool { left.id == right.id }

    func hash(into hasher: inout Hasher) { hasher.combine(id.hash) }
}

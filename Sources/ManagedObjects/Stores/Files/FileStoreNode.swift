/// The cache node of a store in a file. It remembers in what order its file has its values, so that what has not changed is
/// written as it was read.
final class FileStoreNode: NSAtomicStoreCacheNode {
    /// The names of attributes and relationships, as the format spells them.
    var attributeNames: [String] = []
    var relationshipNames: [String] = []
    /// The references of unordered relationships with several members, by the names of these.
    var references: [String: [Int64]] = [:]

    /// The object's number in the file.
    var reference: Int64 { (objectID as? ReferencedObjectID).flatMap { Int64($0.text) } ?? 0 }

    /// Takes over the order of an object in a file.
    func remember(_ object: StoreDocument.Object) {
        attributeNames = object.attributes.map(\.name)
        relationshipNames = object.relationships.map(\.name)
        for relationship in object.relationships where relationship.references.count > 1 {
            references[relationship.name] = relationship.references
        }
    }

    /// The references of a relationship's members: those that stay in the order of the file, new ones behind them by number.
    func ordered(_ members: [Int64], named name: String) -> [Int64] {
        let known = references[name] ?? []
        let present = Set(members)
        let kept = known.filter(present.contains)
        return kept + present.subtracting(kept).sorted()
    }

    /// Elements in the order of remembered names; others behind them in their own.
    static func sorted<Element>(_ elements: [Element], by names: [String], name: (Element) -> String) -> [Element] {
        var places: [String: Int] = [:]
        for (place, name) in names.enumerated() { places[name] = place }
        return elements.enumerated().sorted { one, other in
            (places[name(one.element)] ?? .max, one.offset) < (places[name(other.element)] ?? .max, other.offset)
        }.map(\.element)
    }
}

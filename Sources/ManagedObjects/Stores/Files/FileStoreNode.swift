/// The cache node of a store in a file. It keeps the order of the values in its file, so that unchanged content is
/// written as it was read.
final class FileStoreNode: NSAtomicStoreCacheNode {
    /// The names of attributes and relationships in the format's spelling.
    var attributeNames: [String] = []
    var relationshipNames: [String] = []
    /// The references of unordered relationships with several members, by the names of the relationships.
    var references: [String: [Int64]] = [:]

    /// The object's number in the file.
    var reference: Int64 { (objectID as? ReferencedObjectID).flatMap { Int64($0.text) } ?? 0 }

    /// Records the order of an object's values in a file.
    func remember(_ object: StoreDocument.Object) {
        attributeNames = object.attributes.map(\.name)
        relationshipNames = object.relationships.map(\.name)
        for relationship in object.relationships where relationship.references.count > 1 {
            references[relationship.name] = relationship.references
        }
    }

    /// The references of a relationship's members: known members in the order of the file, new ones after them by
    /// number.
    func ordered(_ members: [Int64], named name: String) -> [Int64] {
        let known = references[name] ?? []
        let present = Set(members)
        let kept = known.filter(present.contains)
        return kept + present.subtracting(kept).sorted()
    }

    /// Sorts elements in the order of recorded names; others follow in their own order.
    static func sorted<Element>(_ elements: [Element], by names: [String], name: (Element) -> String) -> [Element] {
        var positions: [String: Int] = [:]
        for (position, name) in names.enumerated() { positions[name] = position }
        return elements.enumerated().sorted { one, other in
            (positions[name(one.element)] ?? .max, one.offset) < (positions[name(other.element)] ?? .max, other.offset)
        }.map(\.element)
    }
}

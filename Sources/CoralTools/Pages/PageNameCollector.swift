import Coral
import GraphDocuments

/// Collects display names of a graph's objects: the value of an attribute such as `title`, else of the first attribute
/// with text.
package struct PageNameCollector: GraphWriter {
    /// The display names of the objects; nil for objects without one.
    private(set) var names: [RecordID: String?] = [:]
    /// The number of objects of each entity.
    private(set) var counts: [String: Int] = [:]
    /// The best name so far of the current object, with its rank; the lowest rank is best.
    private var id: RecordID?
    private var best: (text: String, rank: Int)?

    /// The name of the attribute whose values are the display names of an entity's objects; nil if no attribute has text.
    package static func nameAttribute(of entity: NSEntityDescription) -> String? {
        let texts = entity.attributesByName.filter { $0.value.attributeType == .stringAttributeType }.keys
        return texts.min { (rank(of: $0), $0) < (rank(of: $1), $1) }
    }

    private static func rank(of attribute: String) -> Int {
        preferred.firstIndex(of: attribute) ?? preferred.count
    }

    /// A text as a name: on one line, truncated; nil if it consists of spaces.
    package static func name(_ text: String) -> String? {
        let line = text.prefix(lengthLimit * 4).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.isEmpty ? nil : line.count > lengthLimit ? line.prefix(lengthLimit - 1) + "…" : line
    }

    /// Attributes used as display names, the best first.
    private static let preferred = [
        "title", "name", "fullName", "displayName", "label", "firstName", "lastName", "subject", "caption", "headline",
        "filename", "fileName", "key", "code",
    ]
    private static let lengthLimit = 60

    package mutating func begin(_ header: DocumentHeader) {}
    package mutating func finish() {}
    package mutating func beginRelationship(_ name: String, isToMany: Bool, isOrdered: Bool) {}
    package mutating func reference(_ id: RecordID) {}
    package mutating func endRelationship() {}
    package mutating func nullRelationship(_ name: String) {}

    package mutating func beginObject(id: RecordID?, entity: String, isDeleted: Bool) {
        self.id = id
        best = nil
        counts[entity, default: 0] += 1
    }

    package mutating func attribute(_ name: String, _ value: GraphValue, declaredAs type: GraphSchema.Attribute?) {
        guard case .string(let text) = value else { return }
        let rank = Self.rank(of: name)
        guard rank < best?.rank ?? .max, let line = Self.name(text) else { return }
        best = (line, rank)
    }

    package mutating func endObject() {
        guard let id else { return }
        names[id] = .some(best?.text)
    }
}

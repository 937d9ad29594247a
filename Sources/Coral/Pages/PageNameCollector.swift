import GraphDocuments

/// Collects display names of a graph's objects: the value of an attribute such as `title`, else of the first attribute
/// with text.
struct PageNameCollector: GraphWriter {
    /// The display names of the objects; nil for objects without one.
    private(set) var names: [RecordID: String?] = [:]
    /// The number of objects of each entity.
    private(set) var counts: [String: Int] = [:]
    /// The best name so far of the current object, with its rank; the lowest rank is best.
    private var id: RecordID?
    private var best: (text: String, rank: Int)?

    /// Attributes used as display names, the best first.
    private static let preferred = [
        "title", "name", "fullName", "displayName", "label", "firstName", "lastName", "subject", "caption", "headline",
        "filename", "fileName", "key", "code",
    ]
    private static let lengthLimit = 60

    mutating func begin(_ header: DocumentHeader) {}
    mutating func finish() {}
    mutating func beginRelationship(_ name: String, isToMany: Bool, isOrdered: Bool) {}
    mutating func reference(_ id: RecordID) {}
    mutating func endRelationship() {}
    mutating func nullRelationship(_ name: String) {}

    mutating func beginObject(id: RecordID?, entity: String, isDeleted: Bool) {
        self.id = id
        best = nil
        counts[entity, default: 0] += 1
    }

    mutating func attribute(_ name: String, _ value: GraphValue, declaredAs type: GraphSchema.Attribute?) {
        guard case .string(let text) = value else { return }
        let rank = Self.preferred.firstIndex(of: name) ?? Self.preferred.count
        guard rank < best?.rank ?? .max else { return }
        let line = text.prefix(Self.lengthLimit * 4).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !line.isEmpty else { return }
        best = (line.count > Self.lengthLimit ? line.prefix(Self.lengthLimit - 1) + "…" : line, rank)
    }

    mutating func endObject() {
        guard let id else { return }
        names[id] = .some(best?.text)
    }
}

import Coral
import GraphDocuments

/// Collects display names of a graph's objects: the value of an attribute such as `title`, else of the first attribute
/// with text.
package struct PageNameCollector: GraphWriter {
    /// The display names of the objects; nil for objects without one.
    private(set) var names: [RecordID: String?] = [:]
    /// The number of objects of each entity.
    private(set) var counts: [String: Int] = [:]
    /// The attributes that name the objects of entities.
    private let labels: [String: String]
    /// The maximum number of objects.
    private let objectLimit: Int
    /// The one of the current object's entity.
    private var label: String?
    /// The best name so far of the current object, with its rank; the lowest rank is best.
    private var id: RecordID?
    private var best: (text: String, rank: Int)?

    /// - Parameter labels: The attributes that name objects, by the names of the entities.
    init(labels: [String: String], objectLimit: Int) {
        self.labels = labels
        self.objectLimit = objectLimit
    }

    /// A text as a name: on one line, truncated; nil if it consists of spaces.
    package static func name(_ text: String) -> String? {
        let line = text.prefix(lengthLimit * 4).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return line.isEmpty ? nil : line.count > lengthLimit ? line.prefix(lengthLimit - 1) + "…" : line
    }

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
        label = labels[entity]
        counts[entity, default: 0] += 1
    }

    package mutating func attribute(_ name: String, _ value: GraphValue, declaredAs type: GraphSchema.Attribute?) {
        guard case .string(let text) = value else { return }
        let rank = name == label ? -1 : LabelAttribute.rank(of: name)
        guard rank < best?.rank ?? .max, let line = Self.name(text) else { return }
        best = (line, rank)
    }

    package mutating func endObject() throws {
        guard let id else { return }
        names[id] = .some(best?.text)
        guard names.count <= objectLimit else {
            throw PageError(.tooManyObjects, "The page would have more than \(objectLimit) objects.")
        }
    }
}

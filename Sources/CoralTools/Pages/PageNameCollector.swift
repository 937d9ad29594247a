import Coral
import GraphDocuments

/// Collects display names of a graph's objects: the value of an attribute such as `title`, else of the first attribute
/// with text.
package struct PageNameCollector: GraphWriter {
    /// The display names of the objects; nil for objects without one.
    private(set) var names: [RecordID: String?] = [:]
    /// The number of objects of each entity.
    private(set) var counts: [String: Int] = [:]
    /// The attributes that the user info of entities names, by entity.
    private let stated: [String: String]
    /// The one of the current object's entity.
    private var label: String?
    /// The best name so far of the current object, with its rank; the lowest rank is best.
    private var id: RecordID?
    private var best: (text: String, rank: Int)?

    /// The key in an entity's user info that names the attribute.
    package static let labelKey = "coral.label"

    /// - Parameter model: The model of the objects.
    init(_ model: NSManagedObjectModel?) {
        stated = (model?.entities ?? []).reduce(into: [:]) { $0[$1.name ?? ""] = Self.statedAttribute(of: $1) }
    }

    /// The attribute with text that the user info of an entity, or else of its nearest ancestor, names.
    private static func statedAttribute(of entity: NSEntityDescription) -> String? {
        sequence(first: entity, next: \.superentity).lazy.compactMap { $0.userInfo?[labelKey] as? String }
            .first { entity.attributesByName[$0]?.attributeType == .stringAttributeType }
    }

    /// The name of the attribute whose values are the display names of an entity's objects; nil if no attribute has text.
    ///
    /// It is the one that the key `coral.label` in the user info of the entity or an ancestor names. Otherwise it is `title`, `name` or another of the
    /// usual names; one that ends with such a word (`partnerName`); one that reads as a text (`text`, `messageBody`); any that is
    /// not an identifier; or any.
    package static func nameAttribute(of entity: NSEntityDescription) -> String? {
        if let stated = statedAttribute(of: entity) { return stated }
        let texts = entity.attributesByName.filter { $0.value.attributeType == .stringAttributeType }.keys
        return texts.min { (rank(of: $0), $0) < (rank(of: $1), $1) }
    }

    private static func rank(of attribute: String) -> Int {
        // Inferred names are in lower case.
        if let index = preferred.firstIndex(where: { $0.lowercased() == attribute.lowercased() }) { return index }
        let kinds: [Set<String>] = [["name", "title"], texts, identifiers.union(classes)]
        let word = lastWord(of: attribute)
        return preferred.count + [0: 0, 1: 1, 2: 3][kinds.firstIndex { $0.contains(word) } ?? -1, default: 2]
    }

    /// The last word of a name in lower case: `jid` of `fromJID`, `name` of `partnerName`.
    private static func lastWord(of name: String) -> String {
        let letters = Array(name.unicodeScalars)
        var start = letters.count
        while start > 0, letters[start - 1].properties.isUppercase { start -= 1 }
        if start == letters.count {
            while start > 0, !letters[start - 1].properties.isUppercase, letters[start - 1] != "_" { start -= 1 }
            if start > 0, letters[start - 1].properties.isUppercase { start -= 1 }
        }
        var word = String.UnicodeScalarView()
        word.append(contentsOf: letters[start...])
        return String(word).lowercased()
    }

    /// Last words of the names of attributes with a text that people read.
    private static let texts: Set<String> = [
        "body", "comment", "content", "description", "message", "notes", "question", "summary", "text", "value",
    ]

    /// Whether an attribute identifies objects for programs, by its name: `identifier`, `senderID`.
    package static func isIdentifier(_ attribute: String) -> Bool { identifiers.contains(lastWord(of: attribute)) }

    /// Last words of the names of attributes that only programs read.
    private static let identifiers: Set<String> = [
        "checksum", "guid", "hash", "id", "identifier", "jid", "token", "uid", "uuid", "version",
    ]

    /// Last words of the names of attributes that classify objects, or say where they are.
    private static let classes: Set<String> = [
        "language", "locale", "path", "state", "status", "type", "uri", "url", "zone",
    ]

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
        label = stated[entity]
        counts[entity, default: 0] += 1
    }

    package mutating func attribute(_ name: String, _ value: GraphValue, declaredAs type: GraphSchema.Attribute?) {
        guard case .string(let text) = value else { return }
        let rank = name == label ? -1 : Self.rank(of: name)
        guard rank < best?.rank ?? .max, let line = Self.name(text) else { return }
        best = (line, rank)
    }

    package mutating func endObject() {
        guard let id else { return }
        names[id] = .some(best?.text)
    }
}

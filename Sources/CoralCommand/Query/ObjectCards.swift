import Coral
import CoralTools

/// An object with all its values, and the objects that it refers to, as text or JSON.
struct ObjectCards {
    /// An object and its distance from the first one.
    private struct Card {
        let object: NSManagedObject
        let depth: Int
    }

    private let cards: [Card]
    /// The number of objects that are not included although included objects refer to them within the depth. These objects may
    /// refer to more.
    let omittedCount: Int
    private let zone: TimeZone?
    /// The number of members of a to-many relationship that the text names.
    private static let memberLimit = 10

    /// Collects an object and the objects within a number of steps along relationships, breadth first, each once. Must be
    /// called on the context's queue, like all methods.
    ///
    /// - Parameters:
    ///   - depth: The number of steps; 0 for the object only.
    ///   - limit: The maximum number of objects.
    ///   - zone: The time zone of dates; nil for UTC.
    init(_ object: NSManagedObject, depth: Int, limit: Int, zone: TimeZone?) {
        self.zone = zone
        var cards = [Card(object: object, depth: 0)]
        var known: Set<NSManagedObjectID> = [object.objectID]
        var omitted = 0
        var next = 0
        while next < cards.count, cards[next].depth < depth {
            for (_, targets) in Self.relationships(of: cards[next].object) {
                for target in targets where known.insert(target.objectID).inserted {
                    guard cards.count < limit else {
                        omitted += 1
                        continue
                    }
                    cards.append(Card(object: target, depth: cards[next].depth + 1))
                }
            }
            next += 1
        }
        self.cards = cards
        omittedCount = omitted
    }

    private static func relationships(
        of object: NSManagedObject
    ) -> [(relationship: NSRelationshipDescription, targets: [NSManagedObject])] {
        object.entity.relationshipsByName.sorted { $0.key < $1.key }.map { name, relationship in
            let value = object.value(forKey: name)
            if let ordered = value as? NSOrderedSet {
                return (relationship, ordered.array.compactMap { $0 as? NSManagedObject })
            }
            if let set = value as? NSSet {
                return (relationship, StoredName.sorted(set.allObjects.compactMap { $0 as? NSManagedObject }))
            }
            return (relationship, (value as? NSManagedObject).map { [$0] } ?? [])
        }
    }

    private static func attributes(of object: NSManagedObject) -> [(name: String, cell: QueryCell)] {
        object.entity.attributesByName.keys.sorted().map { name in
            (name, QueryColumn(name, of: object.entity).cell(of: object))
        }
    }

    // MARK: - Text

    /// The objects as text, separated by blank lines. Null values are omitted.
    var text: String {
        let cards = cards.map { text(of: $0.object) }.joined(separator: "\n")
        return omittedCount == 0
            ? cards
            : cards + "\nAt least \(Quantity.count(omittedCount, "more object")) not shown; --limit shows more.\n"
    }

    private func text(of object: NSManagedObject) -> String {
        let attributes = Self.attributes(of: object).compactMap { name, cell in
            let text = Self.shown(cell, in: zone)
            return text.isEmpty ? nil : (name, text)
        }
        let relationships = Self.relationships(of: object).filter { !$0.targets.isEmpty }.map {
            ($0.relationship.name, "-> " + Self.names(of: $0.targets))
        }
        let lines = attributes + relationships
        let width = lines.map(\.0.count).max() ?? 0
        let title = TextStyle.bold.text(StoredName(object.objectID).text)
        let uri = TextStyle.faint.text(object.objectID.uriRepresentation().absoluteString)
        return "\(title)  \(uri)\n"
            + lines.map { "  \($0)\(String(repeating: " ", count: width - $0.count))  \($1)\n" }.joined()
    }

    private static func shown(_ cell: QueryCell, in zone: TimeZone?) -> String {
        if case .value(.string(let text), _) = cell, text.isEmpty { return "\"\"" }
        // Lines of text are indented, so that the names of properties stay visible.
        return content(of: cell, in: zone).split(omittingEmptySubsequences: false) { ["\n", "\r\n"].contains($0) }
            .joined(separator: "\n      ")
    }

    /// The content of archives and bytes is shown instead of their size.
    private static func content(of cell: QueryCell, in zone: TimeZone?) -> String {
        switch cell {
        case .value(.transformable(let value), _):
            if let readable = value.readable ?? value.archive.flatMap({ ReadableValue(archive: $0) }) {
                return QueryAnswer.cut(text(of: readable, in: zone))
            }
            return value.archive.map { text(of: ReadableBytes($0), byteCount: $0.count, in: zone) } ?? ""
        case .value(.data(let data), _): return text(of: ReadableBytes(data), byteCount: data.count, in: zone)
        case .value(.composite(let elements), _):
            let members = elements.map { "\($0.name): \(element($0.value, in: zone))" }
            return "{\(members.joined(separator: ", "))}"
        default: return cell.text(in: zone)
        }
    }

    private static func element(_ value: GraphValue, in zone: TimeZone?) -> String {
        switch value {
        case .data, .transformable: QueryAnswer.cut(content(of: .value(value, nil), in: zone))
        case .composite: content(of: .value(value, nil), in: zone)
        default: ValueText.text(value)
        }
    }

    private static func text(of content: ReadableBytes, byteCount: Int, in zone: TimeZone?) -> String {
        let size = Quantity.bytes(Int64(byteCount))
        switch content {
        case .text(let text): return text
        case .tree(let tree): return QueryAnswer.cut(text(of: tree, in: zone))
        case .fields:
            var lines = ["\(size), a message of Protocol Buffers"]
            content.forEachText { lines.append("\($0.dropFirst()): \($1)") }
            return lines.joined(separator: "\n")
        case .picture(let type): return "\(size), \(type)"
        case .uuid(let uuid): return uuid.uuidString
        case .compressed(let name, let content, let count):
            return "\(name): \(text(of: content, byteCount: count, in: zone))"
        case .hexadecimal(let digits): return "\(size): \(digits)"
        }
    }

    /// Recursive; the reader of archives limits the depth.
    private static func text(of value: ReadableValue, in zone: TimeZone?) -> String {
        switch value {
        case .value(let value): QueryCell.value(value, nil).text(in: zone)
        case .array(let values): "[\(values.map { text(of: $0, in: zone) }.joined(separator: ", "))]"
        case .dictionary(let members):
            "{\(members.map { "\($0.name): \(text(of: $0.value, in: zone))" }.joined(separator: ", "))}"
        }
    }

    private static func names(of objects: [NSManagedObject]) -> String {
        let names = objects.prefix(memberLimit).map { StoredName($0.objectID).text }.joined(separator: ", ")
        return objects.count > memberLimit ? "\(names), … (\(Quantity.grouped(objects.count)))" : names
    }

    // MARK: - JSON

    /// An array of the objects: `id`, `uri`, `depth`, and the members `attributes` and `relationships`.
    func json() throws -> String {
        let sink = MemorySink()
        let output = ByteOutput(to: sink)
        var writer = JSONWriter(to: output)
        try writer.beginArray()
        for card in cards {
            try writer.lineBreak()
            try write(card, to: &writer)
        }
        try writer.endLine()
        try writer.endArray()
        try writer.endLine()
        try output.finish()
        return String(decoding: sink.data, as: UTF8.self)
    }

    private func write(_ card: Card, to writer: inout JSONWriter) throws {
        try writer.beginObject()
        try writer.key("id")
        try writer.string(StoredName(card.object.objectID).text)
        try writer.key("uri")
        try writer.string(card.object.objectID.uriRepresentation().absoluteString)
        try writer.key("depth")
        try writer.integer(Int64(card.depth))
        try writer.key("attributes")
        try writer.beginObject()
        for (name, cell) in Self.attributes(of: card.object) {
            try writer.key(name)
            try cell.write(to: &writer, in: zone)
        }
        try writer.endObject()
        try writer.key("relationships")
        try writer.beginObject()
        for (relationship, targets) in Self.relationships(of: card.object) {
            try writer.key(relationship.name)
            let cells = targets.map { QueryCell.object(StoredName($0.objectID).text) }
            try (relationship.isToMany ? .list(cells) : cells.first ?? .null).write(to: &writer, in: zone)
        }
        try writer.endObject()
        try writer.endObject()
    }
}

import Coral

/// A transaction in the form in which it is shown.
struct HistoryEntry: Encodable {
    struct Change: Encodable {
        var change: String
        var entity: String
        var object: String
        var uri: String
        /// The names of the updated properties; nil unless it is an update, and if the store does not contain them.
        var properties: [String]?
        /// The preserved values of a deleted object, as text.
        var tombstone: [String: String]?
    }

    var transaction: Int64
    var timestamp: String
    var author: String?
    var context: String?
    var process: String?
    var bundle: String?
    var changes: [Change]

    init(_ transaction: NSPersistentHistoryTransaction, changes: [NSPersistentHistoryChange]) {
        self.transaction = transaction.transactionNumber
        timestamp = Self.format.string(from: transaction.timestamp)
        author = transaction.author
        context = transaction.contextName
        process = transaction.processID.isEmpty ? nil : transaction.processID
        bundle = transaction.bundleID.isEmpty ? nil : transaction.bundleID
        self.changes = changes.map(Change.init)
    }

    /// The origin of the transaction, as far as it is known: `Ada, context editor, process Notes (com.example.notes)`.
    var origin: String {
        var parts = [author, context.map { "context \($0)" }].compactMap { $0 }
        switch (process, bundle) {
        case (let process?, let bundle?): parts.append("process \(process) (\(bundle))")
        case (let process?, nil): parts.append("process \(process)")
        case (nil, let bundle?): parts.append(bundle)
        case (nil, nil): break
        }
        return parts.joined(separator: ", ")
    }

    private static var format: ISO8601DateFormatter {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        return formatter
    }
}

extension HistoryEntry.Change {
    init(_ change: NSPersistentHistoryChange) {
        let id = change.changedObjectID
        let url = id.uriRepresentation()
        switch change.changeType {
        case .insert: self.change = "insert"
        case .update: self.change = "update"
        case .delete: self.change = "delete"
        @unknown default: self.change = "unknown"
        }
        entity = id.entity.name ?? ""
        object = "\(entity)/\(url.lastPathComponent)"
        uri = url.absoluteString
        properties = change.updatedProperties.map { $0.map(\.name).sorted() }
        tombstone = change.tombstone.map { Self.texts(of: $0, id.entity) }
    }

    private static func texts(of tombstone: [AnyHashable: Any], _ entity: NSEntityDescription) -> [String: String] {
        var texts: [String: String] = [:]
        for (key, value) in tombstone {
            guard let name = key.base as? String, !(value is NSNull) else { continue }
            texts[name] = entity.attributesByName[name].map {
                ValueText.text(GraphValue(value, declaredAs: GraphSchema.Attribute($0)))
            }
        }
        return texts
    }

    /// The sign in front of the object.
    var sign: String { ["insert": "+", "update": "~", "delete": "-"][change] ?? "?" }

    /// The text after the object's name.
    var details: String {
        if let properties { return properties.isEmpty ? "nothing" : properties.joined(separator: ", ") }
        if let tombstone {
            return tombstone.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" }.joined(separator: ", ")
        }
        return change == "update" ? "properties unknown" : ""
    }
}

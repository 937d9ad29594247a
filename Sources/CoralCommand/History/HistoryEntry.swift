import Coral

/// A transaction in the form in which it is shown.
struct HistoryEntry: Encodable {
    struct Change: Encodable {
        var change: String
        var entity: String
        var object: String
        var uri: String
        /// The names of the updated properties; nil if the change is not an update, or if the store does not contain the names.
        var properties: [String]?
        /// The preserved values of a deleted object, as text.
        var tombstone: [String: String]?
        /// The old and new values of each changed property; nil if the store does not keep them.
        var values: [String: Values]?
    }

    /// The old and the new value of a property as text, nil for no value; for a many-to-many relationship the removed and
    /// added objects.
    struct Values: Encodable {
        var old: String?
        var new: String?
        var removed: [String]?
        var added: [String]?
    }

    var transaction: Int64
    var timestamp: String
    var author: String?
    var context: String?
    var process: String?
    var bundle: String?
    var changes: [Change]

    /// Throws an error of the store where old values cannot be read.
    ///
    /// - Parameter zone: The time zone of the time; nil for UTC.
    init(
        _ transaction: NSPersistentHistoryTransaction, changes: [NSPersistentHistoryChange], zone: TimeZone? = nil
    ) throws {
        self.transaction = transaction.transactionNumber
        let format = Self.format
        if let zone { format.timeZone = zone }
        timestamp = format.string(from: transaction.timestamp)
        author = transaction.author
        context = transaction.contextName
        process = transaction.processID.isEmpty ? nil : transaction.processID
        bundle = transaction.bundleID.isEmpty ? nil : transaction.bundleID
        self.changes = try changes.map(Change.init)
    }

    /// What is known of the transaction's origin: `Ada, context editor, process Notes (com.example.notes)`.
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
    init(_ change: NSPersistentHistoryChange) throws {
        let id = change.changedObjectID
        let url = id.uriRepresentation()
        switch change.changeType {
        case .insert: self.change = "insert"
        case .update: self.change = "update"
        case .delete: self.change = "delete"
        @unknown default: self.change = "unknown"
        }
        entity = id.entity.name ?? ""
        object = Self.name(of: id)
        uri = url.absoluteString
        properties = change.updatedProperties.map { $0.map(\.name).sorted() }
        tombstone = change.tombstone.map { Self.texts(of: $0, id.entity) }
        #if STORE_ENGINE
            if let changes = try change.propertyChanges() {
                values = Dictionary(
                    uniqueKeysWithValues: changes.map { ($0, Self.texts(of: $1, id.entity, $0)) })
            }
        #endif
    }

    private static func name(of id: NSManagedObjectID) -> String {
        "\(id.entity.name ?? "")/\(id.uriRepresentation().lastPathComponent)"
    }

    private static func texts(of tombstone: [AnyHashable: Any], _ entity: NSEntityDescription) -> [String: String] {
        var texts: [String: String] = [:]
        for (key, value) in tombstone {
            guard let name = key.base as? String, !(value is NSNull) else { continue }
            texts[name] = text(of: value, entity.attributesByName[name])
        }
        return texts
    }

    /// Nil for no value.
    private static func text(of value: Any?, _ attribute: NSAttributeDescription?) -> String? {
        guard let value else { return nil }
        if let id = value as? NSManagedObjectID { return name(of: id) }
        guard let attribute else { return "\(value)" }
        return ValueText.text(GraphValue(value, declaredAs: GraphSchema.Attribute(attribute)))
    }

    #if STORE_ENGINE
        private static func texts(
            of change: HistoryPropertyChange, _ entity: NSEntityDescription, _ property: String
        ) -> HistoryEntry.Values {
            switch change {
            case .value(let old, let new):
                let attribute = entity.attributesByName[property]
                return HistoryEntry.Values(old: text(of: old, attribute), new: text(of: new, attribute))
            case .members(let removed, let added):
                return HistoryEntry.Values(removed: removed.map(name), added: added.map(name))
            }
        }
    #endif

    /// The sign in front of the object.
    var sign: String { ["insert": "+", "update": "~", "delete": "-"][change] ?? "?" }

    /// The text after the object's name.
    var details: String {
        if let properties {
            // The elements of a composite attribute have names of their own.
            let names = Set(properties).union(values.map { Array($0.keys) } ?? []).sorted()
            return names.isEmpty ? "nothing" : names.map { values?[$0]?.details(of: $0) ?? $0 }.joined(separator: ", ")
        }
        if let kept = values?.compactMapValues(\.old) ?? tombstone {
            return kept.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" }.joined(separator: ", ")
        }
        return change == "update" ? "properties unknown" : ""
    }
}

extension HistoryEntry.Values {
    /// The text for a changed property: `title: "a" -> "b"`, `tags: - Tag/p1, + Tag/p2`.
    func details(of name: String) -> String {
        if let removed, let added {
            return "\(name): \((removed.map { "- \($0)" } + added.map { "+ \($0)" }).joined(separator: ", "))"
        }
        return "\(name): \(old ?? "absent") -> \(new ?? "absent")"
    }
}

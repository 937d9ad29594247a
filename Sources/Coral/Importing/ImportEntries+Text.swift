import Foundation
import GraphDocuments

// The entries of a plan as text: one line for each step, which begins with a sign for its kind.

extension ImportSubject: CustomStringConvertible {
    /// The object's name in its store, such as `Note/p12`; for an object to insert, the entity and the record's label.
    public var description: String {
        if let object, let url = URL(string: object) { return "\(entity)/\(url.lastPathComponent)" }
        return label.hasPrefix(entity) ? label : "\(entity) \(label)"
    }
}

extension ImportInsert: CustomStringConvertible {
    /// The object with its first values: `+ Note/p3  title = "Garden"`.
    public var description: String {
        "+ \(subject)  \(values.prefix(6).map { "\($0.name) = \(ValueText.text($0.value))" }.joined(separator: ", "))"
    }
}

extension ImportUpdate: CustomStringConvertible {
    /// A line for each value that changes: `~ Note/p1.title: "Garden" -> "Kitchen"`.
    public var description: String {
        changes.map { change in
            let (old, new) = (change.old ?? .null, change.new ?? .null)
            return "~ \(subject).\(change.name): \(ValueText.text(old)) -> \(ValueText.text(new))"
        }
        .joined(separator: "\n")
    }
}

extension ImportLink: CustomStringConvertible {
    /// The first objects that are added and removed: `> Note/p1.tags: +home -Tag/p2`.
    public var description: String {
        guard !isReordering else { return "> \(subject).\(relationship): order" }
        let parts = added.prefix(6).map { "+\($0)" } + removed.prefix(6).map { "-\($0)" }
        let count = added.count + removed.count
        let more = count > parts.count ? " … (\(count))" : ""
        return "> \(subject).\(relationship): \(parts.joined(separator: " "))\(more)"
    }
}

extension ImportDeletion: CustomStringConvertible {
    /// The object, and why it is deleted: `- Item/p4 (lost its owner)`.
    public var description: String { "- \(subject) (\(reason))" }
}

extension ImportDeletion.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tombstone: "requested by the document"
        case .scope: "not in the document"
        case .orphan: "lost its owner"
        case .rule: "by a delete rule"
        }
    }
}

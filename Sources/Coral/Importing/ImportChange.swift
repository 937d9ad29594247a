import CoreData
import Foundation
import GraphDocuments

/// A record and its object.
public struct ImportSubject: Sendable, Hashable {
    /// The entity of the object.
    public var entity: String
    /// The record's id; nil if the object has no record in the document.
    public var record: RecordID?
    /// The URI of the object; nil if it is to be inserted.
    public var object: String?
    /// The position of the record; nil if the object has no record in the document.
    public var place: DocumentPlace?
    /// A name for messages: the record's id, unless that is a number in its document; else its key, its name or its position.
    public var label: String

    /// The last two components of an object's URI, which identify it within one store: `Note/p12`.
    package static func shortName(_ uri: String) -> String {
        uri.split(separator: "/").suffix(2).joined(separator: "/")
    }
}

/// An object to insert, or an object whose values change.
public struct ImportChange: Sendable, Hashable {
    /// The record and its object.
    public var subject: ImportSubject
    /// The values that change, in the order of the attributes' names. Those of a new object are the ones that the record states, and
    /// have no old value.
    public var attributes: [AttributeChange]
    /// Whether the object is new.
    let isInsert: Bool
}

/// A relationship whose destination objects change.
public struct ImportLink: Sendable, Hashable {
    /// The record, and the object whose relationship changes.
    public var subject: ImportSubject
    /// The relationship's name.
    public var relationship: String
    /// The objects added: their ids in the document, else their keys.
    public var added: [String]
    /// The URIs of the objects removed.
    public var removed: [String]
    /// Whether only the order changes.
    package var isReordering: Bool { added.isEmpty && removed.isEmpty }
}

/// An object to delete, with the reason.
public struct ImportDeletion: Sendable, Hashable {
    /// The object, and its record if there is one.
    public var subject: ImportSubject
    /// Why the object is deleted.
    public var reason: Reason

    /// Why an object is deleted.
    public enum Reason: Sendable, Hashable {
        /// The document contains a tombstone.
        case tombstone
        /// The document does not contain the object, and a deletion scope covers it.
        case scope
        /// The object was removed from a relationship with the policy `replace`, or it was an owned child of a
        /// populated object, and the document does not list it.
        case orphan
        /// A delete rule of the model.
        case rule
    }
}

/// A conflict that was resolved by a policy.
public struct ImportConflict: Sendable, Hashable, CustomStringConvertible {
    /// The record, and its object.
    public var subject: ImportSubject
    /// The property in conflict; nil if the conflict concerns the whole record.
    public var property: String?
    /// The value in the document that is not imported, as the format represents it; nil if there is none, or for an array or
    /// an object.
    public var value: GraphValue?
    /// The conflict and its resolution, as a sentence.
    public var message: String

    public var description: String {
        // Without a position in the document, the object identifies the subject.
        let name = subject.place.map { "\($0)" } ?? subject.object.map(ImportSubject.shortName) ?? subject.label
        return name.isEmpty ? message : "\(message) (\(name))"
    }
}

// The entries of a plan as text: one line for each step, which begins with a sign for its kind.

extension ImportSubject: CustomStringConvertible {
    /// The object's name in its store, such as `Note/p12`; for an object to insert, the entity and the record's label.
    public var description: String {
        if let object, let url = URL(string: object) { return "\(entity)/\(url.lastPathComponent)" }
        return label.hasPrefix(entity) ? label : "\(entity) \(label)"
    }
}

extension ImportChange: CustomStringConvertible {
    /// A new object with its first values: `+ Note/p3  title = "Garden"`; else a line for each value that changes:
    /// `~ Note/p1.title: "Garden" -> "Kitchen"`.
    public var description: String {
        func text(_ value: GraphValue?) -> String { ValueText.text(value ?? .null) }
        if isInsert {
            return
                "+ \(subject)  \(attributes.prefix(6).map { "\($0.name) = \(text($0.new))" }.joined(separator: ", "))"
        }
        return attributes.map { "~ \(subject).\($0.name): \(text($0.old)) -> \(text($0.new))" }.joined(separator: "\n")
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

/// Formats values for messages, in a short form on one line.
package enum ValueText {
    /// A value as text. Long strings are truncated.
    package static func text(_ value: GraphValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .double(let value): value.description
        case .float(let value): value.description
        case .decimal(let value): value.description
        case .string(let value): quoted(value)
        case .date: TextValue.text(of: value) ?? ""
        case .data(let value): "\(value.count) bytes"
        case .uuid(let value): value.uuidString
        case .uri(let value): quoted(value)
        case .composite(let elements):
            "{\(elements.prefix(8).map { "\($0.name): \(text($0.value))" }.joined(separator: ", "))}"
        case .transformable(let value): "an archive of \(value.archive?.count ?? 0) bytes"
        case .file(let file): file.isMissing ? "the missing file \(file.path)" : "the file \(file.path)"
        }
    }

    private static func quoted(_ text: String) -> String {
        let line = text.replacingOccurrences(of: "\n", with: "⏎", options: .literal)
        return line.count > 60 ? "\"\(line.prefix(60))…\"" : "\"\(line)\""
    }
}

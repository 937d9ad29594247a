import CoreData
import GraphDocuments

/// The entries of one kind in a plan: all of them are counted, the first are kept.
public struct ImportEntries<Entry> {
    /// How many there are.
    public private(set) var count = 0
    /// The first of them, up to `ImportOptions.entryLimit`.
    public private(set) var kept: [Entry] = []
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Whether there are no entries.
    public var isEmpty: Bool { count == 0 }

    /// Makes the entry only where it is kept.
    mutating func add(_ entry: @autoclosure () -> Entry) {
        count += 1
        if kept.count < limit { kept.append(entry()) }
    }

    /// Whether one more would be kept.
    var keepsNext: Bool { kept.count < limit }
}

extension ImportEntries: Sequence {
    public func makeIterator() -> IndexingIterator<[Entry]> { kept.makeIterator() }
}

extension ImportEntries: Sendable where Entry: Sendable {}

/// A record and the object that it is about.
public struct ImportSubject: Sendable, Hashable {
    /// The entity of the object.
    public var entity: String
    /// The record's id; nil where no record speaks of the object.
    public var record: RecordID?
    /// The URI of the object; nil where it is to be made.
    public var object: String?
    /// Where the record stands; nil where no record speaks of the object.
    public var place: DocumentPlace?
    /// What people may call it: the record's id, else its key, else its place.
    public var label: String

    /// The end of an object's URI, which tells it from others of one store: `Note/p12`.
    static func shortName(_ uri: String) -> String {
        uri.split(separator: "/").suffix(2).joined(separator: "/")
    }
}

/// An object that is to be made.
public struct ImportInsert: Sendable, Hashable {
    /// The record that the object is made of.
    public var subject: ImportSubject
    /// The values that the record gives it.
    public var values: [GraphAttribute]
}

/// An object whose values are to be changed.
public struct ImportUpdate: Sendable, Hashable {
    /// The record, and the object that it changes.
    public var subject: ImportSubject
    /// The values that change, in the order of the attributes' names.
    public var changes: [Change]

    /// A value that is to be replaced.
    public struct Change: Sendable, Hashable {
        /// The attribute's name.
        public var attribute: String
        /// The value before.
        public var old: GraphValue
        /// The value after.
        public var new: GraphValue
    }
}

/// A relationship that is to be changed: which objects it is to lead to, or no more.
public struct ImportLink: Sendable, Hashable {
    /// The record, and the object whose relationship changes.
    public var subject: ImportSubject
    /// The relationship's name.
    public var relationship: String
    /// The objects that are added: their ids in the document, else their keys.
    public var added: [String]
    /// The URIs of the objects that are taken away.
    public var removed: [String]
    /// Whether only the order changes.
    public var isReordering: Bool { added.isEmpty && removed.isEmpty }
}

/// An object that is to be deleted, and why.
public struct ImportDeletion: Sendable, Hashable {
    /// The object, and the record that says so where there is one.
    public var subject: ImportSubject
    /// Why the object is deleted.
    public var reason: Reason

    /// Why an object is deleted.
    public enum Reason: Sendable, Hashable {
        /// The document says so.
        case tombstone
        /// The document does not have it, and a deletion scope covers it.
        case scope
        /// A relationship with the policy `replace` lost it.
        case orphan
        /// A delete rule of the model's.
        case rule
    }
}

/// A value whose file did not exist when the document was written.
public struct ImportMissingFile: Sendable, Hashable, CustomStringConvertible {
    /// The record, and its object.
    public var subject: ImportSubject
    /// The attribute's name.
    public var attribute: String
    /// The name that the store which the document comes from has for the file.
    public var name: String

    public var description: String {
        "The file of \(subject.label).\(attribute) did not exist when the document was written (\(name))."
    }
}

/// Something that was settled by a policy, and that somebody may want to know.
public struct ImportConflict: Sendable, Hashable, CustomStringConvertible {
    /// The record, and its object.
    public var subject: ImportSubject
    /// The property that it is about, where it is about one.
    public var property: String?
    /// What was found and what becomes of it, as a sentence.
    public var message: String

    public var description: String {
        // Without a place the object says which of many it is about.
        let name = subject.place.map { "\($0)" } ?? subject.object.map(ImportSubject.shortName) ?? subject.label
        return name.isEmpty ? message : "\(message) (\(name))"
    }
}

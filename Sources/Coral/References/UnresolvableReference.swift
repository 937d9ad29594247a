import GraphDocuments

/// A reference to an object or a file that cannot be resolved, in other stores or in any.
///
/// A *dangling* reference is one to an object that does not exist: stores that were written with raw SQL or migrated incorrectly can
/// contain some. A *keyless* one is a reference to an object outside the document without a natural key: its entity has neither a
/// uniqueness constraint nor a declared key (`ObjectIdentity`), or the values of the key are missing. An import finds such an object by
/// its URI, in the store it was exported from. An object that was not saved is never found. The *file* of a large value does not exist
/// if the store was copied without its hidden folder.
public struct UnresolvableReference: Sendable, Hashable, CustomStringConvertible {
    /// The id of the record that has the property; in a document without ids the object's key, else its position.
    public var record: String
    /// The relationship or attribute.
    public var property: String
    /// The id that the other object has or would have; or the name of the file, in the store that the values come from.
    public var target: String
    let kind: Kind

    package enum Kind: Sendable {
        /// The other object does not exist.
        case dangling
        /// The other object has no natural key.
        case keyless
        /// The file does not exist.
        case file
        /// The file did not exist when a document was written.
        case fileOfDocument
    }

    package init(_ kind: Kind, _ record: String, _ property: String, to target: String) {
        self.kind = kind
        self.record = record
        self.property = property
        self.target = target
    }

    package init(_ kind: Kind, _ record: RecordID, _ property: String, to target: RecordID) {
        self.init(kind, "\(record)", property, to: "\(target)")
    }

    public var description: String {
        let name = "\(record).\(property)"
        return switch kind {
        case .dangling: "\(name) refers to \(target), which does not exist."
        case .keyless:
            "\(name) refers to \(target), which is not in the document and has no natural key: it cannot be found in other stores."
        case .file: "The file of \(name) does not exist (\(target))."
        case .fileOfDocument: "The file of \(name) did not exist when the document was written (\(target))."
        }
    }
}

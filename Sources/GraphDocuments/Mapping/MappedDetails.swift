/// Additional information of a mapping about a record.
///
/// A class, so that records without a mapping contain only an empty reference. Compared by identity.
package final class MappedDetails: Sendable {
    /// Whether the record is at the top level of the document.
    package let isTop: Bool
    /// The properties that identify the object, if they depend on the position in the document.
    package let key: [String]?
    /// The keys of referenced objects, by the ids in the record's relationships.
    package let references: [RecordID: Reference]
    /// The values that the object gets if it is new.
    package let defaults: [GraphAttribute]
    /// The relationships that the document contains as keys only.
    package let relationshipsByKey: Set<String>
    /// The values that could not be read.
    package let mistakes: [Mistake]
    /// Whether the document contains nothing of the object but its key.
    package let isReference: Bool
    /// The keys of the properties in the document.
    let keys: [String: String]

    init(
        isTop: Bool, key: [String]?, references: [RecordID: Reference], defaults: [GraphAttribute],
        relationshipsByKey: Set<String>, mistakes: [Mistake], isReference: Bool, keys: [String: String]
    ) {
        self.isTop = isTop
        self.key = key
        self.references = references
        self.defaults = defaults
        self.relationshipsByKey = relationshipsByKey
        self.mistakes = mistakes
        self.isReference = isReference
        self.keys = keys
    }

    /// For a record at the top level of a document without a mapping.
    static let top = MappedDetails(isTop: true)
    /// For a nested record in a document without a mapping.
    static let inside = MappedDetails(isTop: false)

    private convenience init(isTop: Bool) {
        self.init(
            isTop: isTop, key: nil, references: [:], defaults: [], relationshipsByKey: [], mistakes: [],
            isReference: false, keys: [:])
    }

    /// An object that is referenced by its key.
    package struct Reference: Sendable, Hashable {
        /// The destination entity of the relationship.
        package let entity: String
        /// The values of the key.
        package let key: [GraphAttribute]
    }

    /// A value that cannot be read.
    package struct Mistake: Sendable, Hashable {
        /// The property; nil if the error concerns the whole object.
        package let property: String?
        /// A description of the error, in one sentence.
        package let message: String
    }
}

extension MappedDetails: Hashable {
    package static func == (left: MappedDetails, right: MappedDetails) -> Bool { left === right }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// What a mapping has found out about a record besides what it holds.
///
/// A class, so that records without a mapping carry no more than an empty place for it. Two are equal where they are the same.
public final class MappedDetails: Sendable {
    /// Whether the record stands at the top of the document.
    public let isTop: Bool
    /// The properties that identify the object, where the place in the document says which.
    public let key: [String]?
    /// What the ids in the record's relationships say of objects that are named, not described.
    public let references: [RecordID: Reference]
    /// The values that the object gets if it is new.
    public let defaults: [GraphAttribute]
    /// The relationships that the record gives by keys alone.
    public let relationshipsByKey: Set<String>
    /// What could not be read.
    public let mistakes: [Mistake]
    /// Whether the document gives nothing of the object but its key.
    public let isReference: Bool
    /// What the document calls the properties.
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

    /// Of a record at the top of a document that has no mapping.
    static let top = MappedDetails(isTop: true)
    /// Of a record inside another, in a document that has no mapping.
    static let inside = MappedDetails(isTop: false)

    private convenience init(isTop: Bool) {
        self.init(
            isTop: isTop, key: nil, references: [:], defaults: [], relationshipsByKey: [], mistakes: [],
            isReference: false, keys: [:])
    }

    /// An object that is named by its key.
    public struct Reference: Sendable, Hashable {
        /// The entity that the relationship leads to.
        public let entity: String
        /// The values of the key.
        public let key: [GraphAttribute]
    }

    /// A value that cannot be read.
    public struct Mistake: Sendable, Hashable {
        /// The property; nil where it is about the whole object.
        public let property: String?
        /// What is wrong, as a sentence.
        public let message: String
    }
}

extension MappedDetails: Hashable {
    public static func == (left: MappedDetails, right: MappedDetails) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A record as it stands in a document: with its place, its members' places, and what was not understood.
public struct PlacedRecord: Sendable, Hashable {
    /// The record.
    public var record: GraphRecord
    /// Where the record begins.
    public var place: DocumentPlace
    /// Whether the document gives the id; otherwise the reader made one up, which no other record refers to by name.
    public var hasOwnID: Bool
    /// Whether the document gives the entity; otherwise it follows from where the record stands.
    public var hasOwnEntity: Bool
    /// Members that the schema's entity does not have, in the document's order.
    public var unknownMembers: [UnknownMember]
    /// What a mapping has found out besides; nil where documents are read without one.
    public var details: MappedDetails?
    /// Where each attribute's value begins, in the record's order.
    var attributeMarks: [PlaceMark]
    /// Where each relationship's value begins, in the record's order.
    var relationshipMarks: [PlaceMark]

    init(
        record: GraphRecord, place: DocumentPlace, hasOwnID: Bool, hasOwnEntity: Bool = true,
        unknownMembers: [UnknownMember] = [], attributeMarks: [PlaceMark] = [], relationshipMarks: [PlaceMark] = [],
        details: MappedDetails? = nil
    ) {
        self.details = details
        self.record = record
        self.place = place
        self.hasOwnID = hasOwnID
        self.hasOwnEntity = hasOwnEntity
        self.unknownMembers = unknownMembers
        self.attributeMarks = attributeMarks
        self.relationshipMarks = relationshipMarks
    }

    /// A record that comes from no document.
    public init(_ record: GraphRecord) {
        self.init(record: record, place: DocumentPlace(offset: 0), hasOwnID: true)
    }

    /// Where the value of a member stands; the record's own place where the record does not mention it.
    public func place(of member: String) -> DocumentPlace {
        if let key = details?.keys[member] { return place.member(key) }
        var place = place.member(member)
        let mark: PlaceMark?
        if let index = record.attributes.firstIndex(where: { $0.name == member }) {
            mark = index < attributeMarks.count ? attributeMarks[index] : nil
        } else if let index = record.relationships.firstIndex(where: { $0.name == member }) {
            mark = index < relationshipMarks.count ? relationshipMarks[index] : nil
        } else {
            return unknownMembers.first { $0.name == member }?.place ?? self.place
        }
        if let mark {
            place.offset = mark.offset
            place.line = mark.line
            place.column = mark.column
        }
        return place
    }

    /// A member that the schema's entity does not have.
    public struct UnknownMember: Sendable, Hashable {
        /// The member's name.
        public var name: String
        /// The value, as the format alone can tell it; nil for an array or an object.
        public var value: GraphValue?
        /// Where it stands.
        public var place: DocumentPlace

        /// A member.
        public init(name: String, value: GraphValue?, place: DocumentPlace) {
            self.name = name
            self.value = value
            self.place = place
        }
    }
}

/// A place without its path.
struct PlaceMark: Sendable, Hashable {
    var offset: Int
    var line: Int
    var column: Int
}

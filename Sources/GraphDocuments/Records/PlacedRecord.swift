/// A record of a document with its position, the positions of its members, and unknown members.
package struct PlacedRecord: Sendable, Hashable {
    // Boxed, so that passing a record costs one reference count, not one for each part. Inlinable, so that reading a part in
    // another module does not copy the whole record.
    @usableFromInline let box: Box

    /// The record.
    @inlinable package var record: GraphRecord { _read { yield box.record } }
    /// The position of the record.
    @inlinable package var place: DocumentPlace { box.place }
    /// Whether the id is in the document; otherwise the reader has generated one, which no other record refers to.
    @inlinable package var hasOwnID: Bool { box.hasOwnID }
    /// Whether the document contains the id (`$id`), so that no other record may have it. Several records of one object
    /// may have the same id if it is derived from their key.
    @inlinable package var hasStatedID: Bool { box.hasStatedID }
    /// Whether the entity is in the document; otherwise it follows from the record's position.
    @inlinable package var hasOwnEntity: Bool { box.hasOwnEntity }
    /// Members that the schema's entity does not have, in the document's order.
    @inlinable package var unknownMembers: [UnknownMember] { box.unknownMembers }
    /// Additional information of a mapping; nil without one.
    @inlinable package var details: MappedDetails? { box.details }
    /// The position of each attribute's value, in the record's order.
    var attributeMarks: [PlaceMark] { box.attributeMarks }
    /// The position of each relationship's value, in the record's order.
    var relationshipMarks: [PlaceMark] { box.relationshipMarks }

    // Immutable, so that reading a part needs no check of exclusive access.
    @usableFromInline final class Box: Sendable {
        @usableFromInline let record: GraphRecord
        @usableFromInline let place: DocumentPlace
        @usableFromInline let hasOwnID: Bool
        @usableFromInline let hasStatedID: Bool
        @usableFromInline let hasOwnEntity: Bool
        @usableFromInline let unknownMembers: [UnknownMember]
        @usableFromInline let details: MappedDetails?
        let attributeMarks: [PlaceMark]
        let relationshipMarks: [PlaceMark]

        init(
            record: GraphRecord, place: DocumentPlace, hasOwnID: Bool, hasStatedID: Bool, hasOwnEntity: Bool,
            unknownMembers: [UnknownMember], details: MappedDetails?, attributeMarks: [PlaceMark],
            relationshipMarks: [PlaceMark]
        ) {
            self.record = record
            self.place = place
            self.hasOwnID = hasOwnID
            self.hasStatedID = hasStatedID
            self.hasOwnEntity = hasOwnEntity
            self.unknownMembers = unknownMembers
            self.details = details
            self.attributeMarks = attributeMarks
            self.relationshipMarks = relationshipMarks
        }
    }

    /// The same with another record: of another id, for example.
    func replacing(record: GraphRecord) -> PlacedRecord {
        PlacedRecord(
            record: record, place: place, hasOwnID: hasOwnID, hasStatedID: hasStatedID, hasOwnEntity: hasOwnEntity,
            unknownMembers: unknownMembers, attributeMarks: attributeMarks, relationshipMarks: relationshipMarks,
            details: details)
    }

    package static func == (left: PlacedRecord, right: PlacedRecord) -> Bool {
        left.box === right.box
            || left.record == right.record && left.place == right.place && left.hasOwnID == right.hasOwnID
                && left.hasOwnEntity == right.hasOwnEntity && left.unknownMembers == right.unknownMembers
                && left.details == right.details && left.attributeMarks == right.attributeMarks
                && left.relationshipMarks == right.relationshipMarks
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(record)
        hasher.combine(place)
    }

    init(
        record: GraphRecord, place: DocumentPlace, hasOwnID: Bool, hasStatedID: Bool = false, hasOwnEntity: Bool = true,
        unknownMembers: [UnknownMember] = [], attributeMarks: [PlaceMark] = [], relationshipMarks: [PlaceMark] = [],
        details: MappedDetails? = nil
    ) {
        box = Box(
            record: record, place: place, hasOwnID: hasOwnID, hasStatedID: hasStatedID, hasOwnEntity: hasOwnEntity,
            unknownMembers: unknownMembers, details: details, attributeMarks: attributeMarks,
            relationshipMarks: relationshipMarks)
    }

    /// Creates a record with its position, for a reader in another module.
    package init(_ record: GraphRecord, at place: DocumentPlace, hasOwnID: Bool) {
        self.init(record: record, place: place, hasOwnID: hasOwnID, hasStatedID: hasOwnID)
    }

    /// Creates a record that is not from a document.
    package init(_ record: GraphRecord) {
        self.init(record: record, place: DocumentPlace(offset: 0), hasOwnID: true)
    }

    /// The position of a member's value; the record's own position if it is absent.
    package func place(of member: String) -> DocumentPlace {
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
    package struct UnknownMember: Sendable, Hashable {
        /// The member's name.
        package var name: String
        /// The value with the type of the format alone; nil for an array or an object.
        package var value: GraphValue?
        /// The position.
        package var place: DocumentPlace

        /// Creates a member.
        package init(name: String, value: GraphValue?, place: DocumentPlace) {
            self.name = name
            self.value = value
            self.place = place
        }
    }
}

/// A position without its path.
struct PlaceMark: Sendable, Hashable {
    var offset: Int
    var line: Int
    var column: Int
}

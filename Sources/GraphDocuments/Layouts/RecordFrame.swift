/// An object that is being read.
struct RecordFrame {
    /// Whether there is an open object.
    var isOpen = false
    var place = DocumentPlace(offset: 0)
    /// The entity's members; nil while the entity is unknown.
    var members: EntityMembers?
    var id: String?
    var isReference = false
    var isDeleted = false
    /// Whether the object itself contains its entity.
    var hasOwnEntity = false
    var hasMembers = false
    /// Whether the object has been read completely.
    var isComplete = false
    /// Whether the schema does not have the entity, and the record is skipped.
    var isSkipped = false
    /// The number of records opened so far, including this one.
    var number = 0
    /// The member that was read last, or the position before the first.
    var previous = -1
    var attributes: [GraphAttribute] = []
    var attributeMarks: [PlaceMark] = []
    var relationships: [GraphRelationship] = []
    var relationshipMarks: [PlaceMark] = []
    var unknownMembers: [PlacedRecord.UnknownMember] = []
    /// The index of the relationship whose objects are being read, or -1; and the ids so far.
    var relationship = -1
    var ids: [RecordID] = []
    /// The pointer of that relationship's array, computed when needed, and the index of the current element.
    var relationshipPointer: String?
    var elementIndex = -1
}

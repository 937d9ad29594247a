/// An object that is being read.
struct RecordFrame {
    /// Whether there is such an object at all.
    var isOpen = false
    var place = DocumentPlace(offset: 0)
    /// The entity's members; nil while the entity is not known.
    var members: EntityMembers?
    var id: String?
    var isReference = false
    var isDeleted = false
    /// Whether the entity is given by the object itself.
    var hasOwnEntity = false
    var hasMembers = false
    /// Whether there is nothing more to read.
    var isComplete = false
    /// Whether the schema does not have the entity, and the record is passed over.
    var isSkipped = false
    /// How many records were opened up to this one.
    var number = 0
    /// The member that was read last, or the place before the first.
    var previous = -1
    var attributes: [GraphAttribute] = []
    var attributeMarks: [PlaceMark] = []
    var relationships: [GraphRelationship] = []
    var relationshipMarks: [PlaceMark] = []
    var unknownMembers: [PlacedRecord.UnknownMember] = []
    /// The relationship whose objects are being read, as its position in the entity, or -1; and the ids so far.
    var relationship = -1
    var ids: [RecordID] = []
    /// The pointer of that relationship's array, once it is needed, and the element that is being read.
    var relationshipPointer: String?
    var elementIndex = -1
}

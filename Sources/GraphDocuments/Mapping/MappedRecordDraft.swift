/// The values found in one object of a document, before a record is made of them.
struct MappedRecordDraft {
    var attributes: [GraphAttribute] = []
    var relationships: [GraphRelationship] = []
    var references: [RecordID: MappedDetails.Reference] = [:]
    var defaults: [GraphAttribute] = []
    var relationshipsByKey: Set<String> = []
    var mistakes: [MappedDetails.Mistake] = []

    mutating func add(_ relationship: GraphSchema.Relationship, _ target: RelationshipTarget) {
        relationships.append(
            GraphRelationship(name: relationship.name, target: target, isOrdered: relationship.isOrdered))
    }

    mutating func note(_ property: String?, _ message: String) {
        mistakes.append(.init(property: property, message: message))
    }
}

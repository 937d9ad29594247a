import Coral

/// Notes with items in an order.
func makeModel() -> NSManagedObjectModel {
    let note = makeEntity("Note", attribute: "title")
    let item = makeEntity("Item", attribute: "name")

    let items = NSRelationshipDescription()
    items.name = "items"
    items.destinationEntity = item
    items.isOrdered = true
    items.deleteRule = .cascadeDeleteRule

    let owner = NSRelationshipDescription()
    owner.name = "note"
    owner.destinationEntity = note
    owner.maxCount = 1
    owner.deleteRule = .nullifyDeleteRule

    items.inverseRelationship = owner
    owner.inverseRelationship = items
    note.properties.append(items)
    item.properties.append(owner)

    let model = NSManagedObjectModel()
    model.entities = [note, item]
    return model
}

private func makeEntity(
    _ name: String, attribute: String
) -> NSEntityDescription {
    let text = NSAttributeDescription()
    text.name = attribute
    text.attributeType = .stringAttributeType
    let entity = NSEntityDescription()
    entity.name = name
    entity.properties = [text]
    return entity
}

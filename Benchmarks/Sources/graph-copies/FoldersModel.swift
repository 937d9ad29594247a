import CoreData

/// Folders with ordered notes; notes share tags.
enum FoldersModel {
    static func make() -> NSManagedObjectModel {
        let (folder, note, tag) = (entity("Folder"), entity("Note"), entity("Tag"))
        note.properties.append(attribute("text", .stringAttributeType))
        note.properties.append(attribute("createdAt", .dateAttributeType))
        note.properties.append(attribute("rank", .doubleAttributeType))
        relate(folder, "notes", note, "folder", isOrdered: true, rule: .cascadeDeleteRule, isToManyBack: false)
        relate(note, "tags", tag, "notes", isOrdered: false, rule: .nullifyDeleteRule, isToManyBack: true)
        let model = NSManagedObjectModel()
        model.entities = [folder, note, tag]
        return model
    }

    /// Inserts a hundred notes for each folder, of some hundred bytes each.
    static func fill(_ context: NSManagedObjectContext, folders: Int) async throws {
        try await context.perform {
            let tags = (0..<20).map { insert("Tag", ["name": "tag \($0)"], into: context).objectID }
            for number in 0..<folders {
                let folder = insert("Folder", ["name": "folder \(number)"], into: context)
                for index in 0..<100 {
                    let text = String(repeating: "note \(number) \(index) ", count: 8)
                    let note = insert(
                        "Note", ["name": "note \(index)", "text": text, "createdAt": Date(), "rank": Double(index)],
                        into: context)
                    note.setValue(folder, forKey: "folder")
                    note.setValue(NSSet(object: context.object(with: tags[index % tags.count])), forKey: "tags")
                }
                if number % 20 == 19 || number == folders - 1 {
                    try context.save()
                    context.reset()
                }
            }
        }
    }

    private static func insert(
        _ entity: String, _ values: [String: Any], into context: NSManagedObjectContext
    ) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    private static func entity(_ name: String) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = "NSManagedObject"
        entity.properties = [attribute("name", .stringAttributeType)]
        return entity
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    private static func relate(
        _ source: NSEntityDescription, _ name: String, _ destination: NSEntityDescription, _ inverseName: String,
        isOrdered: Bool, rule: NSDeleteRule, isToManyBack: Bool
    ) {
        let (there, back) = (NSRelationshipDescription(), NSRelationshipDescription())
        (there.name, back.name) = (name, inverseName)
        (there.destinationEntity, back.destinationEntity) = (destination, source)
        (there.isOrdered, there.deleteRule, back.deleteRule) = (isOrdered, rule, .nullifyDeleteRule)
        (there.maxCount, back.maxCount) = (0, isToManyBack ? 0 : 1)
        (there.isOptional, back.isOptional) = (true, true)
        (there.inverseRelationship, back.inverseRelationship) = (back, there)
        source.properties.append(there)
        destination.properties.append(back)
    }
}

import CoreData
import GraphDocuments

/// The order of the entities in a document.
struct EntityOrder {
    let plan: ShapePlan
    /// Nil for documents of other layouts.
    let plainLayout: PlainLayout?

    /// Whether the records of an entity precede those of another one: by name; in the plain layout, in the order of the layout.
    func comesBefore(_ left: String, _ right: String) -> Bool {
        guard let plainLayout else { return left < right }
        func position(_ name: String) -> Int { plainLayout.entities.firstIndex { $0.name == name } ?? .max }
        return (position(left), left) < (position(right), right)
    }

    /// The entities of a model that have rows of their own, in the order of their records.
    func storedEntities(of model: NSManagedObjectModel) -> [NSEntityDescription] {
        model.entities.filter { !$0.isAbstract && plan.includes($0) }
            .sorted { comesBefore($0.name ?? "", $1.name ?? "") }
    }

    /// Entities that no relationship embeds come first, so that embedded objects are nested inside their owners.
    func ownersFirst(_ entities: [NSEntityDescription]) throws -> [NSEntityDescription] {
        var owned: Set<String> = []
        for entity in entities {
            for relationship in try plan.plan(for: entity).relationships where relationship.isEmbedded {
                var pending = [entity.relationshipsByName[relationship.name]?.destinationEntity].compactMap { $0 }
                while let destination = pending.popLast() {
                    if destination !== entity { owned.insert(destination.name ?? "") }
                    pending += destination.subentities
                }
            }
        }
        return entities.filter { !owned.contains($0.name ?? "") } + entities.filter { owned.contains($0.name ?? "") }
    }
}

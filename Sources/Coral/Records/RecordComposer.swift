import CoreData
import GraphDocuments

/// Creates the record of an object, for every source of values: the properties of the shape in the order of its plan, null for
/// missing values, the destinations that the shape includes in the order of documents, and no reference to an object that does
/// not exist.
struct RecordComposer {
    let plan: ShapePlan

    /// The record of an object.
    ///
    /// Missing members of to-many relationships are omitted, and a to-one relationship to a missing object is null; both
    /// are reported, with the name of the relationship and the id of the missing object.
    func record(
        _ id: RecordID, of entity: EntityPlan, from source: inout some RecordSource,
        onMissing: (_ relationship: String, _ target: RecordID) -> Void
    ) throws -> GraphRecord {
        var record = GraphRecord(id: id, entity: entity.name)
        record.attributes.reserveCapacity(entity.attributes.count)
        for index in entity.attributes.indices {
            record.attributes.append(
                GraphAttribute(name: entity.attributes[index].name, value: try source.value(of: index) ?? .null))
        }
        record.relationships.reserveCapacity(entity.relationships.count)
        for index in entity.relationships.indices {
            let relationship = entity.relationships[index]
            var first: RecordID?
            var ids: [RecordID] = []
            try source.forEachDestination(of: index) { destination in
                switch destination {
                case .missing(let target): onMissing(relationship.name, target)
                case .existing(let target):
                    if relationship.isToMany { ids.append(target) } else { first = first ?? target }
                }
            }
            record.relationships.append(
                GraphRelationship(
                    name: relationship.name, target: relationship.isToMany ? .toMany(ids) : .toOne(first),
                    isOrdered: relationship.isOrdered))
        }
        return record
    }

    /// The destinations of a relationship that the shape includes, in the order of documents: as stored in an ordered
    /// relationship, otherwise sorted by `ObjectName`. Destinations without a name come last, in the given order.
    func arranged<Destination>(
        _ destinations: [Destination], of relationship: EntityPlan.Relationship,
        entity: (Destination) -> NSEntityDescription, name: (Destination) -> ObjectName?
    ) -> [Destination] {
        let included = plan.includesAllEntities ? destinations : destinations.filter { plan.includes(entity($0)) }
        guard relationship.isToMany, !relationship.isOrdered, included.count > 1 else { return included }
        var named: [(name: ObjectName, destination: Destination)] = []
        named.reserveCapacity(included.count)
        var unnamed: [Destination] = []
        for destination in included {
            if let name = name(destination) { named.append((name, destination)) } else { unnamed.append(destination) }
        }
        named.sort { $0.name < $1.name }
        return named.map(\.destination) + unnamed
    }
}

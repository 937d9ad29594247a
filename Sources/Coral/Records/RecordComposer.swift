import CoreData
import GraphDocuments

/// Creates the record of an object, for every source of values: the properties of the shape in the order of its plan, null for
/// missing values, the destinations that the shape includes in the order of documents, and no reference to an object that does
/// not exist.
package struct RecordComposer {
    package let plan: ShapePlan

    package init(plan: ShapePlan) { self.plan = plan }

    /// The record of an object.
    ///
    /// Missing members of to-many relationships are omitted, and a to-one relationship to a missing object is null; both
    /// are reported, with the name of the relationship and the id of the missing object.
    package func record(
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
    package func arranged<Destination>(
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

/// Creates the ids of objects in one document: `Note/p12` for an object of the document's store, the whole URI for one
/// of another store, `#3` for an unsaved one, numbered in the order of first use.
package final class RecordNames {
    /// The UUID of the store in the document's header.
    package let store: String?
    /// Ids by natural keys, if the document has them.
    package let keys: KeyNames?
    /// The references to objects outside the document; nil where they are not treated differently: in whole stores, in
    /// the plain layout, and with a mapping.
    package var outside: OutsideReferences?
    /// The parts of IDs.
    package let objects = ObjectNames()
    private var numbers: [ObjectIDKey: Int] = [:]

    package init(store: String?, keys: KeyNames? = nil) {
        self.store = store
        self.keys = keys
    }

    package func name(of id: NSManagedObjectID) -> RecordID {
        if let name = keys?.name(of: id) { return name }
        if id.isTemporaryID { return .number(number(of: id)) }
        let name = objects.name(of: id)
        guard let key = name.primaryKey, name.store == store else {
            return RecordID(id.uriRepresentation().absoluteString)
        }
        return .stored(entity: name.entity, primaryKey: key)
    }

    /// The id of an object that a relationship refers to. That of an object outside the document contains its natural
    /// key, by which the object is found in other stores.
    package func reference(to id: NSManagedObjectID) -> RecordID {
        guard let outside, !outside.isMember(id), let key = outside.keys.name(of: id) else { return name(of: id) }
        return id.isTemporaryID || keys != nil ? key : name(of: id).adding(key: key)
    }

    private func number(of id: NSManagedObjectID) -> Int {
        if let number = numbers[ObjectIDKey(id)] { return number }
        let number = numbers.count + 1
        numbers[ObjectIDKey(id)] = number
        return number
    }
}

/// The IDs of objects, by the ids of their records, for documents with millions of records.
///
/// The text of an id takes more memory than the ID of its object, so a digest is kept instead.
struct RecordObjects {
    private var objects: [Digest: NSManagedObjectID] = [:]

    var isEmpty: Bool { objects.isEmpty }

    subscript(id: RecordID) -> NSManagedObjectID? {
        get { objects[Digest(id)] }
        set { objects[Digest(id)] = newValue }
    }

    /// 128 bits of a hash whose seed is random in each process: two ids of a document do not have the same, whatever they are.
    private struct Digest: Hashable {
        private let first: Int
        private let second: Int

        init(_ id: RecordID) {
            var text = id.text
            (first, second) = text.withUTF8 { (Digest.hash($0, 1), Digest.hash($0, 2)) }
        }

        private static func hash(_ text: UnsafeBufferPointer<UInt8>, _ variant: UInt8) -> Int {
            var hasher = Hasher()
            hasher.combine(variant)
            hasher.combine(bytes: UnsafeRawBufferPointer(text))
            return hasher.finalize()
        }

        func hash(into hasher: inout Hasher) { hasher.combine(first) }
    }
}

/// The values of one object of which a record is made: a managed object (`ObjectRecorder`) or a row (`RowRecorder`).
///
/// `RecordComposer` determines what the record contains; a source only reads values.
package protocol RecordSource {
    /// The value of an attribute of the entity's plan, nil for null.
    func value(of attribute: Int) throws -> GraphValue?

    /// Calls a function with each destination of a relationship of the entity's plan: those that the shape includes, in
    /// the order of documents (see `RecordComposer.arranged(_:of:entity:name:)`).
    mutating func forEachDestination(of relationship: Int, _ body: (RecordDestination) -> Void) throws
}

/// An object to which a relationship refers.
package enum RecordDestination {
    case existing(RecordID)
    /// No such object exists.
    case missing(RecordID)
}

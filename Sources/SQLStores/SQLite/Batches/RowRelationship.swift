import GRDB
import ManagedObjects
import SQLiteConnections

/// A relationship of the rows of a table: a column, or a join table.
package class RowRelationship {
    package let relationship: NSRelationshipDescription
    unowned let table: EntityRows
    /// The rows of the destination.
    unowned let other: EntityRows
    /// The model indexes of the entities whose objects may be a destination.
    private lazy var destinations = relationship.destinationIndexes

    init(_ relationship: NSRelationshipDescription, of table: EntityRows, to other: EntityRows) {
        self.relationship = relationship
        self.table = table
        self.other = other
    }

    final var writer: RowWriter { table.writer }
    final var database: Database { writer.batch.database }

    /// Whether objects of the entity with an index of the model may be a destination.
    package final func admits(_ entity: Int) -> Bool { destinations.contains(entity) }
}

extension EntityRows {
    /// A relationship that rows may support, and the rows of its destination: one that is not its own inverse, to an entity
    /// whose rows can be written.
    func supportedRelationship(
        named name: String, isToMany: Bool
    ) -> (relationship: NSRelationshipDescription, other: EntityRows)? {
        guard let relationship = entity.relationshipsByName[name], relationship.isToMany == isToMany,
            let destination = relationship.destinationEntity, let other = try? writer.table(of: destination),
            relationship.inverseRelationship !== relationship
        else { return nil }
        return (relationship, other)
    }
}

extension NSRelationshipDescription {
    /// The model indexes of the entities whose objects may be the destination.
    fileprivate var destinationIndexes: Set<Int> {
        var all: Set<Int> = []
        var rest = destinationEntity.map { [$0] } ?? []
        while let entity = rest.popLast() {
            all.insert(entity.index)
            rest += entity.subentities
        }
        return all
    }
}

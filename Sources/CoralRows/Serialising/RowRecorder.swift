import Coral
import CoreData
import GraphDocuments
import ManagedObjects
import SQLStores

/// Reads the rows of an entity for the records that `RecordComposer` creates, without objects: the same records as
/// those of `ObjectRecorder`, several times faster.
///
/// Entities with values that rows do not contain (transformable values, values in files, transient attributes, …)
/// are recorded through objects.
///
/// A class, because each row refers to it: to copy it would cost as much as to read the row.
final class RowRecorder {
    private let session: ExportSession
    private let rows: StoreRows
    private let entity: NSEntityDescription
    private let name: String
    private let plan: EntityPlan
    private var columns: [StoreRows.Column] = []
    /// The column of each attribute of the plan.
    private var attributes: [AttributeColumn] = []
    /// The columns of each relationship of the plan.
    private var relationships: [Relationship] = []

    private final class Relationship {
        let plan: EntityPlan.Relationship
        let reference: Reference
        /// The index of the cursor over the members of a to-many relationship.
        let members: Int?

        init(_ plan: EntityPlan.Relationship, _ reference: Reference, members: Int? = nil) {
            (self.plan, self.reference, self.members) = (plan, reference, members)
        }
    }

    /// The columns of a row that refer to another row.
    private struct Reference {
        /// The column with the stored key.
        var held: Int32
        /// The column with the key of the existing destination.
        var found: Int32
        /// The declared destination, and the column with the row's actual entity if the destination has subentities.
        var entity: (declared: NSEntityDescription, column: Int32?)
    }

    /// A recorder of an entity's rows. Throws `ObjectsReason` if objects are needed.
    init(_ entity: NSEntityDescription, session: ExportSession, rows: StoreRows) throws {
        self.session = session
        self.rows = rows
        self.entity = entity
        name = entity.name ?? ""
        plan = try session.plan.plan(for: entity)
        for attribute in plan.attributes {
            guard let described = entity.attributesByName[attribute.name],
                let column = AttributeColumn(described, at: Int32(columns.count + 1))
            else { throw reason(attribute.name, "is not a column of rows") }
            columns.append(.attribute([attribute.name]))
            attributes.append(column)
        }
        var toMany = 0
        for relationship in plan.relationships {
            guard let destination = relationship.description.destinationEntity
            else { throw reason(relationship.name, "has no destination") }
            let isOfOne = destination.subentities.isEmpty
            if relationship.isToMany {
                guard try cursor(overMembersOf: relationship) != nil else {
                    throw reason(relationship.name, "is its own inverse, or not stored")
                }
                relationships.append(
                    Relationship(
                        relationship, Reference(held: 2, found: 1, entity: (destination, isOfOne ? nil : 3)),
                        members: toMany))
                toMany += 1
            } else {
                let (held, found) = (add(.reference(relationship.name)), add(.object([relationship.name])))
                let column = isOfOne ? nil : add(.entity([relationship.name]))
                relationships.append(
                    Relationship(
                        relationship, Reference(held: held, found: found, entity: (destination, column))))
            }
        }
        guard try rows.cursor(over: entity, columns: columns) != nil else {
            throw ObjectsReason(.model, "Some values of \(name) are not columns of its rows.", entity: name)
        }
    }

    private func reason(_ property: String, _ why: String) -> ObjectsReason {
        ObjectsReason(.model, "\(name).\(property) \(why).", entity: name, property: property)
    }

    /// Adds a column, and returns its index.
    private func add(_ column: StoreRows.Column) -> Int32 {
        columns.append(column)
        return Int32(columns.count)
    }

    private func cursor(overMembersOf relationship: EntityPlan.Relationship) throws -> RowCursor? {
        let isOfSeveral = relationship.description.destinationEntity?.subentities.isEmpty == false
        return try rows.cursor(
            overMembersOf: relationship.description, entity: entity, columns: isOfSeveral ? [.entity([])] : [])
    }

    /// Creates all records, in the order of primary keys. Memory holds one; dangling references are reported and
    /// omitted.
    func forEachRecord(_ body: (GraphRecord) throws -> Void) throws {
        guard let cursor = try rows.cursor(over: entity, columns: columns) else { return }
        defer { cursor.finish() }
        var members: [MemberCursor] = []
        defer { for member in members { member.cursor.finish() } }
        for relationship in relationships where relationship.members != nil {
            guard let found = try self.cursor(overMembersOf: relationship.plan) else { return }
            members.append(try MemberCursor(found))
        }
        let composer = RecordComposer(plan: session.plan)
        var source = Row(recorder: self, composer: composer, cursor: cursor, members: members)
        while try cursor.next() {
            let id = RecordID.stored(entity: name, primaryKey: cursor.integer(0))
            let record = try composer.record(id, of: plan, from: &source) { relationship, target in
                session.noteMissing(target, relationship, of: id)
            }
            try body(record)
        }
    }

    /// The current row of a cursor.
    private struct Row: RecordSource {
        let recorder: RowRecorder
        let composer: RecordComposer
        let cursor: RowCursor
        var members: [MemberCursor]

        func value(of attribute: Int) -> GraphValue? {
            recorder.attributes[attribute].value(in: cursor)
        }

        mutating func forEachDestination(
            of relationship: Int, _ body: (RecordDestination) -> Void
        ) throws {
            let relationship = recorder.relationships[relationship]
            guard let index = relationship.members else {
                if let found = recorder.destination(relationship.reference, of: cursor),
                    composer.plan.includes(found.entity)
                {
                    body(found.inRecord)
                }
                return
            }
            let key = cursor.integer(0)
            guard relationship.reference.entity.column != nil else {
                // Rows of one entity are arranged by the statement.
                return try members[index].forEachMember(of: key) { cursor in
                    if let found = recorder.destination(relationship.reference, of: cursor) {
                        body(found.inRecord)
                    }
                }
            }
            var found: [Destination] = []
            try members[index].forEachMember(of: key) { cursor in
                if let destination = recorder.destination(relationship.reference, of: cursor) {
                    found.append(destination)
                }
            }
            composer.arranged(found, of: relationship.plan, entity: \.entity, name: \.name)
                .forEach { body($0.inRecord) }
        }
    }

    /// The row to which another refers.
    private struct Destination {
        var entity: NSEntityDescription
        var key: Int64
        var exists: Bool

        var name: ObjectName { ObjectName(store: nil, entity: entity.name ?? "", primaryKey: key) }

        var inRecord: RecordDestination {
            let id = RecordID.stored(entity: entity.name ?? "", primaryKey: key)
            return exists ? .existing(id) : .missing(id)
        }
    }

    /// The destination of a reference; nil if there is none.
    private func destination(_ reference: Reference, of cursor: RowCursor) -> Destination? {
        guard !cursor.isNull(reference.held) else { return nil }
        let declared = reference.entity.declared
        guard !cursor.isNull(reference.found) else {
            return Destination(entity: declared, key: cursor.integer(reference.held), exists: false)
        }
        var entity: NSEntityDescription? = declared
        if let column = reference.entity.column { entity = rows.entity(numbered: cursor.integer(column)) }
        return entity.map { Destination(entity: $0, key: cursor.integer(reference.found), exists: true) }
    }
}

import Coral
import CoreData
import GraphDocuments
import ManagedObjects
import SQLStores

/// Writes a whole store in the plain layout from its rows, without objects: many times faster, with the same bytes
/// as the export of objects.
///
/// Columns are determined once for each entity; the loop over rows only reads and writes them. Models that this
/// path does not support (values in files, references to an entity hierarchy, keys that are not unique, …) are exported
/// through objects.
struct RowExport {
    private let session: ExportSession
    private let layout: PlainLayout
    private let keys: KeyNames
    private let rows: StoreRows
    /// Dangling references. Their names are computed after the rows are read, when objects can be fetched again.
    private(set) var dangling = CountedEntries<Dangling>()

    /// A reference to an object that does not exist.
    struct Dangling {
        var relationship: String
        var owner: NSManagedObjectID
        var target: NSManagedObjectID
    }

    /// The destination of a reference has no natural key.
    struct UnnamedTarget: Error {
        var id: NSManagedObjectID
    }

    init(_ session: ExportSession, layout: PlainLayout, keys: KeyNames, rows: StoreRows) {
        self.session = session
        self.layout = layout
        self.keys = keys
        self.rows = rows
    }

    /// The columns of all entities. Throws `ObjectsReason` if objects are needed.
    func tables() throws -> [Table] {
        try layout.entities.compactMap { entity in
            guard let described = session.plan.model.entitiesByName[entity.name] else {
                throw ObjectsReason(.model, "The model has no entity \(entity.name).", entity: entity.name)
            }
            return described.isAbstract ? nil : try table(of: described, members: entity.members)
        }
    }

    /// Writes the document.
    mutating func write(_ tables: [Table], to sink: any ByteSink) throws {
        session.begin(total: try tables.reduce(0) { try $0 + rows.count(of: $1.entity) })
        var writer = JSONWriter(to: ByteOutput(to: sink))
        try writer.beginPlainDocument()
        for table in tables {
            try writer.beginPlainEntity(table.entity.name ?? "")
            try write(table, to: &writer)
            try writer.endArray()
        }
        try writer.endPlainDocument()
    }

    // MARK: - Columns

    private func table(of entity: NSEntityDescription, members: [String]?) throws -> Table {
        func reason(_ property: String, _ why: String) -> ObjectsReason {
            let name = entity.name ?? ""
            return ObjectsReason(.model, "\(name).\(property) \(why).", entity: name, property: property)
        }
        guard let members else {
            throw ObjectsReason(
                .options, "The layout does not list the members of its entities.", entity: entity.name)
        }
        var table = Table(entity: entity)
        for name in members {
            let content: Content
            if let attribute = entity.attributesByName[name] {
                guard let value = attribute.rowCodec(dates: layout.dates, decimals: layout.decimals) else {
                    throw reason(name, "is not a column of rows")
                }
                content = .attribute(Attribute(value, column: table.add([.attribute([name])])))
            } else if let relationship = entity.relationshipsByName[name] {
                guard let found = try reference(to: relationship, in: &table) else {
                    throw reason(
                        name, "refers to objects of several entities, or without a key that is unique in their rows"
                    )
                }
                content = found
            } else {
                throw reason(name, "is not a property")
            }
            table.members.append(Member(key: try JSONWriter.Key(name), content: content))
        }
        guard try rows.cursor(over: entity, columns: table.columns) != nil else {
            let name = entity.name ?? ""
            throw ObjectsReason(.model, "Some values of \(name) are not columns of its rows.", entity: name)
        }
        return table
    }

    private func reference(to relationship: NSRelationshipDescription, in table: inout Table) throws -> Content? {
        guard let destination = relationship.destinationEntity, destination.subentities.isEmpty,
            let paths = key(of: destination, generation: 0), try isUnique(destination, paths)
        else { return nil }
        var parts: [any RowCodec] = []
        for path in paths {
            guard let part = path.attribute.rowCodec(), part.canIdentify else { return nil }
            parts.append(part)
        }
        if relationship.isToMany {
            let columns = paths.map { StoreRows.Column.attribute($0.names) }
            guard
                try rows.cursor(overMembersOf: relationship, entity: table.entity, columns: columns) != nil
            else { return nil }
            return .toMany(ToMany(relationship, to: destination, columns: columns, parts: parts))
        }
        let name = relationship.name
        return .toOne(
            ToOne(
                relationship, to: destination, held: table.add([.reference(name)]),
                found: table.add([.object([name])]), parts: parts,
                first: table.add(paths.map { .attribute([name] + $0.names) })))
    }

    /// The key paths to the attributes of an entity's natural key; nil if it has none.
    private func key(
        of entity: NSEntityDescription, generation: Int
    ) -> [(names: [String], attribute: NSAttributeDescription)]? {
        guard generation < 16, let rule = keys.rule(of: entity) else { return nil }
        var paths: [(names: [String], attribute: NSAttributeDescription)] = []
        for part in rule.parts {
            if let attribute = entity.attributesByName[part.name] {
                paths.append(([part.name], attribute))
            } else if let destination = entity.relationshipsByName[part.name]?.destinationEntity,
                destination.subentities.isEmpty, let rest = key(of: destination, generation: generation + 1)
            {
                paths += rest.map { ([part.name] + $0.names, $0.attribute) }
            } else {
                return nil
            }
        }
        return paths
    }

    /// Whether no two objects have the same key: by a uniqueness constraint, or by a query.
    private func isUnique(
        _ entity: NSEntityDescription, _ key: [(names: [String], attribute: NSAttributeDescription)]
    ) throws -> Bool {
        let names = Set(key.map { $0.names.joined(separator: ".") })
        let isDeclared = entity.uniquenessConstraints.contains { Set($0.compactMap { $0 as? String }) == names }
        return try isDeclared || rows.hasDuplicates(of: entity, columns: key.map { .attribute($0.names) }) == false
    }

    // MARK: - Writing

    private mutating func write(_ table: Table, to writer: inout JSONWriter) throws {
        guard let cursor = try rows.cursor(over: table.entity, columns: table.columns) else { return }
        defer { cursor.finish() }
        var members: [MemberCursor] = []
        defer { for member in members { member.cursor.finish() } }
        for case .toMany(let toMany) in table.members.map(\.content) {
            guard
                let found = try rows.cursor(
                    overMembersOf: toMany.relationship, entity: table.entity, columns: toMany.columns)
            else { return }
            members.append(try MemberCursor(found))
        }
        let name = table.entity.name ?? ""
        var written = 0
        while try cursor.next() {
            try writer.beginPlainRecord()
            var toMany = 0
            for member in table.members {
                try writer.key(member.key)
                switch member.content {
                case .attribute(let attribute):
                    cursor.isNull(attribute.column)
                        ? try writer.null()
                        : try attribute.codec.write(attribute.column, of: cursor, to: &writer)
                case .toOne(let toOne):
                    if cursor.isNull(toOne.held) {
                        try writer.null()
                    } else if cursor.isNull(toOne.found) {
                        note(
                            toOne.relationship, of: table, cursor.integer(0), target: cursor.integer(toOne.held))
                        try writer.null()
                    } else {
                        try write(
                            toOne.parts, from: toOne.first, of: cursor, to: &writer,
                            target: (toOne.destination, cursor.integer(toOne.found)))
                    }
                case .toMany(let relationship):
                    try write(relationship, &members[toMany], of: table, cursor.integer(0), to: &writer)
                    toMany += 1
                }
            }
            try writer.endObject()
            written += 1
            // Progress is updated once for 256 rows: an update costs more than a row.
            if written % 256 == 0 { try session.didWrite(256, of: name) }
        }
        try session.didWrite(written % 256, of: name)
    }

    private mutating func write(
        _ toMany: ToMany, _ members: inout MemberCursor, of table: Table, _ key: Int64,
        to writer: inout JSONWriter
    ) throws {
        try writer.beginArray()
        try members.forEachMember(of: key) { cursor in
            if cursor.isNull(1) {
                note(toMany.relationship, of: table, key, target: cursor.integer(2))
            } else {
                try write(
                    toMany.parts, from: 3, of: cursor, to: &writer,
                    target: (toMany.destination, cursor.integer(1)))
            }
        }
        try writer.endArray()
    }

    /// Writes the natural key of an object. Throws if a value is missing, as the export of objects does.
    private func write(
        _ parts: [any RowCodec], from first: Int32, of cursor: RowCursor, to writer: inout JSONWriter,
        target: (entity: NSEntityDescription, key: Int64)
    ) throws {
        try writer.beginPlainReference(count: parts.count)
        for index in parts.indices {
            let column = first + Int32(index)
            if !cursor.isNull(column) {
                try parts[index].write(column, of: cursor, to: &writer)
            } else if let id = rows.objectID(of: target.entity, key: target.key) {
                throw UnnamedTarget(id: id)
            } else {
                try writer.null()
            }
        }
        try writer.endPlainReference(count: parts.count)
    }

    private mutating func note(
        _ relationship: NSRelationshipDescription, of table: Table, _ key: Int64, target: Int64
    ) {
        guard let destination = relationship.destinationEntity,
            let owner = rows.objectID(of: table.entity, key: key),
            let missing = rows.objectID(of: destination, key: target)
        else { return }
        dangling.add(Dangling(relationship: relationship.name, owner: owner, target: missing))
    }
}

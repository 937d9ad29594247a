#if !canImport(Darwin) && !CORAL_PUBLIC_API

    import CoreData
    import GraphDocuments
    @_spi(Stores) import ManagedObjects

    /// Creates the records of an entity's objects from the store's rows, without objects: the same records as
    /// `ObjectRecorder`, several times faster.
    ///
    /// Entities with values that rows do not contain (transformable values, values in files, transient attributes, …)
    /// are recorded through objects.
    struct RowRecorder {
        private let session: ExportSession
        private let rows: StoreRows
        private let entity: NSEntityDescription
        private let name: String
        private var columns: [StoreRows.Column] = []
        private var attributes: [Attribute] = []
        private var relationships: [Relationship] = []

        private struct Attribute {
            var name: String
            var value: any RowCodec
            var column: Int32
        }

        private struct Relationship {
            var description: NSRelationshipDescription
            var name: String
            var content: Content
        }

        private enum Content {
            /// The columns with the stored key and the key of the existing destination.
            case toOne(held: Int32, found: Int32, Target)
            case toMany(Target)
        }

        /// The entity of a relationship's destination objects.
        private enum Target {
            case one(name: String)
            /// Objects of several entities, and the column with the number of each object's entity.
            case several(column: Int32)
        }

        /// A recorder of an entity's rows. Throws `ObjectsReason` if objects are needed.
        init(_ entity: NSEntityDescription, session: ExportSession, rows: StoreRows) throws {
            self.session = session
            self.rows = rows
            self.entity = entity
            name = entity.name ?? ""
            let plan = try session.plan.plan(for: entity)
            for attribute in plan.attributes {
                guard let described = entity.attributesByName[attribute.name], let value = described.rowCodec()
                else { throw reason(attribute.name, "is not a column of rows") }
                attributes.append(
                    Attribute(name: attribute.name, value: value, column: add(.attribute([attribute.name]))))
            }
            for relationship in plan.relationships {
                guard let described = entity.relationshipsByName[relationship.name],
                    let destination = described.destinationEntity
                else { throw reason(relationship.name, "has no destination") }
                let content: Content
                if relationship.isToMany {
                    content = .toMany(target(destination) { 3 })
                    guard try cursor(overMembersOf: described) != nil else {
                        throw reason(relationship.name, "is its own inverse, or not stored")
                    }
                } else {
                    content = .toOne(
                        held: add(.reference(described.name)), found: add(.object([described.name])),
                        target(destination) { add(.entity([described.name])) })
                }
                relationships.append(Relationship(description: described, name: relationship.name, content: content))
            }
            guard try rows.cursor(over: entity, columns: columns) != nil else {
                throw ObjectsReason(.model, "Some values of \(name) are not columns of its rows.", entity: name)
            }
        }

        private func reason(_ property: String, _ why: String) -> ObjectsReason {
            ObjectsReason(.model, "\(name).\(property) \(why).", entity: name, property: property)
        }

        /// Adds a column, and returns its index.
        private mutating func add(_ column: StoreRows.Column) -> Int32 {
            columns.append(column)
            return Int32(columns.count)
        }

        private func target(_ destination: NSEntityDescription, _ column: () -> Int32) -> Target {
            destination.subentities.isEmpty ? .one(name: destination.name ?? "") : .several(column: column())
        }

        private func cursor(overMembersOf relationship: NSRelationshipDescription) throws -> RowCursor? {
            let isOfSeveral = relationship.destinationEntity?.subentities.isEmpty == false
            return try rows.cursor(
                overMembersOf: relationship, entity: entity, columns: isOfSeveral ? [.entity([])] : [])
        }

        /// Creates all records, in the order of primary keys. Memory holds one; dangling references are reported and
        /// omitted.
        func forEachRecord(_ body: (GraphRecord) throws -> Void) throws {
            guard let cursor = try rows.cursor(over: entity, columns: columns) else { return }
            defer { cursor.finish() }
            var members: [MemberCursor] = []
            defer { for member in members { member.cursor.finish() } }
            for relationship in relationships {
                guard case .toMany = relationship.content,
                    let found = try self.cursor(overMembersOf: relationship.description)
                else { continue }
                members.append(try MemberCursor(found))
            }
            while try cursor.next() {
                var record = GraphRecord(id: .stored(entity: name, primaryKey: cursor.integer(0)), entity: name)
                record.attributes.reserveCapacity(attributes.count)
                for attribute in attributes {
                    record.attributes.append(
                        GraphAttribute(
                            name: attribute.name,
                            value: cursor.isNull(attribute.column)
                                ? .null : attribute.value.read(attribute.column, of: cursor)))
                }
                record.relationships.reserveCapacity(relationships.count)
                var toMany = 0
                for relationship in relationships {
                    let target: RelationshipTarget
                    switch relationship.content {
                    case .toOne(let held, let found, let entities):
                        target = .toOne(
                            reference(
                                held: held, found: found, of: cursor, to: entities, by: relationship, of: record.id))
                    case .toMany(let entities):
                        target = .toMany(
                            try references(
                                &members[toMany], of: cursor.integer(0), to: entities, by: relationship, of: record.id))
                        toMany += 1
                    }
                    record.relationships.append(
                        GraphRelationship(
                            name: relationship.name, target: target, isOrdered: relationship.description.isOrdered))
                }
                try body(record)
            }
        }

        private func references(
            _ members: inout MemberCursor, of key: Int64, to target: Target, by relationship: Relationship,
            of owner: RecordID
        ) throws -> [RecordID] {
            var ids: [RecordID] = []
            var names: [(entity: String, key: Int64)] = []
            // Skips rows of subentities that inherit the relationship.
            while let found = members.owner, found <= key {
                if found == key,
                    let id = reference(held: 2, found: 1, of: members.cursor, to: target, by: relationship, of: owner)
                {
                    ids.append(id)
                    if case .several(let column) = target {
                        names.append((entityName(column, of: members.cursor) ?? "", members.cursor.integer(1)))
                    }
                }
                try members.advance()
            }
            // Rows are ordered by primary key; documents order objects by entity first.
            guard !relationship.description.isOrdered, !names.isEmpty else { return ids }
            return names.sorted { $0 < $1 }.map { .stored(entity: $0.entity, primaryKey: $0.key) }
        }

        /// The id of a row's destination; nil if there is none, or the shape excludes it.
        private func reference(
            held: Int32, found: Int32, of cursor: RowCursor, to target: Target, by relationship: Relationship,
            of owner: RecordID
        ) -> RecordID? {
            guard !cursor.isNull(held) else { return nil }
            guard !cursor.isNull(found) else {
                session.noteMissing(
                    .stored(
                        entity: relationship.description.destinationEntity?.name ?? "", primaryKey: cursor.integer(held)
                    ),
                    relationship.name, of: owner)
                return nil
            }
            switch target {
            case .one(let name): return .stored(entity: name, primaryKey: cursor.integer(found))
            case .several(let column):
                return entityName(column, of: cursor).map { .stored(entity: $0, primaryKey: cursor.integer(found)) }
            }
        }

        private func entityName(_ column: Int32, of cursor: RowCursor) -> String? {
            rows.entity(numbered: cursor.integer(column)).flatMap { session.plan.includes($0) ? $0.name : nil }
        }
    }

#endif

#if !canImport(Darwin) && !CORAL_PUBLIC_API
    import Coral
    @_spi(Stores) import ManagedObjects

    /// Reads the cells of a query from rows, without objects: for columns that are attributes, also of to-one destinations, names of
    /// such destinations, and numbers of members.
    struct RowQuery {
        private enum Source {
            case name
            case attribute(NSAttributeDescription, GraphSchema.Attribute, Int32)
            /// The columns of the destination's key and entity.
            case destination(key: Int32, entity: Int32)
            /// The index of the relationship whose members are counted.
            case count(Int)
        }

        private let entity: NSEntityDescription
        private var columns: [StoreRows.Column] = []
        private var sources: [Source] = []
        private var counted: [NSRelationshipDescription] = []

        /// Nil if a column needs objects.
        init?(_ columns: [QueryColumn], of entity: NSEntityDescription) {
            self.entity = entity
            for column in columns { guard add(column.keys) else { return nil } }
        }

        private mutating func add(_ keys: [String]) -> Bool {
            if keys == ["objectID"] {
                sources.append(.name)
                return true
            }
            if keys.count == 2, keys[1] == "@count", let relationship = entity.relationshipsByName[keys[0]],
                relationship.isToMany, !relationship.isTransient, relationship.inverseRelationship !== relationship
            {
                sources.append(.count(counted.count))
                counted.append(relationship)
                return true
            }
            var here = entity
            for (index, key) in keys.enumerated() {
                let isLast = index == keys.count - 1
                if let attribute = here.attributesByName[key] {
                    guard isLast, !attribute.isTransient, RowValue.isPlain(attribute.attributeType) else {
                        return false
                    }
                    sources.append(.attribute(attribute, GraphSchema.Attribute(attribute), add(.attribute(keys))))
                    return true
                }
                guard let relationship = here.relationshipsByName[key], !relationship.isToMany,
                    !relationship.isTransient,
                    let next = relationship.destinationEntity
                else { return false }
                here = next
            }
            sources.append(.destination(key: add(.object(keys)), entity: add(.entity(keys))))
            return true
        }

        private mutating func add(_ column: StoreRows.Column) -> Int32 {
            columns.append(column)
            return Int32(columns.count)
        }

        /// Passes the cells of each row of the entity itself to a closure, in the order of the keys, until it returns false.
        ///
        /// Returns false, without calling the closure, if the store does not have the columns. Throws `CocoaError.userCancelled` if
        /// the progress, which counts rows, is cancelled.
        func forEach(
            of store: NSPersistentStore, in context: NSManagedObjectContext, _ progress: Progress,
            _ body: ([QueryCell]) throws -> Bool
        ) throws -> Bool {
            try context.withRows(of: store) { rows in
                guard let cursor = try rows.cursor(over: entity, columns: columns) else { return false }
                defer { cursor.finish() }
                var counts: [MemberCount] = []
                defer { for count in counts { count.cursor.finish() } }
                for relationship in counted {
                    guard let members = try rows.cursor(overMembersOf: relationship, entity: entity, columns: []) else {
                        return false
                    }
                    counts.append(try MemberCount(members))
                }
                let name = entity.name ?? ""
                var count: Int64 = 0
                defer { progress.completedUnitCount += count % 256 }
                while try cursor.next() {
                    count += 1
                    if count % 256 == 0 {
                        if progress.isCancelled { throw CocoaError(.userCancelled) }
                        progress.completedUnitCount += 256
                    }
                    let key = cursor.integer(0)
                    let cells = try sources.map { source -> QueryCell in
                        switch source {
                        case .name: return .object("\(name)/p\(key)")
                        case .count(let index):
                            return .value(.integer(try counts[index].count(of: key)), nil)
                        case .destination(let key, let number):
                            guard !cursor.isNull(key),
                                let destination = rows.entity(numbered: cursor.integer(number))?.name
                            else { return .null }
                            return .object("\(destination)/p\(cursor.integer(key))")
                        case .attribute(let attribute, let schema, let column):
                            guard !cursor.isNull(column),
                                let value = RowValue.value(of: attribute.attributeType, in: cursor, column)
                            else { return .null }
                            return .value(value, schema)
                        }
                    }
                    guard try body(cells) else { return true }
                }
                return true
            } == true
        }

        /// The numbers of members of rows, read in the order of their owners' keys.
        private struct MemberCount {
            let cursor: RowCursor
            private var hasRow: Bool

            init(_ cursor: RowCursor) throws {
                self.cursor = cursor
                hasRow = try cursor.next()
            }

            /// The number of existing members of an owner. The keys must ascend.
            mutating func count(of owner: Int64) throws -> Int64 {
                while hasRow, cursor.integer(0) < owner { hasRow = try cursor.next() }
                var count: Int64 = 0
                while hasRow, cursor.integer(0) == owner {
                    if !cursor.isNull(1) { count += 1 }
                    hasRow = try cursor.next()
                }
                return count
            }
        }
    }

    /// Values of attributes in columns of rows.
    enum RowValue {
        /// Whether the values of a type are whole in a column.
        static func isPlain(_ type: NSAttributeType) -> Bool {
            switch type {
            case .stringAttributeType, .URIAttributeType, .UUIDAttributeType, .dateAttributeType,
                .integer16AttributeType,
                .integer32AttributeType, .integer64AttributeType, .doubleAttributeType, .floatAttributeType,
                .decimalAttributeType, .booleanAttributeType:
                true
            default: false
            }
        }

        static func text(in cursor: RowCursor, _ column: Int32) -> String {
            cursor.withText(column) { String(decoding: $0, as: UTF8.self) }
        }

        /// The value of a column that is not null; nil for a value that the type does not have.
        static func value(of type: NSAttributeType, in cursor: RowCursor, _ column: Int32) -> GraphValue? {
            switch type {
            case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
                .integer(cursor.integer(column))
            case .booleanAttributeType: .bool(cursor.integer(column) != 0)
            case .doubleAttributeType: .double(cursor.double(column))
            case .floatAttributeType: .float(Float(cursor.double(column)))
            case .dateAttributeType: .date(cursor.double(column))
            case .decimalAttributeType: cursor.decimal(column).map { .decimal($0) }
            case .UUIDAttributeType:
                cursor.withBytes(column) { bytes in
                    bytes.count == 16 ? .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))) : nil
                }
            case .stringAttributeType: .string(text(in: cursor, column))
            case .URIAttributeType: TextValue.anyValue(text(in: cursor, column), as: .uri)
            default: nil
            }
        }
    }
#endif

#if STORE_ENGINE
    import Coral
    import CoralRows
    @_spi(Stores) import ManagedObjects

    /// Reads the cells of a query from rows, without objects: for columns that are attributes, also of to-one destinations, names of
    /// such destinations, and numbers of members.
    struct RowQuery {
        fileprivate enum Source {
            case name
            case attribute(AttributeColumn, GraphSchema.Attribute)
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
                    guard isLast, let column = AttributeColumn(attribute, at: add(.attribute(keys))) else {
                        return false
                    }
                    sources.append(.attribute(column, GraphSchema.Attribute(attribute)))
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

        /// Passes each row of the entity itself to a closure, in the order of the keys, until it returns false.
        ///
        /// Returns false, without calling the closure, if the store does not have the columns. Throws `CocoaError.userCancelled` if
        /// the progress, which counts rows, is cancelled.
        func forEach(
            of store: NSPersistentStore, in context: NSManagedObjectContext, _ progress: Progress,
            _ body: (Row) throws -> Bool
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
                let row = Row(
                    entity: entity.name ?? "", sources: sources, cursor: cursor, names: EntityNames(rows),
                    counts: counts)
                var count: Int64 = 0
                defer { progress.completedUnitCount += count % 256 }
                while try cursor.next() {
                    count += 1
                    if count % 256 == 0 {
                        if progress.isCancelled { throw CocoaError(.userCancelled) }
                        progress.completedUnitCount += 256
                    }
                    guard try body(row) else { return true }
                }
                return true
            } == true
        }

        /// The cells of the row at which a cursor is.
        struct Row {
            fileprivate let entity: String
            fileprivate let sources: [Source]
            fileprivate let cursor: RowCursor
            fileprivate let names: EntityNames
            fileprivate let counts: [MemberCount]

            func cells() throws -> [QueryCell] {
                try sources.map { source in
                    switch source {
                    case .name: return .object("\(entity)/p\(cursor.integer(0))")
                    case .count(let index): return .value(.integer(try counts[index].count(of: cursor.integer(0))), nil)
                    case .destination(let key, let number):
                        guard let name = destination(key, number) else { return .null }
                        return .object("\(name)/p\(cursor.integer(key))")
                    case .attribute(let column, let schema):
                        let value = column.value(in: cursor)
                        return value.isNull ? .null : .value(value, schema)
                    }
                }
            }

            /// Writes the cells as the fields of a line.
            ///
            /// - Parameter zone: The time zone of dates; nil for UTC.
            func write(to table: inout TableWriter, in zone: TimeZone?) throws {
                for source in sources {
                    switch source {
                    case .name: try table.name(entity, cursor.integer(0))
                    case .count(let index): try table.integer(counts[index].count(of: cursor.integer(0)))
                    case .destination(let key, let number):
                        if let name = destination(key, number) {
                            try table.name(name, cursor.integer(key))
                        } else {
                            try table.null()
                        }
                    case .attribute(let column, let schema):
                        if zone != nil, schema.type == .date {
                            try QueryCell.value(column.value(in: cursor), schema).write(to: &table, in: zone)
                        } else {
                            try column.write(cursor, to: &table)
                        }
                    }
                }
            }

            /// The entity of a destination; nil if there is none.
            private func destination(_ key: Int32, _ number: Int32) -> String? {
                cursor.isNull(key) ? nil : names.name(of: cursor.integer(number))
            }
        }

        /// The names of entities by their numbers.
        fileprivate final class EntityNames {
            private let rows: StoreRows
            private var last: (number: Int64, name: String?)?

            init(_ rows: StoreRows) { self.rows = rows }

            /// Nil if the model has no such entity. Consecutive rows usually have the same.
            func name(of number: Int64) -> String? {
                if let last, last.number == number { return last.name }
                let name = rows.entity(numbered: number)?.name
                last = (number, name)
                return name
            }
        }

        /// The numbers of members of rows, read in the order of their owners' keys.
        fileprivate final class MemberCount {
            let cursor: RowCursor
            private var hasRow: Bool
            private var last: (owner: Int64, count: Int64) = (0, 0)

            init(_ cursor: RowCursor) throws {
                self.cursor = cursor
                hasRow = try cursor.next()
            }

            /// The number of existing members of an owner. The keys must ascend.
            func count(of owner: Int64) throws -> Int64 {
                if last.owner == owner { return last.count }
                while hasRow, cursor.integer(0) < owner { hasRow = try cursor.next() }
                var count: Int64 = 0
                while hasRow, cursor.integer(0) == owner {
                    if !cursor.isNull(1) { count += 1 }
                    hasRow = try cursor.next()
                }
                last = (owner, count)
                return count
            }
        }
    }
#endif

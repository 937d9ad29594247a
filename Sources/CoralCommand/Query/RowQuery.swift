#if STORE_ENGINE
    import Coral
    import CoralRows
    import ManagedObjects
    import SQLStores

    /// Reads the cells of a query from rows, without objects: for columns that are attributes, including those of to-one destinations, names of
    /// such destinations, and numbers of members. Memory holds one row.
    struct RowQuery {
        fileprivate let parts: [Part]
        fileprivate let request: NSFetchRequest<NSManagedObject>
        fileprivate let isSorted: Bool

        /// Nil if a column needs objects.
        ///
        /// - Parameters:
        ///   - entities: The entities whose rows are read one after the other; for an order, one with its subentities.
        ///   - isSorted: Whether the order is that of the request. Otherwise it is that of the entities and keys.
        init?(
            _ columns: [QueryColumn], of entities: [NSEntityDescription],
            matching request: NSFetchRequest<NSManagedObject>, isSorted: Bool
        ) {
            self.request = request
            self.isSorted = isSorted
            let parts = entities.compactMap { Part(columns, of: $0, isSorted: isSorted) }
            guard parts.count == entities.count else { return nil }
            self.parts = parts
        }

        /// Passes each row to a closure, and returns their number.
        ///
        /// Returns nil, without calling the closure, if the database cannot evaluate the request, or does not have the columns.
        /// Throws `CocoaError.userCancelled` if the progress, which counts rows, is cancelled.
        func forEach(
            of store: NSPersistentStore, in context: NSManagedObjectContext, _ progress: Progress,
            _ body: (Row) throws -> Void
        ) throws -> Int? {
            // To count what a predicate matches may take as long as to read it.
            if request.predicate == nil { progress.begin(try context.count(for: request)) }
            return try context.withRows(of: store) { try forEach(in: $0, progress, body) } ?? nil
        }

        /// Passes each of the rows of a state to a closure: see `forEach(of:in:_:_:)`.
        func forEach(in rows: StoreRows, _ progress: Progress, _ body: (Row) throws -> Void) throws -> Int? {
            var found: [Row] = []
            defer { for row in found { row.finish() } }
            for part in parts {
                guard let row = try part.row(of: rows, matching: request) else { return nil }
                found.append(row)
            }
            // The database skips and limits the rows of one statement.
            let limit = isSorted || request.fetchLimit == 0 ? Int.max : request.fetchLimit
            var (skipped, count) = (isSorted ? request.fetchOffset : 0, 0)
            defer { progress.completedUnitCount += Int64(count % 256) }
            for row in found {
                while count < limit, try row.next() {
                    guard skipped == request.fetchOffset else {
                        skipped += 1
                        continue
                    }
                    try body(row)
                    count += 1
                    guard count.isMultiple(of: 256) else { continue }
                    if progress.isCancelled { throw CocoaError(.userCancelled) }
                    progress.completedUnitCount += 256
                }
            }
            return count
        }
    }

    extension RowQuery {
        fileprivate enum Source {
            case name
            case attribute(AttributeColumn, GraphSchema.Attribute)
            /// The columns of a row's key and entity: of a destination, or of the row itself.
            case object(key: Int32, entity: Int32)
            /// A column with a number of members.
            case number(Int32)
            /// The index of the relationship whose members are counted.
            case count(Int)
        }

        /// The columns of one entity.
        fileprivate struct Part {
            private let entity: NSEntityDescription
            private let isSorted: Bool
            private var columns: [StoreRows.Column] = []
            private var sources: [Source] = []
            private var counted: [NSRelationshipDescription] = []

            /// Nil if a column needs objects.
            init?(_ columns: [QueryColumn], of entity: NSEntityDescription, isSorted: Bool) {
                self.entity = entity
                self.isSorted = isSorted
                for column in columns { guard add(column.keys) else { return nil } }
            }

            private mutating func add(_ keys: [String]) -> Bool {
                if keys == ["objectID"] {
                    sources.append(isSorted ? .object(key: 0, entity: add(.entity([]))) : .name)
                    return true
                }
                if keys.count == 2, keys[1] == "@count", let relationship = entity.relationshipsByName[keys[0]],
                    relationship.isToMany, !relationship.isTransient, relationship.inverseRelationship !== relationship
                {
                    if isSorted {
                        sources.append(.number(add(.memberCount(keys[0]))))
                    } else {
                        sources.append(.count(counted.count))
                        counted.append(relationship)
                    }
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
                sources.append(.object(key: add(.object(keys)), entity: add(.entity(keys))))
                return true
            }

            private mutating func add(_ column: StoreRows.Column) -> Int32 {
                columns.append(column)
                return Int32(columns.count)
            }

            /// A cursor before the first row; nil if the database cannot evaluate the request, or does not have the columns.
            func row(of rows: StoreRows, matching request: NSFetchRequest<NSManagedObject>) throws -> Row? {
                let own = NSFetchRequest<NSManagedObject>(request)
                if !isSorted {
                    (own.includesSubentities, own.fetchOffset, own.fetchLimit) = (false, 0, 0)
                    own.sortDescriptors = nil
                }
                guard let cursor = try rows.cursor(over: entity, matching: own, columns: columns) else { return nil }
                var counts: [MemberCount] = []
                for relationship in counted {
                    guard let members = try rows.cursor(overMembersOf: relationship, entity: entity, columns: []) else {
                        return nil
                    }
                    counts.append(MemberCount(members))
                }
                return Row(
                    entity: entity.name ?? "", sources: sources, cursor: cursor, names: EntityNames(rows),
                    counts: counts)
            }
        }

        /// The cells of the row at which a cursor is.
        struct Row {
            fileprivate let entity: String
            fileprivate let sources: [Source]
            fileprivate let cursor: RowCursor
            fileprivate let names: EntityNames
            fileprivate let counts: [MemberCount]

            fileprivate func next() throws -> Bool { try cursor.next() }

            fileprivate func finish() {
                cursor.finish()
                for count in counts { count.cursor.finish() }
            }

            func cells() throws -> [QueryCell] {
                try sources.map { source in
                    switch source {
                    case .name: return .object("\(entity)/p\(cursor.integer(0))")
                    case .count(let index): return .value(.integer(try counts[index].count(of: cursor.integer(0))), nil)
                    case .number(let column): return .value(.integer(cursor.integer(column)), nil)
                    case .object(let key, let number):
                        guard let name = entity(key, number) else { return .null }
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
                    case .number(let column): try table.integer(cursor.integer(column))
                    case .object(let key, let number):
                        if let name = entity(key, number) {
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

            /// The entity of a row; nil if there is no row.
            private func entity(_ key: Int32, _ number: Int32) -> String? {
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
            /// Whether the cursor is at a row; nil before the first.
            private var hasRow: Bool?
            private var last: (owner: Int64, count: Int64) = (0, 0)

            init(_ cursor: RowCursor) { self.cursor = cursor }

            /// The number of existing members of an owner. The keys must ascend.
            func count(of owner: Int64) throws -> Int64 {
                if last.owner == owner { return last.count }
                var hasRow = try self.hasRow ?? cursor.next()
                while hasRow, cursor.integer(0) < owner { hasRow = try cursor.next() }
                var count: Int64 = 0
                while hasRow, cursor.integer(0) == owner {
                    if !cursor.isNull(1) { count += 1 }
                    hasRow = try cursor.next()
                }
                self.hasRow = hasRow
                last = (owner, count)
                return count
            }
        }
    }
#endif

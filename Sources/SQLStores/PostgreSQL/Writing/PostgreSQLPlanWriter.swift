#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import SQLStatements

    /// Writes a save plan inside a transaction: deletions, updates, insertions, pairs, history. One statement for the rows of an
    /// entity with the same columns. All statements are sent before the first result is awaited, except the history's if rows are
    /// deleted, whose last values it contains.
    ///
    /// Rows that another transaction has changed are those that a statement does not return. All of them are collected,
    /// because merging needs them.
    struct PostgreSQLPlanWriter {
        private let store: UInt16
        private let content: PostgreSQLStore.Content
        private let connection: PostgreSQLConnection
        private let notices: DerivedNotices?
        /// Whether a statement fails if it does not write all that it should, so that a commit can be sent after it.
        private var requiresAll = false
        private(set) var outcome = SaveOutcome()
        private var history: PostgreSQLHistoryWriter?
        /// The sources and destinations of changed pairs, by relationship.
        private var changedRelationships = ChangedRelationships()
        private let now = Date().timeIntervalSinceReferenceDate
        /// What is done with the result of each statement that was sent.
        private var handlers: [Handler] = []
        /// The rows that other transactions have changed or deleted.
        private var lost: [Lost] = []

        private typealias Handler = (inout PostgreSQLPlanWriter, PostgreSQLResult) throws -> Void

        private struct Lost {
            let entity: SQLEntity
            let rows: [(key: Int64, version: Int64)]
        }

        private var schema: SQLSchema { content.schema }

        /// - Parameter notices: Collects the rows whose derived attributes triggers change.
        init(
            store: UInt16, content: PostgreSQLStore.Content, connection: PostgreSQLConnection, notices: DerivedNotices?
        ) {
            self.store = store
            self.content = content
            self.connection = connection
            self.notices = notices
        }

        /// Writes the whole plan.
        ///
        /// - Throws: ``SaveConflicts`` for rows that have been changed, and PostgreSQL's errors; the transaction must then be
        ///   rolled back.
        mutating func write(_ plan: SavePlan, url: URL?) throws {
            try begin(plan)
            let outcome = try connection.pipelined { try send(plan, by: $0) }
            for (handler, result) in zip(handlers, outcome.results) { try handler(&self, result) }
            // Conflicts in updates are thrown in preference to the error of a unique constraint.
            if !lost.isEmpty {
                // Other transactions need not wait until the rows are read.
                try connection.execute(script: "ROLLBACK")
                var finder = PostgreSQLConflictFinder(content: content, store: store, connection: connection)
                for lost in lost { try finder.addStale(lost.entity, lost.rows) }
                throw finder.conflicts
            }
            if let failure = outcome.failure { throw failure }
            if let metadata = plan.metadata {
                let tables = PostgreSQLTables(location: content.location)
                if let stored = try tables.metadata(in: connection, url: url) {
                    try tables.write(stored.replacing(with: metadata), in: connection)
                }
            }
            if let notices {
                try notices.writeTexts(of: schema, in: connection)
                self.outcome.computed += try notices.values(in: connection, content: content, store: store)
            }
            try history?.finish(outcome.results.dropFirst(handlers.count))
        }

        /// The largest number of changes of a plan that is sent with its commit.
        private static let atOnceLimit = 256

        /// Whether a plan can be sent with its commit, because no statement depends on the results of others. A larger one would be written
        /// twice if it fails.
        static func canSendAtOnce(_ plan: SavePlan, _ content: PostgreSQLStore.Content) -> Bool {
            plan.deletes.isEmpty && plan.metadata == nil && plan.changeCount <= atOnceLimit
                && !content.derivesFromOthers
                && content.history?.keepingOldValues == nil && !content.keepsOldValues
        }

        /// Sends the statements of a plan, which fail if others have changed its rows. The caller sends the commit.
        mutating func sendAtOnce(_ plan: SavePlan, by pipeline: PostgreSQLPipeline) throws {
            requiresAll = true
            try begin(plan)
            history?.requiresNumber = true
            try send(plan, by: pipeline)
        }

        private mutating func begin(_ plan: SavePlan) throws {
            history = content.history.map {
                PostgreSQLHistoryWriter(
                    $0, content: content, connection: connection, author: plan.author, contextName: plan.contextName)
            }
            if history != nil { changedRelationships = ChangedRelationships(plan.pairs, schema) }
            if plan.deletes.isEmpty { try history?.reserveNumbers(plan.changeCount) }
        }

        private mutating func send(_ plan: SavePlan, by pipeline: PostgreSQLPipeline) throws {
            for group in plan.deletes { try delete(group, pipeline) }
            try vacate(plan.updates, pipeline)
            for group in plan.updates { try update(group, pipeline) }
            for group in plan.inserts { try insert(group, pipeline) }
            for group in plan.pairs {
                guard let pairs = schema.pairs(of: group.relationship) else {
                    throw CocoaError(
                        .persistentStoreSave, "The relationship “\(group.relationship.name)” has no join table.")
                }
                try PairStatements(pairs: pairs).write(group) { try send($0, $1, by: pipeline) }
            }
            if plan.deletes.isEmpty { try history?.send(by: pipeline) }
        }

        private mutating func send(
            _ sql: String, _ parameters: [PostgreSQLValue], by pipeline: PostgreSQLPipeline,
            handler: @escaping Handler = { _, _ in }
        ) throws {
            try pipeline.send(sql, parameters)
            handlers.append(handler)
        }

        // MARK: - Inserting

        private mutating func insert(
            _ group: SavePlan.Group<SavePlan.Insert>, _ pipeline: PostgreSQLPipeline
        ) throws {
            let entity = try schema.requireEntity(group.entity)
            let derivations = OwnDerivations(entity.entity)
            var columns = ColumnArrays(
                entity, slots: entity.storedSlots, schema: schema, capacity: group.changes.count)
            for change in group.changes {
                guard !derivations.slots.isEmpty else {
                    try columns.append(change.values, key: change.key)
                    continue
                }
                var values = change.values
                noteComputed(derivations.apply(to: &values, now: now), of: entity, key: change.key)
                try columns.append(values, key: change.key)
            }
            let keys = PostgreSQLArray(group.changes.lazy.map(\.key))
            let root = schema.root(of: entity)
            if let root { content.keys.drop(rangesWith: group.changes.lazy.map(\.key), ofRoot: root.number) }
            try send(
                RowStatements(entity: entity).insertion(columns.names, raising: root),
                [.array(keys)] + columns.values, by: pipeline)
            history?.changes.insert(entity, keys: group.changes.lazy.map(\.key))
        }

        private mutating func noteComputed(
            _ values: [(slot: Int, value: Value)], of entity: SQLEntity, key: Int64
        ) {
            for (slot, value) in values { outcome.computed.append((entity.entity.index, key, slot, value)) }
        }

        // MARK: - Updating

        /// Rows whose changes have the same columns.
        private struct Updates: Hashable {
            let slots: [Int]
            let checksVersion: Bool
        }

        /// If the rows whose version is checked have more different sets of changed columns than this, one statement
        /// writes all of these columns for each of them. It writes unchanged values too, which are those of the checked
        /// version.
        private static let statementLimit = 2

        private mutating func update(
            _ group: SavePlan.Group<SavePlan.Update>, _ pipeline: PostgreSQLPipeline
        ) throws {
            var written = WrittenSlots(try schema.requireEntity(group.entity))
            var sets: [(updates: Updates, indexes: [Int])] = []
            var positions: [Updates: Int] = [:]
            for index in group.changes.indices {
                let updates = Updates(
                    slots: written.slots(of: group.changes[index].slots),
                    checksVersion: group.changes[index].checksVersion)
                // Mostly those of the previous row.
                if sets.last?.updates == updates {
                    sets[sets.count - 1].indexes.append(index)
                } else if let position = positions[updates] {
                    sets[position].indexes.append(index)
                } else {
                    positions[updates] = sets.count
                    sets.append((updates, [index]))
                }
            }
            let checked = sets.filter(\.updates.checksVersion)
            if checked.count > Self.statementLimit {
                let slots = Set(checked.flatMap(\.updates.slots)).sorted()
                sets.removeAll(where: \.updates.checksVersion)
                sets.append((Updates(slots: slots, checksVersion: true), checked.flatMap(\.indexes)))
            }
            for (updates, indexes) in sets.sorted(by: { $0.indexes[0] < $1.indexes[0] }) {
                try update(group, indexes, updates, &written, pipeline)
            }
        }

        private mutating func update(
            _ group: SavePlan.Group<SavePlan.Update>, _ indexes: [Int], _ updates: Updates,
            _ written: inout WrittenSlots,
            _ pipeline: PostgreSQLPipeline
        ) throws {
            let entity = written.entity
            // In the order in which their rows are locked.
            let indexes = indexes.sorted { group.changes[$0].key < group.changes[$1].key }
            var columns = ColumnArrays(entity, slots: updates.slots, schema: schema, capacity: indexes.count)
            var keys = PostgreSQLArray(of: .integer, capacity: indexes.count)
            var versions = PostgreSQLArray(of: .integer, capacity: indexes.count)
            for index in indexes {
                let change = group.changes[index]
                keys.append(change.key)
                versions.append(change.version)
                var values = change.values.complete
                noteComputed(written.derivations.apply(to: &values, now: now), of: entity, key: change.key)
                try columns.append(values, key: change.key)
                guard history != nil else { continue }
                history?.changes.update(
                    entity, key: change.key, slots: written.slots(of: change.slots),
                    toMany: changedRelationships.indexes(of: entity, change))
            }
            try send(
                RowStatements(entity: entity).update(
                    columns.names, checksVersion: updates.checksVersion, requiresAll: requiresAll),
                [.array(keys), .array(versions)] + columns.values, by: pipeline
            ) { writer, result in
                guard result.rowCount < indexes.count else { return }
                let found = Set((0..<result.rowCount).map { result.integer($0, 0) })
                let lost = indexes.map { group.changes[$0] }.filter { !found.contains($0.key) }
                writer.lost.append(Lost(entity: entity, rows: lost.map { ($0.key, $0.version) }))
            }
        }

        /// Clears unique values of all rows that get other ones, so that rows can exchange their values.
        private mutating func vacate(
            _ groups: [SavePlan.Group<SavePlan.Update>], _ pipeline: PostgreSQLPipeline
        ) throws {
            // A single row cannot exchange values with another.
            guard groups.reduce(0, { $0 + $1.changes.count }) > 1 else { return }
            // The keys by column: a column of a row that keeps its value is not written again.
            var touched: [String: (entity: SQLEntity, rows: Int, keys: [String: [Int64]])] = [:]
            for group in groups {
                let entity = try schema.requireEntity(group.entity)
                let constrained = UniqueValues.slots(of: entity)
                guard !constrained.isEmpty else { continue }
                for update in group.changes {
                    let columns = update.slots.filter(constrained.contains).compactMap { entity.columns[$0]?.name }
                    guard !columns.isEmpty, update.checksVersion else { continue }
                    touched[entity.table, default: (entity, 0, [:])].rows += 1
                    for column in columns { touched[entity.table]?.keys[column, default: []].append(update.key) }
                }
            }
            for (_, table) in touched.sorted(by: { $0.key < $1.key }) where table.rows > 1 {
                for (column, keys) in table.keys.sorted(by: { $0.key < $1.key }) {
                    try send(
                        RowStatements(entity: table.entity).clearing(column),
                        [.array(PostgreSQLArray(keys.sorted()))], by: pipeline)
                }
            }
        }

        // MARK: - Deleting

        private mutating func delete(
            _ group: SavePlan.Group<SavePlan.Delete>, _ pipeline: PostgreSQLPipeline
        ) throws {
            let entity = try schema.requireEntity(group.entity)
            let preserved = history == nil ? [] : HistoryTables.preservedColumns(of: entity)
            for checksVersion in [true, false] {
                let changes = group.changes.filter { $0.checksVersion == checksVersion }.sorted { $0.key < $1.key }
                guard !changes.isEmpty else { continue }
                try send(
                    RowStatements(entity: entity).deletion(checksVersion: checksVersion, returning: preserved),
                    [.array(PostgreSQLArray(changes.map(\.key))), .array(PostgreSQLArray(changes.map(\.version)))],
                    by: pipeline
                ) { writer, result in
                    let cursor = PostgreSQLCursor(result)
                    var tombstones: [Int64: [ColumnValue]] = [:]
                    while try cursor.step() {
                        tombstones[cursor.integer(0)] = preserved.indices.map { cursor.value($0 + 1) }
                    }
                    for change in changes {
                        guard let tombstone = tombstones[change.key] else { continue }
                        writer.history?.changes.delete(entity, key: change.key, tombstone: tombstone)
                    }
                    if checksVersion, tombstones.count < changes.count {
                        let lost = changes.filter { tombstones[$0.key] == nil }
                        writer.lost.append(Lost(entity: entity, rows: lost.map { ($0.key, $0.version) }))
                    }
                }
            }
            try deletePairs(of: entity, keys: group.changes.map(\.key).sorted(), pipeline)
        }

        /// Removes all pairs of deleted rows.
        private mutating func deletePairs(
            of entity: SQLEntity, keys: [Int64], _ pipeline: PostgreSQLPipeline
        ) throws {
            guard !keys.isEmpty else { return }
            for table in schema.joinTables {
                let columns = schema.columns(of: table, referringTo: entity)
                guard !columns.isEmpty else { continue }
                let condition = columns.map { "\($0) = ANY($1)" }.joined(separator: " OR ")
                try send(
                    "DELETE FROM \(table.name) WHERE \(condition)", [.array(PostgreSQLArray(keys))], by: pipeline)
            }
        }
    }
#endif

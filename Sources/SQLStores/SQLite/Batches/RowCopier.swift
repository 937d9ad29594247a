import Foundation
import GRDB
import ManagedObjects
import SQLiteConnections
import SQLStatements

/// Copies rows with set operations: finds them with one recursive statement, assigns a new key to each, and inserts the
/// copies with one statement for each entity and each join table.
///
/// Temporary tables map each row to its copy: one for each root entity, because keys are unique within its table.
struct RowCopier {
    private let batch: BatchTransaction
    private let request: RowCopyRequest
    private let plan: RowCopyPlan
    private let now = Date().timeIntervalSinceReferenceDate

    private var database: Database { batch.database }

    init(_ request: RowCopyRequest, by plan: RowCopyPlan, batch: BatchTransaction) {
        self.batch = batch
        self.request = request
        self.plan = plan
    }

    /// Copies rows and the rows that their relationships reach.
    func copy(_ roots: [ObjectKey]) throws -> (pairs: [(original: ObjectKey, copy: ObjectKey)], changed: [ObjectKey]) {
        let functions = [Self.uuid, newFile]
        functions.forEach(database.add(function:))
        defer { functions.forEach(database.remove(function:)) }
        try database.execute(sql: RowCopyTables.creation(plan.roots.map(\.number)))
        defer { try? database.execute(sql: RowCopyTables.removal(plan.roots.map(\.number))) }
        try walk(from: roots)
        for root in plan.roots { try number(root) }
        let links = LinkedRowRecorder(batch: batch, plan: plan, now: now)
        try links.requireNoOrder()
        try copyFiles()
        for entity in plan.inOrder {
            try request.willContinue()
            try insert(entity)
        }
        let pairs = RowPairCopier(batch: batch, plan: plan)
        for table in batch.schema.joinTables {
            try request.willContinue()
            try pairs.copy(table)
        }
        return (try copies(), try links.noteLinks())
    }

    // MARK: - Walk

    private func walk(from roots: [ObjectKey]) throws {
        let steps = plan.steps.map { " UNION SELECT \($0)" }.joined()
        let groups = Dictionary(grouping: roots) { Int($0.entity) }
        for (index, keys) in groups.sorted(by: { $0.key < $1.key }) {
            guard let entity = plan.entity(at: index) else { continue }
            let rows = SQLSelect(
                ["\(entity.root)", "Z_PK", "Z_ENT"], from: entity.sql.table,
                where: .all([.entities([entity.sql.number]), .keys]))
            let insertion = SQLInsert(
                into: RowCopyTables.roots, ["r", "k", "e"], selection: rows, duplicates: .areIgnored)
            let found = try batch.run(SQLQuery(insertion, list: keys.map(\.number)))
            guard found == Set(keys.map(\.number)).count else {
                throw RowCopyObstacle(.rows, "An object of \(entity.sql.entity.name) to copy does not exist.")
            }
        }
        try request.willContinue()
        // The first term of a step is the row that was found. `CROSS JOIN` fixes the order of the loops.
        try batch.run(
            SQLQuery(
                sql: "WITH RECURSIVE walk(r, k, e) AS (SELECT r, k, e FROM \(RowCopyTables.roots)\(steps)) "
                    + "INSERT INTO \(RowCopyTables.found) (r, k, e) SELECT r, k, e FROM walk"))
    }

    /// Assigns keys to the copies of a root entity's rows, in the order of the originals.
    private func number(_ root: SQLEntity) throws {
        try request.willContinue()
        let last = try PrimaryKeys.last(root.number, table: root.table, in: database)
        let numbered = SQLSelect(
            ["k", "\(last) + row_number() OVER (ORDER BY k)", "e"], from: RowCopyTables.found,
            where: .text("r = \(root.number)"))
        let insertion = SQLInsert(
            into: RowCopyTables.map(root.number), ["old", "new", "ent"], selection: numbered)
        let count = try batch.run(SQLQuery(insertion))
        guard count > 0 else { return }
        try PrimaryKeys.raise(root.number, to: last + Int64(count), name: root.entity.name, in: database)
    }

    private func copies() throws -> [(original: ObjectKey, copy: ObjectKey)] {
        var result: [(ObjectKey, ObjectKey)] = []
        for root in plan.roots {
            let copies = SQLSelect(["old", "new", "ent"], from: RowCopyTables.map(root.number))
            let statement = try SQLStatement(copies, in: database)
            defer { statement.finish() }
            while try statement.step() {
                guard let index = batch.schema.entityIndex(number: statement.integer(2)) else { continue }
                func key(_ column: Int) -> ObjectKey {
                    ObjectKey(
                        store: batch.store, entity: UInt16(truncatingIfNeeded: index), number: statement.integer(column)
                    )
                }
                result.append((key(0), key(1)))
            }
        }
        return result
    }

    // MARK: - Inserting

    private func insert(_ entity: RowCopyPlan.Entity) throws {
        var columns: [String] = []
        var expressions: [String] = []
        var bound: [(slot: Int, value: Value)] = []
        var required: [String] = []
        let writer = ValueWriter(schema: batch.schema, externalData: batch.content.externalData)
        for (slot, description) in entity.slots.enumerated() {
            guard let column = entity.sql.columns[slot] else { continue }
            columns.append(column.name)
            switch plan.content(of: slot, in: entity) {
            case .original:
                expressions.append(column.hasStorageByte ? RowCopyTables.withCopiedFiles(column) : "o.\(column.name)")
            case .uuid: expressions.append("CoralNewUUID()")
            case .null: expressions.append("NULL")
            case .value(let value):
                bound.append((slot, value))
                // Each copy has a file of its own.
                let target = ValueWriter.Target(slot: slot, of: entity.sql, column: column)
                expressions.append(try writer.needsFile(value, for: target) ? "CoralNewFile(?)" : "?")
            case .reference(let expression):
                expressions.append(expression)
                if !description.isOptional, description.name != nil || description.attribute != nil {
                    required.append(column.name)
                }
            }
            guard let companion = column.companion else { continue }
            columns.append(companion)
            let reference = expressions[expressions.count - 1]
            expressions.append("CASE WHEN \(reference) IS NULL THEN NULL ELSE o.\(companion) END")
        }
        let map = RowCopyTables.map(entity.root)
        let copies = SQLSelect(
            ["m.new", "o.Z_ENT", "1"] + expressions, from: RowCopyTables.rows(of: entity, "old"),
            where: .text("m.ent = \(entity.sql.number)"))
        let insertion = SQLInsert(
            into: entity.sql.table, SQLEntity.rowColumns + columns, selection: copies)
        let statement = try SQLStatement(insertion, in: database)
        defer { statement.finish() }
        // Without files the data themselves are bound, from which the function makes the files.
        var inlineWriter = ValueWriter(schema: batch.schema, externalData: nil)
        var position = 1
        for (slot, value) in bound {
            // A companion column is computed by an expression, not bound as a parameter.
            guard let column = entity.sql.columns[slot] else { continue }
            let target = ValueWriter.Target(slot: slot, of: entity.sql, column: column)
            position = try inlineWriter.bind(value, to: target, of: statement, at: position)
        }
        try statement.run()
        guard database.changesCount > 0 else { return }
        for column in required { try requireNoNull(column, entity) }
        let inserted = SQLSelect(["new"], from: map, where: .text("ent = \(entity.sql.number)"), orderBy: ["new"])
        try batch.history?.insertAll(entity.sql, keys: inserted)
    }

    /// A copy that lacks a required object could not be saved; the copy with objects reports which one.
    private func requireNoNull(_ column: String, _ entity: RowCopyPlan.Entity) throws {
        let statement = try SQLStatement(
            "SELECT 1 FROM \(RowCopyTables.rows(of: entity, "new")) "
                + "WHERE m.ent = \(entity.sql.number) AND o.\(column) IS NULL LIMIT 1", in: database)
        defer { statement.finish() }
        if try statement.step() {
            throw RowCopyObstacle(.rows, "A copy of \(entity.sql.entity.name) would lack a required object.")
        }
    }

    // MARK: - Files

    /// Copies the files of large values, and records the new content of the copies' columns.
    private func copyFiles() throws {
        guard let externalData = batch.content.externalData else { return }
        for entity in plan.entities {
            for slot in entity.slots.indices {
                guard let column = entity.sql.columns[slot], column.hasStorageByte,
                    case .original = plan.content(of: slot, in: entity)
                else { continue }
                try copyFiles(of: column, entity, externalData)
            }
        }
    }

    private func copyFiles(of column: SQLColumn, _ entity: RowCopyPlan.Entity, _ externalData: ExternalData) throws {
        let statement = try SQLStatement(
            "SELECT o.\(column.name) FROM \(RowCopyTables.rows(of: entity, "old")) "
                + "WHERE m.ent = \(entity.sql.number) AND length(o.\(column.name)) < 39 "
                + "AND substr(o.\(column.name), 1, 1) = x'02'", in: database)
        var columns: [Data] = []
        while try statement.step() { if let data = statement.data(0) { columns.append(data) } }
        statement.finish()
        for data in columns {
            guard let name = data.withUnsafeBytes({ ExternalData.name(in: $0) }),
                externalData.hasFile(named: name)
            else { continue }
            let copy = try externalData.copy(name)
            batch.take(files: [copy])
            try batch.run(
                SQLQuery(
                    sql: "INSERT OR REPLACE INTO \(RowCopyTables.files) (old, new) VALUES (?, ?)",
                    arguments: [.blob(data), .blob(ExternalData.column(naming: copy))]))
        }
    }

    /// Writes a column's data to a new file, and returns the column that names it.
    private var newFile: DatabaseFunction {
        // SQLite calls the function in the thread of the statement.
        nonisolated(unsafe) let batch = batch
        let externalData = batch.content.externalData
        return DatabaseFunction("CoralNewFile", argumentCount: 1) { arguments in
            guard let externalData, let marked = Data.fromDatabaseValue(arguments[0]) else { return nil }
            let name = try externalData.write(Data(marked.dropFirst()))
            batch.take(files: [name])
            return ExternalData.column(naming: name)
        }
    }

    private static let uuid = DatabaseFunction("CoralNewUUID", argumentCount: 0) { _ in
        withUnsafeBytes(of: UUID().uuid) { Data($0) }
    }
}

/// Copies the pairs of many-to-many relationships: those of two copied rows, and those of a copied row and a row to
/// which the rules keep links.
struct RowPairCopier {
    let batch: BatchTransaction
    let plan: RowCopyPlan

    func copy(_ table: SQLJoinTable) throws {
        let relationship = table.owner
        let inverse = plan.schema.model.inverse(of: relationship)
        let source = plan.root(of: relationship.entity)
        let destination = plan.root(of: relationship.destination)
        let positions = table.columns.dropFirst(2).map { "p.\($0)" }
        func insert(_ keys: [String], from rows: String, where condition: String) throws {
            let pairs = SQLSelect(keys + positions, from: rows, where: .text(condition))
            try batch.run(SQLQuery(SQLInsert(into: table.name, table.columns, selection: pairs)))
        }
        if let source, let destination {
            var conditions: [String] = []
            if let numbers = plan.list(relationship) { conditions.append("a.ent IN (\(numbers))") }
            if let numbers = inverse.flatMap({ plan.list($0) }) { conditions.append("b.ent IN (\(numbers))") }
            if !conditions.isEmpty {
                try insert(
                    ["a.new", "b.new"],
                    from: "\(RowCopyTables.map(source.number)) a "
                        + "CROSS JOIN \(table.name) p ON p.\(table.sourceColumn) = a.old "
                        + "CROSS JOIN \(RowCopyTables.map(destination.number)) b ON b.old = p.\(table.destinationColumn)",
                    where: conditions.joined(separator: " OR "))
            }
        }
        if let source, let numbers = plan.list(relationship, where: \.reachesOthers) {
            let linked = linked(
                relationship, table.sourceColumn, table.destinationColumn, table.name, source, numbers)
            try insert(["a.new", "p.\(table.destinationColumn)"], from: linked.rows, where: linked.condition)
        }
        if let destination, let inverse, let numbers = plan.list(inverse, where: \.reachesOthers) {
            let linked = linked(
                inverse, table.destinationColumn, table.sourceColumn, table.name, destination, numbers)
            try insert(["p.\(table.sourceColumn)", "a.new"], from: linked.rows, where: linked.condition)
        }
    }

    /// The pairs of a copied row `a` and a row that is not copied, from the copied row's side.
    private func linked(
        _ relationship: SchemaRelationship, _ near: String, _ far: String, _ table: String, _ root: SQLEntity,
        _ numbers: String
    ) -> (rows: String, condition: String) {
        let rows = "\(RowCopyTables.map(root.number)) a CROSS JOIN \(table) p ON p.\(near) = a.old"
        var condition = "a.ent IN (\(numbers))"
        guard let other = plan.schema.destination(of: relationship) else { return (rows, condition) }
        if let map = plan.root(of: relationship.destination) {
            condition += " AND NOT EXISTS (SELECT 1 FROM \(RowCopyTables.map(map.number)) WHERE old = p.\(far))"
        }
        condition += " AND EXISTS (SELECT 1 FROM \(other.table) WHERE Z_PK = p.\(far))"
        return (rows, condition)
    }
}

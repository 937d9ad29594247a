import CodedErrors
import Coral
import GRDB
import ModelFiles

/// Writes the objects of a store into a plain database, record by record: memory does not grow with their number.
package struct PlainDatabase {
    private(set) var schema: PlainSchema
    /// The UUID of the store, from which UUIDs of objects are computed.
    let storeUUID: String
    /// The folder of binary values; nil writes them into the rows.
    let folder: ExternalFileFolder?

    package init(schema: PlainSchema, storeUUID: String, folder: ExternalFileFolder?) {
        self.schema = schema
        self.storeUUID = storeUUID
        self.folder = folder
    }

    /// What was written.
    package struct Result {
        /// The tables, with a column for both sides of relationships whose sides contradict each other in the store.
        package var schema: PlainSchema
        /// The parts of the schema that were omitted because the store does not satisfy them.
        package var exceptions = PlainExceptions()
        /// One-to-one relationships whose sides contradict each other in the store, as `Entity.name`.
        package var twoSided: [String] = []
        /// The numbers of rows, by table.
        package var counts: [String: Int] = [:]
        /// What the database does not contain, as sentences: values whose files are missing, references to objects that do not
        /// exist, and the constraints that the store does not satisfy.
        package var lost = Findings()
        /// The properties whose values differ from the store's.
        package var different = Findings()
    }

    /// Passes all records of one state of a store to its argument; is called several times.
    package typealias Records = ((GraphRecord) throws -> Void) throws -> Void

    /// Creates the tables in an empty database and writes all records; then reads each row again and compares it with
    /// its record.
    ///
    /// Throws `ConversionError`, errors of the database and the file system, and `CocoaError.userCancelled`. The progress
    /// counts each object twice.
    package func write(_ records: Records, to destination: URL, progress: Progress) throws -> Result {
        var result = Result(schema: schema)
        var count: Int64 = 0
        var sides = PlainSides(schema)
        try pass(records, progress) { batch in
            count += Int64(batch.count)
            for record in batch {
                survey(record, &result.exceptions)
                sides.add(record)
            }
        }
        progress.setTotal(Int(count) * 2)
        result.twoSided = sides.contradicting.map { "\($0.entity.name ?? "").\($0.name)" }
        var plain = self
        plain.schema = schema.adding(columnsFor: sides.contradicting)
        result.schema = plain.schema
        return try plain.write(records, to: destination, result, progress)
    }

    private func pass(
        _ records: Records, _ progress: Progress, _ body: @escaping ([GraphRecord]) throws -> Void
    ) throws {
        let batches = RecordBatches(progress, body)
        try records { try batches.add($0) }
        try batches.finish()
    }

    private func write(
        _ records: Records, to destination: URL, _ surveyed: Result, _ progress: Progress
    ) throws -> Result {
        var result = surveyed
        for (table, columns) in result.exceptions.nulls.sorted(by: { $0.key < $1.key }) {
            for column in columns.sorted() {
                result.lost.add(
                    "\(table).\(column) has nulls in the store, so that the constraint NOT NULL was omitted.")
            }
        }
        var configuration = Configuration()
        // Rows are result before those that they refer to. All references are checked at the end.
        configuration.foreignKeysEnabled = false
        // The database is moved to its location when it is complete and on disk.
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF") }
        let queue = try DatabaseQueue(path: destination.path, configuration: configuration)
        try queue.write { database in
            for statement in schema.tableStatements(result.exceptions) { try database.execute(sql: statement) }
        }
        try pass(records, progress) { batch in
            try queue.write { database in for record in batch { try insert(record, database, &result) } }
            progress.completedUnitCount += Int64(batch.count)
        }
        if !ordered.isEmpty || schema.joins.contains(where: { $0.inversePosition != nil }) {
            try pass(records, progress) { batch in
                try queue.write { database in for record in batch { try setPositions(of: record, database) } }
            }
        }
        try queue.write { database in
            for statement in schema.indexStatements { try database.execute(sql: statement) }
            try checkReferences(in: database)
        }
        try queue.writeWithoutTransaction { try addUniqueIndexes(to: $0, &result) }
        let comparison = PlainComparison(self)
        try pass(records, progress) { batch in
            try queue.read { database in
                for record in batch { try comparison.compare(record, database, &result.different) }
            }
            progress.completedUnitCount += Int64(batch.count)
        }
        try queue.close()
        return result
    }

    private func survey(_ record: GraphRecord, _ exceptions: inout PlainExceptions) {
        guard let table = schema.table(of: record.entity) else { return }
        for column in table.columns where column.isRequired {
            let isNull =
                switch column.content {
                case .attribute(let path, _): PlainValue.databaseValue(record.value(at: path)).isNull
                case .reference(let relationship): record.target(of: relationship.name)?.ids.isEmpty != false
                case .key, .entity, .position: false
                }
            if isNull { exceptions.nulls[table.name, default: []].insert(column.name) }
        }
    }

    // MARK: - Rows

    private func insert(_ record: GraphRecord, _ database: Database, _ result: inout Result) throws {
        guard let table = schema.table(of: record.entity) else { return }
        let values = try table.columns.map { column in
            if case .attribute(let path, _) = column.content {
                noteLoss(of: record.value(at: path), "\(record.id).\(path.joined(separator: "."))", &result)
            }
            return try value(of: column, in: record)
        }
        let names = table.columns.map { SQLText.name($0.name) }.joined(separator: ", ")
        let marks = table.columns.map { _ in "?" }.joined(separator: ", ")
        try database.cachedStatement(sql: "INSERT INTO \(SQLText.name(table.name)) (\(names)) VALUES (\(marks))")
            .execute(arguments: StatementArguments(values))
        result.counts[table.name, default: 0] += 1
        try insertPairs(of: record, database, &result)
    }

    /// Notes a value that is null in the database.
    private func noteLoss(of value: GraphValue, _ place: String, _ result: inout Result) {
        switch value {
        case .file(let file) where file.isMissing: result.lost.add("The file of \(place) is missing.")
        case .date where PlainValue.databaseValue(value).isNull:
            result.lost.add("\(place) is \(TextValue.text(of: value) ?? ""), a date outside the years 1 to 9999.")
        default: break
        }
    }

    /// The value of a column. A position is null here: positions are written after all rows.
    private func value(of column: PlainTable.Column, in record: GraphRecord) throws -> DatabaseValue {
        switch column.content {
        case .key: return key(of: record.id, in: record.entity)
        case .entity: return record.entity.databaseValue
        case .position: return .null
        case .reference(let relationship):
            guard column.entities.contains(record.entity) else { return .null }
            return reference(record.target(of: relationship.name)?.ids.first)
        case .attribute(let path, _):
            guard column.entities.contains(record.entity) else { return .null }
            let value = PlainValue.databaseValue(record.value(at: path))
            // Binary values in files are replaced by the paths of the files.
            guard let folder, case .blob(let data) = value.storage else { return value }
            return try folder.add(data).path.databaseValue
        }
    }

    private func insertPairs(of record: GraphRecord, _ database: Database, _ result: inout Result) throws {
        for join in schema.joins where isOwner(record, of: join) {
            for (index, id) in (record.target(of: join.relationship.name)?.ids ?? []).enumerated() {
                if join.isSymmetric, id.text < record.id.text { continue }
                var names = [join.ownerColumn, join.memberColumn]
                var values = [key(of: record.id, in: record.entity), key(of: id)]
                if let position = join.position {
                    names.append(position)
                    values.append(index.databaseValue)
                }
                try database.cachedStatement(
                    sql: "INSERT INTO \(SQLText.name(join.name)) (\(names.map(SQLText.name).joined(separator: ", "))) "
                        + "VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))"
                ).execute(arguments: StatementArguments(values))
                result.counts[join.name, default: 0] += 1
            }
        }
    }

    func isOwner(_ record: GraphRecord, of join: PlainJoin) -> Bool {
        PlainSchema.hierarchy(of: join.relationship.entity).contains { $0.name == record.entity }
    }

    // MARK: - Positions

    /// The ordered to-many relationships whose positions have a column in the members' table, by the names of their owners.
    private var ordered:
        [(owners: Set<String>, relationship: NSRelationshipDescription, column: String, table: PlainTable)]
    {
        schema.tables.flatMap { table in
            table.columns.compactMap { column in
                guard case .position(let toOne) = column.content, let toMany = PlainSchema.inverse(toOne) else {
                    return nil
                }
                let owners = Set(PlainSchema.hierarchy(of: toMany.entity).map { $0.name ?? "" })
                return (owners, toMany, column.name, table)
            }
        }
    }

    private func setPositions(of record: GraphRecord, _ database: Database) throws {
        for (owners, relationship, column, table) in ordered where owners.contains(record.entity) {
            let statement = try database.cachedStatement(
                sql: "UPDATE \(SQLText.name(table.name)) SET \(SQLText.name(column)) = ? "
                    + "WHERE \(SQLText.name(table.columns[0].name)) = ?")
            for (index, id) in (record.target(of: relationship.name)?.ids ?? []).enumerated() {
                try statement.execute(arguments: [index, key(of: id)])
            }
        }
        for join in schema.joins {
            guard let position = join.inversePosition, let inverse = PlainSchema.inverse(join.relationship),
                PlainSchema.hierarchy(of: inverse.entity).contains(where: { $0.name == record.entity })
            else { continue }
            let statement = try database.cachedStatement(
                sql: "UPDATE \(SQLText.name(join.name)) SET \(SQLText.name(position)) = ? WHERE "
                    + "\(SQLText.name(join.ownerColumn)) = ? AND \(SQLText.name(join.memberColumn)) = ?")
            for (index, id) in (record.target(of: inverse.name)?.ids ?? []).enumerated() {
                try statement.execute(arguments: [index, key(of: id), key(of: record.id, in: record.entity)])
            }
        }
    }

    // MARK: - Constraints

    private func addUniqueIndexes(to database: Database, _ result: inout Result) throws {
        for (name, statement) in schema.uniqueStatements {
            do {
                try database.execute(sql: statement)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                result.exceptions.duplicates.insert(name)
                result.lost.add("The store has duplicates of unique values, so that the index \(name) was omitted.")
            }
        }
    }

    private func checkReferences(in database: Database) throws {
        var examples: [String] = []
        var count = 0
        let rows = try Row.fetchCursor(database, sql: "PRAGMA foreign_key_check")
        while let row = try rows.next() {
            count += 1
            if count <= 3 { examples.append("\(row["table"] as String? ?? "") -> \(row["parent"] as String? ?? "")") }
        }
        guard count == 0 else {
            throw ConversionError(
                .danglingReferences,
                "\(count == 1 ? "1 reference" : "\(count) references") of the store refer to objects that do not exist: "
                    + "\(examples.joined(separator: ", ")). Repair a copy with coral check --repair first.")
        }
    }

    // MARK: - Keys

    func reference(_ id: RecordID?) -> DatabaseValue { id.map { key(of: $0) } ?? .null }

    /// The key of an object: its primary key, or a UUID computed from a hash of the store, the table and the primary key.
    ///
    /// - Parameter entity: The object's entity; nil if the id contains it.
    func key(of id: RecordID, in entity: String? = nil) -> DatabaseValue {
        let number = id.primaryKey ?? 0
        guard schema.keys == .uuid else { return number.databaseValue }
        let root = schema.table(of: entity ?? id.entity ?? "")?.entity.name ?? ""
        var bytes = Array(SecureHash.sha256(Data("\(storeUUID)/\(root)/\(number)".utf8)).prefix(16))
        // Version 8, for UUIDs that a program computes by its own rule, and the variant of RFC 9562.
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let uuid = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        return uuid.uuidString.databaseValue
    }
}

/// A list of sentences, of which only the first are kept.
package struct Findings {
    package private(set) var count = 0
    package private(set) var examples: [String] = []
    private static let limit = 20

    mutating func add(_ sentence: String) { add([sentence], of: 1) }

    /// Adds the first of `count` sentences; the others are only counted.
    package mutating func add(_ sentences: [String], of count: Int) {
        self.count += count
        examples += sentences.prefix(max(Self.limit - examples.count, 0))
    }
}

/// The domain of ``ConversionError``.
package enum ConversionErrorDomain: ErrorDomain {
    package typealias Place = String

    /// The message alone, because it contains the place.
    package static func _description(of message: String, at place: String?) -> String { message }
}

/// The reason why a store cannot be converted.
package typealias ConversionError = CodedError<ConversionErrorDomain>

extension ConversionError.Code {
    /// References of the store refer to objects that do not exist.
    package static let danglingReferences = Self(rawValue: "danglingReferences")
}

/// Collects records, which the exporter passes one by one on its own queue, for work on another queue.
private final class RecordBatches {
    private let progress: Progress
    private let body: ([GraphRecord]) throws -> Void
    private var batch: [GraphRecord] = []
    private static let size = 500

    init(_ progress: Progress, _ body: @escaping ([GraphRecord]) throws -> Void) {
        self.progress = progress
        self.body = body
    }

    func add(_ record: GraphRecord) throws {
        batch.append(record)
        if batch.count == Self.size { try finish() }
    }

    func finish() throws {
        if progress.isCancelled { throw CocoaError(.userCancelled) }
        try body(batch)
        batch.removeAll(keepingCapacity: true)
    }
}

extension GraphRecord {
    /// The value of an attribute, or of an element of a composite one. Null if there is none.
    func value(at path: [String]) -> GraphValue {
        var value = path.first.flatMap { self.value(of: $0) } ?? .null
        for name in path.dropFirst() {
            guard case .composite(let elements) = value else { return .null }
            value = elements.first { $0.name == name }?.value ?? .null
        }
        return value
    }
}

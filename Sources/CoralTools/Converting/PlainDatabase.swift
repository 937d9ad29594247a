import CodedErrors
import Coral
import GRDB
import GRDBSQLite
import ModelFiles

/// Writes the objects of a store into a plain database, record by record: memory does not grow with their number.
package struct PlainDatabase {
    private(set) var schema: PlainSchema
    private(set) var entities: PlainEntities
    /// The UUID of the store, from which UUIDs of objects are computed.
    let storeUUID: String
    /// The folder of binary values; nil writes them into the rows.
    let folder: ExternalFileFolder?

    package init(schema: PlainSchema, storeUUID: String, folder: ExternalFileFolder?) {
        self.schema = schema
        entities = PlainEntities(schema)
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

    /// Passes the records of some entities, or of all, of one state of a store to its second argument; is called several times.
    package typealias Records = (_ entities: Set<String>?, (GraphRecord) throws -> Void) throws -> Void

    /// Creates the tables in an empty database and writes all records; then reads each row again and compares it with
    /// its record.
    ///
    /// Throws `ConversionError`, errors of the database and the file system, and `CocoaError.userCancelled`. The progress
    /// counts each object twice; its total is the caller's.
    package func write(_ records: Records, to destination: URL, progress: Progress) throws -> Result {
        var result = Result(schema: schema)
        var sides = PlainSides(schema)
        try pass(records, of: schema.entitiesWithRequirements.union(sides.entities), progress) { batch in
            for record in batch {
                survey(record, &result.exceptions)
                sides.add(record)
            }
        }
        result.twoSided = sides.contradicting.map { "\($0.entity.name ?? "").\($0.name)" }
        var plain = self
        plain.schema = schema.adding(columnsFor: sides.contradicting)
        plain.entities = PlainEntities(plain.schema)
        result.schema = plain.schema
        return try plain.write(records, to: destination, result, progress)
    }

    /// - Parameter entities: The entities of the records; nil for all.
    private func pass(
        _ records: Records, of entities: Set<String>? = nil, _ progress: Progress,
        _ body: @escaping ([GraphRecord]) throws -> Void
    ) throws {
        if entities?.isEmpty == true { return }
        let batches = RecordBatches(progress, body)
        try records(entities) { try batches.add($0) }
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
        try pass(records, of: schema.ownersOfPositions, progress) { batch in
            try queue.write { database in for record in batch { try setPositions(of: record, database) } }
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
        guard let entity = entities.entity(of: record) else { return }
        for (source, column) in zip(entity.sources, entity.table.columns) where column.isRequired {
            if PlainEntity.isNull(source, of: record) {
                exceptions.nulls[entity.table.name, default: []].insert(column.name)
            }
        }
    }

    // MARK: - Rows

    private func insert(_ record: GraphRecord, _ database: Database, _ result: inout Result) throws {
        guard let entity = entities.entity(of: record) else { return }
        let values = try entity.sources.map { try value($0, in: record, &result) }
        try execute(entity.insertion, values, database)
        result.counts[entity.table.name, default: 0] += 1
        for pairs in entity.pairs { try insert(pairs, of: record, database, &result) }
    }

    private func execute(_ statement: String, _ values: [DatabaseValue], _ database: Database) throws {
        let statement = try database.cachedStatement(sql: statement)
        // The number of values is that of the statement's parameters.
        statement.setUncheckedArguments(StatementArguments(values))
        for (index, value) in values.enumerated() {
            // GRDB's arguments lose what follows a NUL in a text.
            guard case .string(let text) = value.storage, text.utf8.contains(0) else { continue }
            Self.bind(text, to: statement.sqliteStatement, at: Int32(index + 1))
        }
        try statement.execute()
    }

    /// Binds a text with its length. SQLite copies it.
    private static func bind(_ text: String, to statement: SQLiteStatement, at position: Int32) {
        // `SQLITE_TRANSIENT`, which Swift does not import.
        let isCopied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        var text = text
        _ = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                sqlite3_bind_text(
                    statement, position, characters.baseAddress, Int32(truncatingIfNeeded: characters.count), isCopied)
            }
        }
    }

    /// The value of a column. A position is null here: positions are written after all rows.
    private func value(
        _ source: PlainEntity.Source, in record: GraphRecord, _ result: inout Result
    ) throws -> DatabaseValue {
        switch source {
        case .key: return key(of: record.id, in: record.entity)
        case .entity: return record.entity.databaseValue
        case .position, .absent: return .null
        case .reference(let place): return reference(PlainEntity.target(place, of: record))
        case .attribute(let place, let path, let attribute):
            let value = PlainEntity.value(place, path, of: record)
            let stored = PlainValue.databaseValue(value)
            if stored.isNull {
                noteLoss(of: value, { "\(record.id).\(([attribute.name] + path).joined(separator: "."))" }, &result)
            }
            // Binary values in files are replaced by the paths of the files.
            guard let folder, case .blob(let data) = stored.storage else { return stored }
            return try folder.add(data).path.databaseValue
        }
    }

    /// Notes a value that is null in the database.
    private func noteLoss(of value: GraphValue, _ place: () -> String, _ result: inout Result) {
        switch value {
        case .file(let file) where file.isMissing: result.lost.add("The file of \(place()) is missing.")
        case .double, .float: result.lost.add("\(place()) is not a number (NaN), which SQLite does not store.")
        case .date:
            result.lost.add("\(place()) is \(TextValue.text(of: value) ?? ""), a date outside the years 1 to 9999.")
        default: break
        }
    }

    private func insert(
        _ pairs: PlainEntity.Pairs, of record: GraphRecord, _ database: Database, _ result: inout Result
    ) throws {
        let join = pairs.join
        let owner = key(of: record.id, in: record.entity)
        for (index, id) in record.relationships[pairs.place].target.ids.enumerated() {
            if join.isSymmetric, id.text < record.id.text { continue }
            let values = [owner, key(of: id)]
            try execute(
                pairs.insertion, join.position == nil ? values : values + [index.databaseValue], database)
            result.counts[join.name, default: 0] += 1
        }
    }

    // MARK: - Positions

    private func setPositions(of record: GraphRecord, _ database: Database) throws {
        guard let entity = entities.entity(of: record) else { return }
        for positions in entity.positions {
            for (index, id) in record.relationships[positions.place].target.ids.enumerated() {
                let keys = [key(of: id)] + (positions.isOfPairs ? [key(of: record.id, in: record.entity)] : [])
                try execute(positions.update, [index.databaseValue] + keys, database)
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

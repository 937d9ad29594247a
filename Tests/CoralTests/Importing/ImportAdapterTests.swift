#if !canImport(Darwin)

    @testable import Coral
    import CoralTesting
    import GRDB
    import GraphDocuments
    @testable import ManagedObjects
    import Testing

    /// An import by rows and an import through objects have the same effect: the same store, the same counts, the same
    /// conflicts and the same errors, for random models, stores, documents and options.
    @Suite(.enabled(if: Engine.hasRows)) struct ImportAdapterTests {
        @Test(arguments: 1...120) func `rows and objects give the same store and the same report`(seed: UInt64) throws {
            var generator = ImportCaseGenerator(seed: seed)
            let model = generator.makeModel()
            let (rows, objects, whole) = (try ImportCase(model), try ImportCase(model), try ImportCase(model))
            let first = generator.document()
            for store in [rows, objects, whole] {
                _ = try? store.importWhole(first, generator.lenientOptions)
                try store.execute(generator.foreignEdits)
            }
            // Whether a document was imported through objects by the importer that prefers rows.
            var isMixed = false
            // Whether records were imported through objects after the rows of others: their primary keys are later ones.
            var hasOtherKeys = false
            for _ in 0..<2 {
                let document = generator.document()
                let options = generator.options()
                let before = try rows.contents()
                let path = rows.path(of: document, options)
                let isByRows = path == .rows
                if case .rowsAndObjects? = path { hasOtherKeys = true }
                #expect(try rows.contents() == before)
                isMixed = isMixed || !isByRows
                let one = rows.importDocument(document, options, by: .always)
                let two = objects.importDocument(document, options, by: .never)
                let three = whole.report { try whole.importWhole(document, options) }
                let comment: Comment = "\(document)"
                if case .success(let report) = one {
                    #expect(try report == two.get(), comment)
                    #expect(try report.counts == three.get().counts, comment)
                    // Versions differ after two saves of the object importer, and where rows or positions are written
                    // twice: in a contested one-to-one relationship, and in an ordered one.
                    let hasVersions = !isMixed && !generator.isContested && !generator.isOrdered
                    for (other, hasVersions) in [(whole, hasVersions), (objects, false)] {
                        try requireSame(
                            rows.contents(withVersions: hasVersions, withKeys: !hasOtherKeys),
                            other.contents(withVersions: hasVersions, withKeys: !hasOtherKeys), comment)
                    }
                } else {
                    // The errors themselves are compared one by one in `RowImportTests`: an import in batches stops at
                    // the first batch with errors, and reports missing required objects last.
                    #expect(two.code != nil && three.code != nil, "\(one) \(document)")
                    // Batches of objects that were saved before an error are kept.
                    if path?.isOneTransaction ?? true { try requireSame(rows.contents(), before, comment) }
                    break
                }
                // Importing the same document again changes nothing, by rows and through objects.
                for path in [RowImporting.always, .never] where generator.isRepeatable {
                    let again = rows.importDocument(document, options, by: path)
                    #expect(try again.get().counts.dropFirst().allSatisfy { $0 == 0 }, comment)
                }
            }
        }
    }

    /// Expects the same rows, and reports those that differ.
    private func requireSame(
        _ one: [String: [String]], _ two: [String: [String]], _ comment: Comment,
        location: SourceLocation = #_sourceLocation
    ) {
        for table in Set(one.keys).union(two.keys).sorted() {
            let (left, right) = (one[table] ?? [], two[table] ?? [])
            let (more, less) = (left.filter { !right.contains($0) }, right.filter { !left.contains($0) })
            #expect(left == right, "\(table): \(more) instead of \(less)\n\(comment)", sourceLocation: location)
        }
    }

    /// A store in a file, and the ways to import into it.
    private final class ImportCase {
        let url: URL
        private let context: NSManagedObjectContext
        private let folder: URL

        /// The report of an import.
        struct Report: Equatable {
            /// The numbers of records, insertions, updates, changed relationships and deletions.
            var counts: [Int]
            var conflicts: [String]
        }

        /// An error, with the code of an `ImportError`.
        struct Failure: Error {
            var code: String
            var text: String
        }

        init(_ model: NSManagedObjectModel) throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            url = folder.appendingPathComponent("Store.sqlite")
            context = try makeContext(model, at: url)
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func report(_ work: () throws -> Report) -> Result<Report, Failure> {
            do { return .success(try work()) } catch let error as ImportError {
                return .failure(Failure(code: error.code.rawValue, text: "\(error)"))
            } catch {
                return .failure(Failure(code: "\(type(of: error))", text: "\(error)"))
            }
        }

        /// How an import would be executed; nil for an error.
        func path(of document: String, _ options: ImportOptions) -> ExecutionPath? {
            guard let coordinator = context.persistentStoreCoordinator else { return nil }
            var importer = BatchImporter(into: coordinator, options: options)
            importer.rowImporting = .always
            do {
                return try importer.explain(.data(Data(document.utf8)))
            } catch {
                // An error is reported by the importer that finds it first: both write nothing before.
                return .rows
            }
        }

        func importDocument(
            _ document: String, _ options: ImportOptions, by path: RowImporting
        ) -> Result<Report, Failure> {
            report {
                var importer = BatchImporter(into: try #require(context.persistentStoreCoordinator), options: options)
                importer.rowImporting = path
                let result = try importer.importDocument(.data(Data(document.utf8)))
                return Report(
                    counts: [
                        result.recordCount, result.insertCount, result.updateCount, result.linkCount,
                        result.deletionCount, result.conflicts.count,
                    ], conflicts: result.conflicts.map(\.message))
            }
        }

        /// Imports a document as a whole through objects, with one save.
        @discardableResult
        func importWhole(_ document: String, _ options: ImportOptions) throws -> Report {
            try context.performAndWait {
                defer { context.reset() }
                var importer = GraphImporter(into: context, options: options)
                importer.worksInPlace = true
                let plan: ImportPlan<NSManagedObject> = try importer.plan(.data(Data(document.utf8)), entity: nil)
                try plan.apply()
                if context.hasChanges { try context.save() }
                return Report(
                    counts: [
                        plan.recordCount, plan.inserts.count, plan.updates.count, plan.links.count,
                        plan.deletions.count, plan.conflicts.count,
                    ], conflicts: plan.conflicts.map(\.message))
            }
        }

        /// Whether a column contains primary keys.
        private static func isKey(_ column: String) -> Bool {
            ["Z_PK", "ZOWNER", "ZPARENT", "ZMAIN", "ZMAINOF"].contains(column)
                || column.hasPrefix("Z_") && column.dropFirst(2).first?.isNumber == true
        }

        /// Executes statements, as another program would.
        func execute(_ statements: [String]) throws {
            try DatabaseQueue(path: url.path).write { database in
                for statement in statements { try database.execute(sql: statement) }
            }
        }

        /// All rows of all tables except the metadata.
        ///
        /// - Parameter withKeys: Whether primary keys and references are compared; otherwise only their number is.
        func contents(withVersions: Bool = true, withKeys: Bool = true) throws -> [String: [String]] {
            try DatabaseQueue(path: url.path).read { database in
                var rows: [String: [String]] = [:]
                let names = try String.fetchAll(
                    database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
                for name in names where !["Z_METADATA", "Z_MODELCACHE"].contains(name) {
                    let columns = try database.columns(in: name).map(\.name).filter { withVersions || $0 != "Z_OPT" }
                        // Positions may differ while the order is the same.
                        .map { $0 == "Z_FOK_OWNER" ? "rank() OVER (PARTITION BY ZOWNER ORDER BY \($0)) AS \($0)" : $0 }
                        .map { withKeys || !Self.isKey($0) ? $0 : "\($0) IS NULL AS \($0)" }
                    rows[name] = try Row.fetchAll(
                        database, sql: "SELECT \(columns.joined(separator: ", ")) FROM \(name)"
                    ).map(\.description).sorted()
                }
                return rows
            }
        }
    }

    extension ExecutionPath {
        /// Whether an import is one transaction.
        fileprivate var isOneTransaction: Bool { if case .objects = self { false } else { true } }
    }

    extension Result where Failure == ImportCase.Failure {
        /// The code of the error; nil for a success.
        fileprivate var code: String? {
            if case .failure(let error) = self { error.code } else { nil }
        }
    }

    /// Random models, stores, documents and options.
    private struct ImportCaseGenerator {
        private var numbers: SeededNumbers
        private var keyType = NSAttributeType.stringAttributeType
        private var types: [(name: String, type: NSAttributeType)] = []
        private var hasErrors = false
        private(set) var isOrdered = false
        private var isCompound = false
        /// Whether every record has a complete key, so that a repeated import finds all objects.
        var isRepeatable: Bool { !isCompound && !isContested }
        /// Whether owners state their parts in order, which needs objects, and parts do not state their owners.
        private var statesMembers = false
        private var freeParts: [Int] = []
        /// Whether several labels may state the same owner in a one-to-one relationship.
        private(set) var isContested = false
        /// Whether every label requires an owner in a one-to-one relationship.
        private var isMainRequired = false

        init(seed: UInt64) {
            numbers = SeededNumbers(seed: seed)
            hasErrors = chance(0.3)
            isContested = chance(0.2)
            isMainRequired = chance(0.25)
        }

        private mutating func chance(_ probability: Double) -> Bool {
            Double.random(in: 0..<1, using: &numbers) < probability
        }

        private mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
            choices[Int.random(in: 0..<choices.count, using: &numbers)]
        }

        // MARK: - Models

        /// Owners, parts of two entities with one superentity, and labels.
        mutating func makeModel() -> NSManagedObjectModel {
            keyType = pick([
                .stringAttributeType, .integer32AttributeType, .integer64AttributeType, .UUIDAttributeType,
            ])
            isOrdered = chance(0.3)
            isCompound = chance(0.4)
            let all: [NSAttributeType] = [
                .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType,
                .doubleAttributeType, .floatAttributeType, .decimalAttributeType, .stringAttributeType,
                .dateAttributeType, .binaryDataAttributeType, .UUIDAttributeType, .URIAttributeType,
            ]
            types = all.shuffled(using: &numbers).prefix(Int.random(in: 3...8, using: &numbers)).enumerated().map {
                ("v\($0)", $1)
            }
            let owner = WebModel.entity("Owner", [("key", keyType)] + types.map { ($0.name, $0.type) })
            owner.userInfo = ["coral.identity": "key"]
            let part = WebModel.entity("Part", [("number", .integer32AttributeType), ("size", .doubleAttributeType)])
            part.userInfo = ["coral.identity": isCompound ? "owner, number" : "number"]
            part.isAbstract = chance(0.3)
            let special = WebModel.entity("Special", [("extra", pick(types).type)])
            part.subentities = [special]
            let label = WebModel.entity("Label", [("word", .stringAttributeType), ("weight", .floatAttributeType)])
            label.uniquenessConstraints = [["word"]]
            for (name, type) in types where chance(0.25) {
                let attribute = owner.attributesByName[name]
                switch type {
                case .stringAttributeType: attribute?.defaultValue = "initial"
                case .booleanAttributeType: attribute?.defaultValue = true
                case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
                    attribute?.defaultValue = 7
                    attribute?.isOptional = !chance(0.5)
                default: break
                }
            }
            WebModel.relate(
                owner, "parts", .toMany(ordered: isOrdered), part, "owner", .toOne,
                rule: chance(0.5) ? .cascadeDeleteRule : .nullifyDeleteRule)
            WebModel.relate(owner, "labels", .toMany(ordered: false), label, "owners", .toMany(ordered: false))
            WebModel.relate(owner, "parent", .toOne, owner, "children", .toMany(ordered: false))
            WebModel.relate(label, "main", .toOne, owner, "mainOf", .toOne)
            if chance(0.2) { part.relationshipsByName["owner"]?.isOptional = false }
            label.relationshipsByName["main"]?.isOptional = !isMainRequired
            let model = NSManagedObjectModel()
            model.entities = [owner, part, special, label]
            return model
        }

        /// Statements that store values as other programs do: UUIDs as text, truth values other than 1, whole numbers
        /// as integers.
        var foreignEdits: [String] {
            types.compactMap { name, type in
                let column = "Z\(name.uppercased())"
                return switch type {
                case .UUIDAttributeType:
                    "UPDATE ZOWNER SET \(column) = '0B6F0CF7-6B0C-4C5A-8E3D-3C1E5A1D9F01' WHERE \(column) IS NOT NULL"
                case .booleanAttributeType: "UPDATE ZOWNER SET \(column) = 2 WHERE \(column) = 1"
                case .decimalAttributeType: "UPDATE ZOWNER SET \(column) = '12.5' WHERE \(column) > 10"
                default: nil
                }
            }
        }

        // MARK: - Options

        var lenientOptions: ImportOptions {
            var options = ImportOptions()
            options.layout = .plain
            options.danglingReferences = .skip
            return options
        }

        mutating func options() -> ImportOptions {
            var options = lenientOptions
            if hasErrors, chance(0.5) { options.danglingReferences = .fail }
            if hasErrors, chance(0.2) { options.mismatchedValues = .fail }
            options.dateTolerance = pick([nil, 0, 1])
            return options
        }

        // MARK: - Documents

        mutating func document() -> String {
            statesMembers = isOrdered && !isCompound && chance(0.5)
            if statesMembers { freeParts = (Array(0..<4) + Array(100..<104)).shuffled(using: &numbers) }
            var groups = ["Owner": owners(), "Label": labels(), "Special": parts("Special")]
            if chance(0.7) { groups["Part"] = parts("Part") }
            return "{"
                + groups.keys.sorted().shuffled(using: &numbers).map { name in
                    "\"\(name)\": [\((groups[name] ?? []).joined(separator: ", "))]"
                }.joined(separator: ", ") + "}"
        }

        private mutating func owners() -> [String] {
            keys(5).map { key in
                var members = ["\"key\": \(key)"]
                for (name, type) in types where chance(0.7) { members.append("\"\(name)\": \(value(of: type))") }
                if chance(0.3) { members.append("\"parent\": \(chance(0.2) ? "null" : ownerKey())") }
                if chance(0.5) {
                    let words = (0..<Int.random(in: 0...3, using: &numbers)).map { _ in word() }
                    members.append("\"labels\": [\(words.joined(separator: ", "))]")
                }
                // Each part has one owner.
                if statesMembers, chance(0.5) {
                    let owned = (0..<Int.random(in: 0...3, using: &numbers)).compactMap { _ in freeParts.popLast() }
                    members.append("\"parts\": \(owned)")
                }
                return "{\(members.joined(separator: ", "))}"
            }
        }

        private mutating func parts(_ entity: String) -> [String] {
            // Each entity has its own range of numbers, because the key is common to both.
            let base = entity == "Part" ? 0 : 100
            return (0..<Int.random(in: 0...4, using: &numbers)).map { number in
                var members = ["\"number\": \(base + number)"]
                if isCompound || !statesMembers && chance(0.6) { members.append("\"owner\": \(ownerKey())") }
                if chance(0.6) { members.append("\"size\": \(value(of: .doubleAttributeType))") }
                return "{\(members.joined(separator: ", "))}"
            }
        }

        private mutating func labels() -> [String] {
            var free = (0...5).shuffled(using: &numbers).map(key)
            return (0..<4).filter { _ in chance(0.7) }.map { number in
                var members = ["\"word\": \"w\(number)\""]
                if chance(0.5) { members.append("\"weight\": \(value(of: .floatAttributeType))") }
                // Required ones are sometimes omitted or null too: such documents are errors for both importers.
                if chance(isMainRequired ? 0.95 : 0.5) {
                    let isNull = chance(isMainRequired ? 0.02 : 0.2)
                    members.append("\"main\": \(isNull ? "null" : isContested ? ownerKey() : free.removeLast())")
                }
                return "{\(members.joined(separator: ", "))}"
            }
        }

        private mutating func word() -> String { "\"w\(Int.random(in: 0...(hasErrors ? 5 : 3), using: &numbers))\"" }

        private mutating func keys(_ count: Int) -> [String] {
            (0..<count).filter { _ in chance(0.8) }.map(key)
        }

        private mutating func ownerKey() -> String { key(Int.random(in: 0...5, using: &numbers)) }

        private func key(_ number: Int) -> String {
            switch keyType {
            case .stringAttributeType: ["\"a\"", "\"\u{e9}\"", "\"e\u{301}\"", "\"\"", "\"b c\"", "\"z\""][number]
            case .UUIDAttributeType: "\"0B6F0CF7-6B0C-4C5A-8E3D-3C1E5A1D9F0\(number)\""
            default: "\(number - 2)"
            }
        }

        private mutating func value(of type: NSAttributeType) -> String {
            if chance(0.12) { return "null" }
            if hasErrors, chance(0.04) { return pick(["\"not a value\"", "1e300", "99999999999999999999", "true"]) }
            switch type {
            case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
                return pick(["0", "-1", "7", "12", "\"12\"", "1.0", "true"])
            case .booleanAttributeType: return pick(["true", "false", "1", "0", "\"yes\""])
            case .doubleAttributeType: return pick(["0", "-0.0", "0.1", "1e-320", "12", "\"0.5\"", "123456789.123"])
            case .floatAttributeType: return pick(["0", "-0.0", "0.1", "0.30000001", "16777217", "\"2.5\""])
            case .decimalAttributeType:
                return pick([
                    "0", "\"12.340\"", "0.1", "\"0.10000000000000000000001\"", "12.5", "\"123456789012345678901\"",
                ])
            case .stringAttributeType:
                return pick(["\"\"", "\"text\"", "\"\u{e9}\"", "\"e\u{301}\"", "12", "true", "\"initial\""])
            case .dateAttributeType:
                return pick([
                    "\"2024-02-29T12:30:00.123Z\"", "\"2024-02-29T12:30:00.1234Z\"", "\"2024-02-29T12:30:00Z\"",
                    "1700000000", "\"2024-02-29\"",
                ])
            case .binaryDataAttributeType: return pick(["\"\"", "\"AAEC\"", "\"AAECAw==\""])
            case .UUIDAttributeType:
                return pick([
                    "\"0B6F0CF7-6B0C-4C5A-8E3D-3C1E5A1D9F01\"", "\"0b6f0cf7-6b0c-4c5a-8e3d-3c1e5a1d9f01\"",
                    "\"d31042f4-ab4f-46a5-a657-a2da914fece1\"",
                ])
            default: return pick(["\"http://a.b/c\"", "\"http://a.b/%C3%A9\"", "\"a\"", "\"http://a.b/c#d\""])
            }
        }
    }
#endif

import ArgumentParser
import AtomicFiles
import Coral
import CoralTools

#if STORE_ENGINE
    import struct StoreTools.RowSalvage
    import struct StoreRescue.SalvageReport
#endif

/// `coral salvage`: reads the objects of a damaged store into a new one.
struct SalvageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage", abstract: "Copies all objects of a damaged store that can be read to a new store.",
        discussion: """
            The pages of the file and of its write-ahead log are read one by one, without SQLite: rows on undamaged \
            pages are found even if the interior pages of their table, the schema, or the header of the file are damaged. \
            A transaction that was not completed is rolled back, if its journal is beside the file. \
            The new store has the objects with their primary keys, and the UUID of the old one. References to objects \
            that are lost are removed. The history is not salvaged. The store itself is only read.

            The report lists lost objects and values. Exit code 2 means that there are some. SQLite keeps no checksums: a \
            value that was overwritten on a page of the right form is not noticed. Without --model, the model in the store is \
            used. If it cannot be read, one is inferred from the tables.

            --deleted reads the objects that were deleted. The store need not be damaged. They are found in the bytes that \
            SQLite does not use any more: free blocks and unused bytes in pages, free pages, and earlier contents of pages in \
            the file and its log. The report has their number. --output writes a database of its own with a table for each \
            entity. Its first columns state how sure it is that the object was deleted, where its row was found, and which \
            values are lost. A row is shown only if its values fit one entity. If the store is damaged, an object may be lost and not \
            deleted: its row is called "deleted or lost", and the exit code is 2. A store with secure_delete, or one that was \
            compacted, has none.

            EXAMPLES:
              coral salvage Damaged.sqlite -o Rescued.sqlite
              coral salvage Notes.sqlite --deleted
              coral salvage Notes.sqlite --deleted -o Deleted.sqlite
              coral salvage Damaged.sqlite -o Notes.sqlite --model Notes.xcdatamodeld \\
                --entity Note --json
            """)

    @Argument(help: "The damaged store. It is only read.", completion: Completion.stores)
    var store: String

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The store to write.", valueName: "file"),
        completion: Completion.stores)
    var output: String?

    @Flag(name: .long, help: "Read the objects that were deleted, instead of those that exist.")
    var deleted = false

    @Flag(name: .long, help: "Replace an existing store without asking.")
    var force = false

    @Option(
        name: .long, help: "Only objects of this entity and its subentities. May be repeated.",
        completion: Completion.entities)
    var entity: [String] = []

    @OptionGroup var likeness: LikeOption

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    @OptionGroup var source: ModelSource

    func validate() throws {
        if output == nil, !deleted { throw ValidationError("Specify the store to write with --output.") }
        if deleted, likeness.like != nil {
            throw ValidationError("--like concerns the tables of a store, which --deleted does not write.")
        }
    }

    func run() throws { try proof.prove(store, writing: output.map { URL(fileURLWithPath: $0) }, body: salvage) }

    private func salvage() throws {
        #if !STORE_ENGINE
            throw CommandError("On this system the pages of a store cannot be read.")
        #else
            let url = try OpenStore.file(
                at: store,
                because:
                    "coral salvage reads the pages of a file: restore a store in PostgreSQL from the server's backups.")
            guard let model = try source.modelOfDamagedStore(at: url) else {
                throw CommandError("The model in \(store) cannot be read, or there is none: give it with --model.")
            }
            if ModelSource.isInferred(model), source.url == nil { ModelSource.reportInference(of: url, model) }
            for name in entity { _ = try OpenStore.entity(named: name, in: model) }
            let occupant =
                try output.map {
                    try Confirmation.occupant($0, reading: [url, source.url, likeness.url()], isForced: force)
                } ?? .nothing
            try StandardOutput.requireOpen()
            var salvage = try Work.run("Reading", noun: "table") { progress in
                try RowSalvage(of: url, model: model) { done, total in
                    progress.setTotal(total)
                    progress.completedUnitCount = Int64(done)
                    if progress.isCancelled { throw CocoaError(.userCancelled) }
                }
            }
            guard !deleted else { return try salvageDeleted(salvage, model, replacing: occupant) }
            guard let output else { return }
            let (repaired, remaining) = try write(&salvage, model, to: output, replacing: occupant)
            let report = Report(store: output, salvage.report, repaired: repaired, remaining: remaining)
            try json ? JSONOutput.report(report) : StandardOutput.report(report.text)
            if !salvage.report.isComplete || !remaining.isEmpty { throw CommandStatus.findings.exitCode }
        #endif
    }

    #if STORE_ENGINE
        /// Whether --entity names an entity, or one that it inherits from.
        private func isWanted(_ description: NSEntityDescription) -> Bool {
            entity.isEmpty
                || sequence(first: description, next: \.superentity).contains { entity.contains($0.name ?? "") }
        }

        /// Reports the deleted objects, and writes them to a database if one is named.
        private func salvageDeleted(
            _ salvage: RowSalvage, _ model: NSManagedObjectModel, replacing occupant: StoreCreation.Occupant
        ) throws {
            let objects = try Work.run("Looking", noun: "page") { progress in
                try salvage.deletedObjects { done, total in
                    progress.setTotal(total)
                    progress.completedUnitCount = Int64(done)
                    if progress.isCancelled { throw CocoaError(.userCancelled) }
                }
            }
            let wanted = objects.filter { model.entitiesByName[$0.entity].map(isWanted) == true }
            if let output { try DeletedObjectDatabase(at: output, isReplaced: occupant == .file).write(wanted) }
            let damage = Report(store: store, salvage.report, repaired: [], remaining: []).damage
            let report = DeletedObjectReport(wanted, database: output, damage: damage)
            try json ? JSONOutput.report(report) : StandardOutput.report(report.text)
            if !salvage.report.isComplete { throw CommandStatus.findings.exitCode }
        }

        /// Writes the new store, and removes references to lost objects.
        ///
        /// - Returns: The problems of the new store that were repaired, and those that remain.
        private func write(
            _ salvage: inout RowSalvage, _ model: NSManagedObjectModel, to output: String,
            replacing occupant: StoreCreation.Occupant
        ) throws -> ([StoreProblem], [StoreProblem]) {
            return try StoreCreation.makeStore(
                at: URL(fileURLWithPath: output), model: model, replacing: occupant
            ) { draft in
                try StoreCreation.createStore(at: draft, model: model, joinTablesLike: likeness.url())
                try salvage.write(to: draft, isWanted: isWanted)
                let check = StoreCheck(url: draft, model: model)
                return try Work.run("Repairing") { progress in
                    let found = try check.problems(progress: progress)
                    let remaining = try found.isEmpty ? [] : check.repair(progress: progress)
                    return (found.filter { problem in !remaining.contains(problem) }, remaining)
                }
            }
        }
    #endif
}

#if STORE_ENGINE

    /// The output of `coral salvage`.
    private struct Report: Encodable {
        struct Page: Encodable {
            var page: Int
            var table: String?
            var firstKey: Int64?
            var lastKey: Int64?
        }

        struct Problem: Encodable {
            var entity: String
            var property: String?
            var count: Int
            var message: String
        }

        var store: String
        var objectCounts: [String: Int]
        var pairCount: Int
        var damagedPages: [Page]
        var damagedRowCount: Int
        var adoptedPageCount: Int
        var ambiguousPages: [Int]
        var lostValues: [String]
        var doubtfulValues: [String]
        var refusedObjects: [String]
        /// The tables and columns of the model that are not in the schema.
        var missing: [String]
        /// Whether transactions in the log are lost.
        var isLogDamaged: Bool
        /// The problems of the salvaged rows, such as references to lost objects, that were repaired.
        var repaired: [Problem]
        var remaining: [Problem]
        /// The parts of which nothing could be read, and for which the model's are assumed.
        var assumed: [String]

        init(store: String, _ report: SalvageReport, repaired: [StoreProblem], remaining: [StoreProblem]) {
            self.store = store
            objectCounts = report.objectCounts
            pairCount = report.pairCount
            damagedPages = report.damagedPages.map {
                Page(page: $0.page, table: $0.table, firstKey: $0.keys?.lowerBound, lastKey: $0.keys?.upperBound)
            }
            damagedRowCount = report.damagedRowCount
            adoptedPageCount = report.adoptedPageCount
            ambiguousPages = report.ambiguousPages
            lostValues = report.lostValues
            doubtfulValues = report.doubtfulValues
            refusedObjects = report.refusedObjects
            missing = report.missing
            isLogDamaged = report.isLogDamaged
            func problem(_ problem: StoreProblem) -> Problem {
                Problem(
                    entity: problem.entity, property: problem.property, count: problem.count, message: problem.message)
            }
            self.repaired = repaired.map(problem)
            self.remaining = remaining.map(problem)
            assumed =
                (report.isSchemaKnown ? [] : ["the schema"])
                + (report.areNumbersKnown ? [] : ["the numbers of the entities"])
                + (report.knowsMetadata ? [] : ["the metadata and the UUID"])
        }

        /// What is damaged and lost, in sentences.
        var damage: [String] {
            var lines: [String] = []
            if isLogDamaged {
                lines.append("The write-ahead log is damaged. The transactions after its damaged part are lost.")
            }
            for page in damagedPages {
                let keys = page.firstKey.flatMap { first in
                    page.lastKey.map { " The lost rows have keys from \(first) to \($0)." }
                }
                lines.append("Page \(page.page)\(page.table.map { " of \($0)" } ?? "") is damaged.\(keys ?? "")")
            }
            if damagedRowCount > 0 {
                lines.append("\(Quantity.count(damagedRowCount, "damaged row")) on readable pages.")
            }
            if adoptedPageCount > 0 {
                lines.append(
                    "\(Quantity.count(adoptedPageCount, "page")) with rows found although the pages that lead to "
                        + "them are damaged.")
            }
            if !ambiguousPages.isEmpty {
                let pages = ambiguousPages.map(String.init).joined(separator: ", ")
                lines.append("The pairs on the pages \(pages) may belong to several relationships, and are omitted.")
            }
            if !lostValues.isEmpty { lines.append("Lost values: \(Self.list(lostValues)).") }
            if !doubtfulValues.isEmpty {
                lines.append("Values with a page of zeros, which may be damaged: \(Self.list(doubtfulValues)).")
            }
            if !refusedObjects.isEmpty {
                lines.append(
                    "Omitted, because other objects have the same unique values: \(Self.list(refusedObjects)).")
            }
            if !missing.isEmpty {
                lines.append(
                    "Not in the schema of the store: \(Self.list(missing)). For tables the columns of the model are assumed; "
                        + "the values of columns are lost.")
            }
            if !assumed.isEmpty {
                lines.append("Not readable: \(assumed.joined(separator: ", ")). Those of the model were used.")
            }
            return lines
        }

        var text: String {
            var lines = damage
            lines += repaired.map { "Repaired: \(Self.sentence($0))" }
            lines += remaining.map { "Remaining: \(Self.sentence($0))" }
            let counts = objectCounts.sorted { $0.key < $1.key }.map { "\(Quantity.grouped($0.value)) \($0.key)" }
            let total = objectCounts.values.reduce(0, +)
            let list = counts.isEmpty ? "" : " (\(counts.joined(separator: ", ")))"
            lines.append("\(Quantity.count(total, "object")) salvaged\(list), written to \(store).")
            return lines.map { $0 + "\n" }.joined()
        }

        private static func list(_ names: [String]) -> String {
            names.prefix(10).joined(separator: ", ") + (names.count > 10 ? ", … (\(names.count))" : "")
        }

        private static func sentence(_ problem: Problem) -> String {
            let subject = [problem.entity, problem.property ?? ""].filter { !$0.isEmpty }.joined(separator: ".")
            return "\(problem.count)× \(subject.isEmpty ? "" : subject + ": ")\(problem.message)"
        }
    }

#endif

#if STORE_ENGINE

    import Coral
    import Foundation
    import struct StoreTools.StoreExamination
    import struct StoreTools.StoreTables

    /// What makes a store large, slow or inconsistent: findings with their cost and their cure.
    package struct StoreDoctor {
        /// A finding.
        package struct Finding: Sendable, Equatable {
            /// The kinds of findings.
            package enum Kind: String, Sendable {
                case freePages, log, orphans, history, mirroring, unusedFiles, missingFiles, damage, statistics,
                    missingIndex
                case violation, smallPages
            }

            package var kind: Kind
            /// The entity, the property or the table; empty for the whole file.
            package var subject: String
            /// The finding as a sentence, with what it costs.
            package var message: String
            package var count: Int
            /// The bytes that the cure gives back, if it does.
            package var byteCount: Int64?
            package var examples: [String]
            package var cure: Cure
            /// Whether it is a fact to know and not a problem.
            package var isNote: Bool
        }

        /// How a finding is cured.
        package enum Cure: Sendable, Equatable {
            case none
            /// By `coral doctor --fix`, with this value.
            case fix(String)
            /// By a command line, in which `STORE` is the store; `PREDICATE`, `VALUE` and `OBJECTS` are decisions about the data.
            case command(String)
            /// By what the app, or its model, has to do, as a sentence.
            case program(String)
        }

        package let examination: StoreExamination
        package let findings: [Finding]
        /// Whether the file is so damaged that its objects cannot be read.
        package let hindersReading: Bool

        /// Examines a store.
        ///
        /// - Parameters:
        ///   - url: The location of the store.
        ///   - model: The model of the store.
        ///   - snapshot: The state to examine.
        ///   - statements: SQL statements of a program. Their plans are examined, and those of the model's fetch request templates.
        ///   - progress: Can cancel the work.
        /// - Throws: Errors of Core Data's, and `CocoaError.userCancelled`.
        package init(
            url: URL, model: NSManagedObjectModel, snapshot: StoreSnapshot,
            statements: [StoreExamination.Statement] = [],
            progress: Progress
        ) throws {
            let context = try snapshot.makeContext()
            let examination = try context.performAndWait {
                try StoreExamination(of: url, model: model, in: context)
            }
            try progress.checkCancelled()
            self.examination = examination
            var findings = Self.spaceFindings(examination) + Self.orphanFindings(examination)
            findings += Self.historyFindings(examination)
            let problems = try StoreCheck(url: url, model: model).rowProblems(of: snapshot, progress: progress)
            findings += problems.map(Self.finding)
            hindersReading = problems.contains(where: \.hindersReading)
            findings += try context.performAndWait {
                let templates = try StoreExamination.templateStatements(ofStoreAt: url, in: context)
                let plans = try StoreExamination.missingIndexes(
                    of: statements + templates, storeAt: url, in: context)
                return IndexFindings(plans, tables: try StoreTables(of: url, in: context)).findings
            }
            self.findings = findings.sorted { one, other in
                (one.isNote ? 1 : 0, -(one.byteCount ?? 0)) < (other.isNote ? 1 : 0, -(other.byteCount ?? 0))
            }
        }

        // MARK: - Space

        /// The part of the file, in per cent, from which on free pages and the history are findings.
        private static let noticeablePart: Int64 = 20
        /// Smaller amounts are never findings, in bytes.
        private static let noticeableBytes: Int64 = 1_000_000

        private static func isNoticeable(_ bytes: Int64, of examination: StoreExamination) -> Bool {
            let size = examination.pageCount * examination.pageSize
            return bytes >= noticeableBytes && bytes * 100 >= size * noticeablePart
        }

        private static func spaceFindings(_ examination: StoreExamination) -> [Finding] {
            var findings: [Finding] = []
            let free = examination.freePageCount * examination.pageSize
            if free > 0 {
                findings.append(
                    Finding(
                        kind: .freePages, subject: "", message: "Pages of the file are free, and are not given back.",
                        count: Int(examination.freePageCount), byteCount: free, examples: [], cure: .fix("space"),
                        isNote: !isNoticeable(free, of: examination)))
            }
            let log = examination.logByteCount
            if log > max(noticeableBytes * 10, examination.pageCount * examination.pageSize / 2) {
                findings.append(
                    Finding(
                        kind: .log, subject: "",
                        message:
                            "The write-ahead log is large: a reader has kept it from being moved to the file, or the app was "
                            + "ended before.", count: 1, byteCount: log, examples: [], cure: .fix("space"),
                        isNote: false))
            }
            if !examination.hasStatistics, examination.pageCount * examination.pageSize > noticeableBytes {
                findings.append(
                    Finding(
                        kind: .statistics, subject: "",
                        message: "SQLite has no statistics with which it chooses among indexes.", count: 1,
                        byteCount: nil,
                        examples: [], cure: .fix("statistics"), isNote: true))
            }
            return findings
        }

        private static func orphanFindings(_ examination: StoreExamination) -> [Finding] {
            examination.orphans.map { orphans in
                let owners = orphans.owners.joined(separator: " or ")
                let share =
                    "\(orphans.count) of \(orphans.totalCount) objects of \(orphans.entity) are in no \(owners), which owns them"
                let message =
                    orphans.isOwnerRequired
                    ? "\(share); the model requires an owner."
                    : "\(share), and no other object refers to them. The model allows this: delete them only if the app does not show "
                        + "them."
                let table = examination.entitiesByTable.first { $0.value.contains(orphans.entity) }?.key
                let size = examination.trees.reduce(0) { $0 + ($1.table == table ? $1.byteCount : 0) }
                let rows = Int64(max(1, orphans.totalCount))
                return Finding(
                    kind: .orphans, subject: orphans.entity, message: message, count: orphans.count,
                    byteCount: size / rows * Int64(orphans.count), examples: orphans.examples,
                    cure: .fix("orphans=\(orphans.entity)"),
                    // Most objects have no owner where the app does not need one.
                    isNote: !orphans.isOwnerRequired && orphans.count * 2 > orphans.totalCount)
            }
        }

        static func counted(_ count: Int, _ noun: String) -> String {
            "\(count) \(noun)\(count == 1 ? "" : "s")"
        }

        // MARK: - History

        private static func historyFindings(_ examination: StoreExamination) -> [Finding] {
            var findings: [Finding] = []
            if let mirroring = examination.mirroring {
                let rows = mirroring.tables.reduce(0) { $0 + $1.rowCount }
                findings.append(
                    Finding(
                        kind: .mirroring, subject: "CloudKit",
                        message:
                            "The store is mirrored to CloudKit: \(mirroring.tables.count) tables have \(rows) rows. Do not purge "
                            + "its history, and do not change it outside the app.", count: rows, byteCount: nil,
                        examples: mirroring.tables.filter { $0.rowCount > 0 }.map { "\($0.name) \($0.rowCount)" },
                        cure: .none,
                        isNote: true))
            }
            guard let history = examination.history else { return findings }
            let old = history.changeCount - history.recentChangeCount
            let gain = history.changeCount == 0 ? 0 : history.byteCount / Int64(history.changeCount) * Int64(old)
            let days = history.last.timeIntervalSince(history.first) / 86_400
            let authors = history.authors.prefix(3).map {
                "\($0.name.isEmpty ? "unnamed" : $0.name) \($0.transactionCount)"
            }
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(identifier: "UTC")
            formatter.dateFormat = "yyyy-MM-dd"
            let bound = formatter.string(from: history.last.addingTimeInterval(-30 * 86_400))
            let isLarge = isNoticeable(history.byteCount, of: examination)
            findings.append(
                Finding(
                    kind: .history, subject: "",
                    message: "The history has \(counted(history.changeCount, "change")) in "
                        + "\(counted(history.transactionCount, "transaction")) since \(formatter.string(from: history.first))"
                        + (days < 2 ? "" : ", \(Int((Double(history.changeCount) / days).rounded())) a day")
                        + "; \(old) of them are more than thirty days older than the last one.",
                    count: history.changeCount, byteCount: old > 0 ? gain : nil, examples: authors,
                    cure: old > 0 && examination.mirroring == nil
                        ? .command("coral history purge STORE --before \(bound) --vacuum") : .none,
                    isNote: !isLarge || old == 0))
            return findings
        }

        // MARK: - Rows and files

        private static func finding(_ problem: StoreProblem) -> Finding {
            let kind: Finding.Kind =
                switch problem.code {
                case .unusedFile: .unusedFiles
                case .missingFile: .missingFiles
                case .notUnique, .forbiddenValue, .wrongType: .violation
                default: .damage
                }
            let cure: Cure =
                if problem.code == .unusedFile {
                    .fix("files")
                } else if problem.isRepairable {
                    .command("coral check STORE --repair Repaired.sqlite")
                } else {
                    decision(on: problem)
                }
            return Finding(
                kind: kind,
                subject: [problem.entity, problem.property ?? ""].filter { !$0.isEmpty }.joined(separator: "."),
                message: problem.message, count: problem.count, byteCount: nil, examples: problem.examples, cure: cure,
                isNote: false)
        }

        /// The cure of a problem that nobody can repair without knowing what the data mean.
        private static func decision(on problem: StoreProblem) -> Cure {
            let objects = "STORE --entity \(problem.entity) --where PREDICATE"
            return switch (problem.code, problem.property) {
            case (.damagedFile, _): .command("coral salvage STORE -o Salvaged.sqlite")
            case (.notUnique, _): .command("coral delete \(objects)")
            case (.ambiguousPosition, let property?): .command("coral set \(objects) \(property)=OBJECTS")
            case (_, let property?): .command("coral set \(objects) \(property)=VALUE")
            // Rows that are no objects, and keys that are used up: a new store has neither.
            case (_, nil):
                .command(
                    "coral export STORE -o Objects.json && coral import Objects.json --into New.sqlite --model STORE")
            }
        }
    }

#endif

#if STORE_ENGINE

    import Coral
    import CoralTools
    import struct StoreTools.StoreExamination
    import struct StoreTools.StoreTreatment

    /// The output of `coral doctor`.
    struct DoctorReport: Encodable {
        struct Tree: Encodable {
            var name: String
            var table: String
            var entities: [String]
            var byteCount: Int64
        }

        struct Finding: Encodable {
            var kind: String
            var subject: String?
            var message: String
            var count: Int
            var byteCount: Int64?
            var examples: [String]
            var cure: String?
            var isNote: Bool
        }

        struct Author: Encodable {
            var name: String
            var transactions: Int
        }

        var store: String
        var byteCount: Int64
        var freeByteCount: Int64
        var logByteCount: Int64
        var externalFiles: Int
        var externalByteCount: Int64
        var trees: [Tree]
        var historyAuthors: [Author]?
        var findings: [Finding]

        init(_ doctor: StoreDoctor, store: String) {
            let examination = doctor.examination
            self.store = store
            byteCount = examination.pageCount * examination.pageSize
            freeByteCount = examination.freePageCount * examination.pageSize
            logByteCount = examination.logByteCount
            (externalFiles, externalByteCount) = (examination.fileCount, examination.fileByteCount)
            trees = examination.trees.map {
                Tree(
                    name: $0.name, table: $0.table, entities: examination.entitiesByTable[$0.table] ?? [],
                    byteCount: $0.byteCount)
            }
            historyAuthors = examination.history?.authors.map {
                Author(name: $0.name, transactions: $0.transactionCount)
            }
            findings = doctor.findings.map { finding in
                Finding(
                    kind: finding.kind.rawValue, subject: finding.subject.isEmpty ? nil : finding.subject,
                    message: finding.message, count: finding.count, byteCount: finding.byteCount,
                    examples: finding.examples, cure: Self.line(finding.cure, store), isNote: finding.isNote)
            }
        }

        private static func line(_ cure: StoreDoctor.Cure, _ store: String) -> String? {
            switch cure {
            case .none: nil
            case .fix(let word): "coral doctor \(ShellWord.quoted(store)) --fix \(ShellWord.quoted(word)) --dry-run"
            case .command(let line): line.replacingOccurrences(of: "STORE", with: ShellWord.quoted(store))
            case .program(let sentence): sentence
            }
        }

        var text: String {
            var lines: [(String, String)] = [("Store", store), ("Size", Quantity.bytes(byteCount))]
            if freeByteCount > 0 { lines.append(("Free", Quantity.bytes(freeByteCount))) }
            if logByteCount > 0 { lines.append(("Log", Quantity.bytes(logByteCount))) }
            if externalFiles > 0 {
                lines.append(
                    ("Files", "\(Quantity.count(externalFiles, "file")), \(Quantity.bytes(externalByteCount))"))
            }
            var text = lines.map { $0 + String(repeating: " ", count: 11 - $0.count) + $1 + "\n" }.joined()
            text += "\n" + sizes.text
            let (problems, notes) = (findings.filter { !$0.isNote }, findings.filter(\.isNote))
            if problems.isEmpty { text += "\nNothing has to be cured.\n" }
            for (title, list) in [("Findings", problems), ("Notes", notes)] where !list.isEmpty {
                text += "\n\(TextStyle.bold.text(title))\n" + list.map(Self.text).joined()
            }
            return text
        }

        /// The largest tables, each with its indexes.
        private var sizes: TextTable {
            var table = TextTable([
                ("Table", .leading), ("Entities", .leading), ("Rows", .trailing), ("Indexes", .trailing),
                ("Part", .trailing),
            ])
            var sums: [String: (rows: Int64, indexes: Int64, entities: [String])] = [:]
            for tree in trees {
                var sum = sums[tree.table] ?? (0, 0, tree.entities)
                if tree.name == tree.table { sum.rows += tree.byteCount } else { sum.indexes += tree.byteCount }
                sums[tree.table] = sum
            }
            let sorted = sums.sorted {
                ($1.value.rows + $1.value.indexes, $0.key) < ($0.value.rows + $0.value.indexes, $1.key)
            }
            for (name, sum) in sorted.prefix(15) {
                let entities = sum.entities.prefix(3).joined(separator: ", ") + (sum.entities.count > 3 ? ", …" : "")
                let part = byteCount == 0 ? 0 : (sum.rows + sum.indexes) * 100 / byteCount
                table.add([
                    name, entities, Quantity.bytes(sum.rows), sum.indexes == 0 ? "" : Quantity.bytes(sum.indexes),
                    "\(part)%",
                ])
            }
            if sorted.count > 15 {
                let rest = sorted.dropFirst(15).reduce(0) { $0 + $1.value.rows + $1.value.indexes }
                table.add(["\(sorted.count - 15) more", "", Quantity.bytes(rest), "", ""])
            }
            return table
        }

        private static func text(_ finding: Finding) -> String {
            let subject = finding.subject.map { "\($0): " } ?? ""
            let size = finding.byteCount.map { " About \(Quantity.bytes($0))." } ?? ""
            var text = "  \(Terminal.text(subject + finding.message, on: .output))\(size)\n"
            if !finding.examples.isEmpty {
                let more = finding.examples.count < finding.count && finding.kind != "history" ? ", …" : ""
                text += "      \(Terminal.text(finding.examples.joined(separator: ", "), on: .output))\(more)\n"
            }
            if let cure = finding.cure { text += "      cure: \(cure)\n" }
            return text
        }
    }

    /// The output of `coral doctor --fix`.
    struct TreatmentReport: Encodable {
        var store: String
        var isRehearsal: Bool
        var deletedObjects: [String: Int]
        var comparedRows: Int
        var clearedReferences: Int
        var removedFiles: Int
        var byteCountBefore: Int64
        var byteCountAfter: Int64

        init(_ result: StoreTreatment.Result, store: String, isRehearsal: Bool) {
            self.store = store
            self.isRehearsal = isRehearsal
            deletedObjects = result.deletedCounts
            comparedRows = result.comparedCount
            clearedReferences = result.clearedCount
            removedFiles = result.removedFileCount
            (byteCountBefore, byteCountAfter) = result.byteCounts
        }

        var text: String {
            var text = isRehearsal ? "On a copy; \(store) is unchanged:\n" : ""
            for (entity, count) in deletedObjects.sorted(by: { $0.key < $1.key }) {
                text += "Deleted: \(Quantity.count(count, "object")) of \(Terminal.text(entity, on: .output))\n"
            }
            if clearedReferences > 0 { text += "Cleared: \(Quantity.count(clearedReferences, "reference"))\n" }
            if removedFiles > 0 { text += "Removed: \(Quantity.count(removedFiles, "file")) without a row\n" }
            if comparedRows > 0 {
                text += "Compared: \(Quantity.count(comparedRows, "row")); nothing else has changed\n"
            }
            return text + "Size: \(Quantity.bytes(byteCountBefore)) before, \(Quantity.bytes(byteCountAfter)) after\n"
        }
    }

#endif

#if STORE_ENGINE

    import struct StoreTools.StoreExamination
    import struct StoreTools.StoreTables

    /// The findings about indexes that statements of a program and fetch requests of the model lack: one for each index.
    struct IndexFindings {
        private(set) var findings: [StoreDoctor.Finding] = []
        private let tables: StoreTables

        /// The statements that lack an index.
        private struct Group {
            let missing: StoreExamination.MissingIndex
            var count = 0
            var templates: [String] = []
            var example = ""
        }

        init(
            _ plans: [(statement: StoreExamination.Statement, missing: [StoreExamination.MissingIndex]?)],
            tables: StoreTables
        ) {
            self.tables = tables
            var groups: [StoreExamination.MissingIndex: Group] = [:]
            for (statement, missing) in plans {
                for missing in missing ?? [] {
                    var group = groups[missing] ?? Group(missing: missing)
                    if let template = statement.template {
                        group.templates.append(template)
                    } else {
                        group.count += statement.count
                    }
                    if group.example.isEmpty { group.example = Self.example(statement) }
                    groups[missing] = group
                }
            }
            findings = groups.values.map(finding).sorted { one, other in
                (-one.count, one.subject, one.message) < (-other.count, other.subject, other.message)
            }
            let failed = plans.filter { $0.missing == nil }.map(\.statement)
            guard let first = failed.first else { return }
            findings.append(
                StoreDoctor.Finding(
                    kind: .missingIndex, subject: "",
                    message:
                        "SQLite has no plan for \(StoreDoctor.counted(failed.count, "statement")) of the trace; nothing is known of "
                        + "their indexes.", count: failed.count, byteCount: nil, examples: [Self.example(first)],
                    cure: .none, isNote: true))
        }

        private static func example(_ statement: StoreExamination.Statement) -> String {
            String(statement.text.split(whereSeparator: \.isWhitespace).joined(separator: " ").prefix(100))
        }

        private func finding(_ group: Group) -> StoreDoctor.Finding {
            let missing = group.missing
            let columns = missing.columns.isEmpty ? "" : " (\(missing.columns.joined(separator: ", ")))"
            return StoreDoctor.Finding(
                kind: .missingIndex, subject: missing.table + columns,
                message: "\(Self.work(missing)) for \(Self.sources(group)), \(Self.reason(missing)).",
                count: group.count + group.templates.count, byteCount: nil, examples: [group.example],
                cure: cure(missing),
                // The rows that an index finds are usually few.
                isNote: missing.rowCount < 1000 || missing.work == .sorting)
        }

        private static func sources(_ group: Group) -> String {
            let names = group.templates.map { "“\($0)”" }.joined(separator: ", ")
            let requests =
                group.templates.isEmpty
                ? "" : "the fetch request\(group.templates.count == 1 ? "" : "s") \(names) of the model"
            guard group.count > 0 else { return requests }
            let statements = "\(StoreDoctor.counted(group.count, "statement")) of the trace"
            return requests.isEmpty ? statements : "\(statements) and \(requests)"
        }

        private static func work(_ missing: StoreExamination.MissingIndex) -> String {
            let sorted = missing.sorts ? " and sorted" : ""
            return switch missing.work {
            case .reading: "All \(missing.rowCount) rows are read\(sorted)"
            case .readingIndex(let name): "All \(missing.rowCount) rows of the index \(name) are read\(sorted)"
            case .makingIndex: "A temporary index of all \(missing.rowCount) rows is made"
            case .sorting: "The rows that are found are sorted"
            }
        }

        private static func reason(_ missing: StoreExamination.MissingIndex) -> String {
            if missing.work == .sorting {
                return missing.columns.isEmpty
                    ? "because they are ordered by values that are computed" : "because no index has them in this order"
            }
            return missing.columns.isEmpty
                ? "because the values of indexed columns are not compared as they are"
                : "because no index begins with one of these columns"
        }

        private func cure(_ missing: StoreExamination.MissingIndex) -> StoreDoctor.Cure {
            guard !missing.columns.isEmpty else { return .none }
            let entities = tables.entities.filter { $0.table == missing.table }
            let properties = Dictionary(
                entities.flatMap { entity in entity.columns.map { ($1.name, $0) } }, uniquingKeysWith: { min($0, $1) })
            let names = missing.columns.map { properties[$0] ?? $0 }
            return .program(
                "Add a fetch index of \(names.joined(separator: ", ")) to \(entities.map(\.name).joined(separator: " or ")) in the model."
            )
        }
    }

#endif

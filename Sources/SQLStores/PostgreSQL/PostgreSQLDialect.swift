#if PostgreSQL
    import Foundation
    import ManagedObjects
    import SQLStatements

    /// The SQL of PostgreSQL.
    ///
    /// Columns of texts have the collation "C", the order of the bytes in UTF-8, as SQLite's. The functions of the predicate
    /// language do not exist on the server: conditions that need them are evaluated in memory.
    package struct PostgreSQLDialect: SQLDialect {
        package init() {}

        package func parameterized(_ text: String) -> String { numbered(text) { "$\($0)" } }

        package var numbersParameters: Bool { true }

        // MARK: - Lists

        package func isListed(_ expression: String, _ list: SQLList) -> String {
            switch list {
            case .keys: "\(expression) = ANY(?::bigint[])"
            case .texts: "\(expression) = ANY(?::text[])"
            }
        }

        package var keyCounts: [Int] { [] }
        package func value(of keys: some Sequence<Int64>) -> String {
            "{\(keys.map(String.init).joined(separator: ","))}"
        }

        package func value(of texts: [String]) -> String {
            // By scalars: a quote before a combining mark is one character with it.
            let quoted = texts.map { text in
                var quoted = "\""
                for scalar in text.unicodeScalars {
                    if scalar == "\"" || scalar == "\\" { quoted += "\\" }
                    quoted.unicodeScalars.append(scalar)
                }
                return quoted + "\""
            }
            return "{\(quoted.joined(separator: ","))}"
        }

        // MARK: - Expressions

        package func greater(_ first: String, _ second: String) -> String { "GREATEST(\(first), \(second))" }
        package func byteCount(of expression: String) -> String { "octet_length(\(expression))" }
        package func constant(_ condition: Bool) -> String { condition ? "TRUE" : "FALSE" }
        package var sameOperator: String { "IS NOT DISTINCT FROM" }
        package var differentOperator: String { "IS DISTINCT FROM" }
        package func position(of part: SQLFragment, in text: SQLFragment) -> SQLFragment { "strpos(\(text), \(part))" }
        package func name(of function: PredicateFunctions.Name) -> String? { nil }

        /// Texts whose characters have only one form are compared exactly; of other texts it is not known whether they
        /// satisfy an operator. If differences are ignored, the texts with one form are those of ASCII characters,
        /// because the collation "C" maps the case of ASCII letters only; otherwise they are the texts without
        /// combining characters.
        package func enclosing(_ text: SQLFragment, _ test: TextTest) -> EnclosingConditions {
            let isFolded = !test.options.isLiteral
            func others(_ text: SQLFragment) -> SQLFragment {
                isFolded ? "octet_length(\(text)) > length(\(text))" : "\(text) ~ '[^\\u0001-\\u02ff]'"
            }
            func folded(_ text: SQLFragment) -> SQLFragment {
                test.options.contains(.caseInsensitive) ? "lower(\(text) COLLATE \"C\")" : "\(text)"
            }
            let left = folded(text)
            let part: SQLFragment = test.isConstant ? "\(test.part)::text" : folded(test.part)
            let condition: SQLFragment =
                switch test.operation {
                case .equal: test.isConstant ? "\(left) = \(part)" : "\(left) IS NOT DISTINCT FROM \(part)"
                case .beginsWith: "starts_with(\(left), \(part))"
                case .endsWith: "right(\(left), length(\(part))) = \(part)"
                case .contains: "strpos(\(left), \(part)) > 0"
                case .like: "\(left) LIKE \(part) ESCAPE '\\'"
                }
            // A pair of a carriage return and a line feed is one character.
            let hasPairs = [text] + (test.isConstant ? [] : [test.part])
            let pairs = hasPairs.map { "strpos(\($0), chr(13)) > 0" as SQLFragment }
            let uncertain = [others(text)] + (test.isConstant ? [] : [others(test.part)])
            let necessary = uncertain + (test.operation == .like ? pairs : []) + [condition]
            if case .equal = test.operation, !test.isConstant {
                // Texts with the same bytes are equal whatever they contain, and so is nil to nil.
                return EnclosingConditions(
                    necessary: "(\(necessary.joined(separator: " OR ")))", sufficient: condition)
            }
            let doubtful = (uncertain + pairs).joined(separator: " OR ")
            // Without normalization a text and its canonical equivalent differ. An empty part is in no text.
            return EnclosingConditions(
                necessary: "(\(necessary.joined(separator: " OR ")))",
                sufficient: test.options.contains(.normalized)
                    ? nil : "(\(condition) AND \(part) <> '' AND NOT (\(doubtful)))")
        }

        /// Sums and averages of whole numbers would be of the type numeric. Data has no least and greatest value.
        package func aggregate(_ function: SQLAggregate, of value: SQLFragment, kind: SQLKind) -> SQLFragment? {
            switch (function, kind) {
            case (.minimum, .data), (.maximum, .data), (.minimum, .uuid), (.maximum, .uuid): nil
            case (.sum, _) where kind.isWhole: "SUM(\(value))::bigint"
            case (.average, _): "AVG(\(value))::double precision"
            default: "\(function.rawValue)(\(value))"
            }
        }

        /// A shift by a number of bits that is negative, or at least 64, does not have the result that it has in memory.
        package var canShift: Bool { false }

        // MARK: - Definitions

        package func name(of type: SQLColumn.Declaration) -> String {
            switch type {
            case .integer: "BIGINT"
            case .timestamp, .float, .decimal: "DOUBLE PRECISION"
            case .varchar: "TEXT COLLATE \"C\""
            case .blob: "BYTEA"
            }
        }

        /// Whether a column of a type of the server's, named as by `format_type`, has the values of a declaration.
        static func isType(_ name: String, of type: SQLColumn.Declaration) -> Bool {
            switch type {
            case .integer: ["bigint", "integer", "smallint"].contains(name)
            case .timestamp, .float, .decimal: name == "double precision"
            case .varchar: ["text", "character varying"].contains(name)
            case .blob: name == "bytea"
            }
        }

        package func indexTerm(_ column: String, ascending: Bool) -> String {
            "\(column) \(ascending ? "ASC NULLS FIRST" : "DESC NULLS LAST")"
        }

        package func indexName(_ name: String) -> String { SQLNaming.postgreSQL.fitting(name) }

        // A test for existence is a semi-join, by the table's statistics.
        package var joinsBySize: Bool { true }
        package var hasSpatialIndexes: Bool { false }

        /// Three tenths of each page stay free for new versions of its rows: those need no new entries in indexes. A save of
        /// neighbouring objects changes most rows of a page at once, for which a tenth is not enough.
        package var optionsForChangingRows: String { " WITH (fillfactor = 70)" }

        // MARK: - Histories

        /// Old values are texts.
        package func recorded(_ value: ColumnValue, of type: SQLColumn.Declaration) -> ColumnValue {
            guard case .text(let text) = value else { return value }
            return switch type {
            case .integer: Int64(text).map(ColumnValue.integer) ?? .null
            case .timestamp, .float, .decimal: Double(text).map(ColumnValue.real) ?? .null
            case .varchar: value
            case .blob: Self.bytes(text).map(ColumnValue.blob) ?? .null
            }
        }

        /// The bytes of a text such as `\\x00ff`.
        private static func bytes(_ text: String) -> Data? {
            guard text.hasPrefix("\\x") else { return nil }
            let digits = text.utf8.dropFirst(2).map { $0 < 58 ? $0 &- 48 : $0 &- 87 }
            return Data(stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] & 15 })
        }

        // MARK: - Clauses

        package func orderTerm(_ expression: SQLFragment, ascending: Bool, collation: String?) -> SQLFragment? {
            collation == nil ? "\(expression) \(ascending ? "ASC NULLS FIRST" : "DESC NULLS LAST")" : nil
        }

        package func limits(limit: SQLArgument?, offset: SQLArgument?) -> SQLFragment {
            var clause: SQLFragment = ""
            if let limit { clause.append("\nLIMIT \(limit)") }
            if let offset { clause.append("\nOFFSET \(offset)") }
            return clause
        }
    }
#endif

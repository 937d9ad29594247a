#if PostgreSQL
    /// The SQL of PostgreSQL.
    ///
    /// Columns of texts have the collation "C", the order of the bytes in UTF-8, as SQLite's. The functions of the predicate
    /// language do not exist on the server: conditions that need them are evaluated in memory.
    struct PostgreSQLDialect: SQLDialect {
        func parameterized(_ text: String) -> String { numbered(text) { "$\($0)" } }

        var numbersParameters: Bool { true }

        // MARK: - Lists

        func isListed(_ expression: String, _ list: SQLList) -> String {
            switch list {
            case .keys: "\(expression) = ANY(?::bigint[])"
            case .texts: "\(expression) = ANY(?::text[])"
            }
        }

        var keyCounts: [Int] { [] }
        func value(of keys: some Sequence<Int64>) -> String { "{\(keys.map(String.init).joined(separator: ","))}" }

        func value(of texts: [String]) -> String {
            let quoted = texts.map { text in
                "\"" + text.map { "\"\\".contains($0) ? "\\\($0)" : "\($0)" }.joined() + "\""
            }
            return "{\(quoted.joined(separator: ","))}"
        }

        // MARK: - Expressions

        func greater(_ first: String, _ second: String) -> String { "GREATEST(\(first), \(second))" }
        func byteCount(of expression: String) -> String { "octet_length(\(expression))" }
        func constant(_ condition: Bool) -> String { condition ? "TRUE" : "FALSE" }
        var sameOperator: String { "IS NOT DISTINCT FROM" }
        var differentOperator: String { "IS DISTINCT FROM" }
        func position(of part: SQLFragment, in text: SQLFragment) -> SQLFragment { "strpos(\(text), \(part))" }
        func name(of function: PredicateFunctions.Name) -> String? { nil }

        /// Texts whose characters have one form only are compared exactly; all others are candidates. Those are texts of ASCII if
        /// differences are ignored, because the collation "C" maps the case of its letters only, and otherwise texts without
        /// combining characters.
        func candidates(of text: SQLFragment, _ test: TextTest) -> SQLFragment? {
            let part = "\(test.argument)::text" as SQLFragment
            let isFolded = !test.options.isLiteral
            let folded: SQLFragment =
                test.options.contains(.caseInsensitive) ? "lower(\(text) COLLATE \"C\")" : "\(text)"
            let others: SQLFragment =
                isFolded ? "octet_length(\(text)) > length(\(text))" : "\(text) ~ '[^\\u0001-\\u02ff]'"
            let condition: SQLFragment =
                switch test.operation {
                case .equal: "\(folded) = \(part)"
                case .beginsWith: "starts_with(\(folded), \(part))"
                case .endsWith: "right(\(folded), length(\(part))) = \(part)"
                case .contains: "strpos(\(folded), \(part)) > 0"
                // A pair of a carriage return and a line feed is one character.
                case .like: "\(folded) LIKE \(part) ESCAPE '\\' OR strpos(\(text), chr(13)) > 0"
                }
            return "(\(others) OR \(condition))"
        }

        /// Sums and averages of whole numbers would be of the type numeric. Data has no least and greatest value.
        func aggregate(_ function: SQLAggregate, of value: SQLFragment, kind: SQLKind) -> SQLFragment? {
            switch (function, kind) {
            case (.minimum, .data), (.maximum, .data), (.minimum, .uuid), (.maximum, .uuid): nil
            case (.sum, _) where kind.isWhole: "SUM(\(value))::bigint"
            case (.average, _): "AVG(\(value))::double precision"
            default: "\(function.rawValue)(\(value))"
            }
        }

        /// A shift by a number of bits that is negative, or at least 64, has another result than elsewhere.
        var canShift: Bool { false }

        // MARK: - Definitions

        func name(of type: SQLColumn.Declaration) -> String {
            switch type {
            case .integer: "BIGINT"
            case .timestamp, .float, .decimal: "DOUBLE PRECISION"
            case .varchar: "TEXT COLLATE \"C\""
            case .blob: "BYTEA"
            }
        }

        func indexTerm(_ column: String, ascending: Bool) -> String {
            "\(column) \(ascending ? "ASC NULLS FIRST" : "DESC NULLS LAST")"
        }

        func indexName(_ name: String) -> String { SQLNaming.postgreSQL.fitting(name) }

        var hasSpatialIndexes: Bool { false }

        // MARK: - Clauses

        func orderTerm(_ expression: SQLFragment, ascending: Bool, collation: String?) -> SQLFragment? {
            collation == nil ? "\(expression) \(ascending ? "ASC NULLS FIRST" : "DESC NULLS LAST")" : nil
        }

        func limits(limit: SQLArgument?, offset: SQLArgument?) -> SQLFragment {
            var clause: SQLFragment = ""
            if let limit { clause.append("\nLIMIT \(limit)") }
            if let offset { clause.append("\nOFFSET \(offset)") }
            return clause
        }
    }
#endif

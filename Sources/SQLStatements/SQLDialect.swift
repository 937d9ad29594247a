/// The SQL syntax of a database: the text of a store's statements, and the binding of lists of values.
///
/// Statements are values, such as ``SQLInsert``, that are built from the schema. Their text is standard SQL, except for the parts
/// that a dialect writes. A parameter is a question mark in it, and a statement with a parameter that occurs more than once
/// numbers it: `?1`. A question mark without a number has the number after the highest one before it.
package protocol SQLDialect: Sendable {
    /// The text of a statement with the database's own form of parameters.
    func parameterized(_ text: String) -> String

    /// Whether parameters are numbered in a text, so that it cannot become a part of another statement.
    var numbersParameters: Bool { get }

    // MARK: - Lists

    /// Whether an expression is an element of a list that is one parameter, so that the text does not depend on the
    /// number of elements.
    func isListed(_ expression: String, _ list: SQLList) -> String
    /// The numbers of keys for which a store prepares the statements that read rows by their keys, ascending; each key is
    /// a parameter. Empty if a list is one parameter of these statements.
    var keyCounts: [Int] { get }
    /// The value of a list's parameter.
    func value(of keys: some Sequence<Int64>) -> String
    /// The value of a list's parameter.
    func value(of texts: [String]) -> String

    // MARK: - Expressions

    /// The greater of two numbers.
    func greater(_ first: String, _ second: String) -> String
    /// The number of bytes of a text or of data.
    func byteCount(of expression: String) -> String
    /// A condition that always or never holds.
    func constant(_ condition: Bool) -> String
    /// The operators that compare NULL as a value: equal, and different.
    var sameOperator: String { get }
    var differentOperator: String { get }
    /// The position of a text in another one, from 1; 0 if it does not occur.
    func position(of part: SQLFragment, in text: SQLFragment) -> SQLFragment
    /// An aggregate of values of a kind; nil if the database does not have it. Requests that need it are evaluated in memory.
    func aggregate(_ function: SQLAggregate, of value: SQLFragment, kind: SQLKind) -> SQLFragment?
    /// Whether whole numbers are shifted by other ones as in memory.
    var canShift: Bool { get }
    /// The name of a function of the predicate language; nil if the database does not have it. Predicates that need it are
    /// evaluated in memory.
    func name(of function: PredicateFunctions.Name) -> String?
    /// Conditions that enclose a string operator, for a database without its function.
    func enclosing(_ text: SQLFragment, _ test: TextTest) -> EnclosingConditions

    /// Whether the database chooses by the sizes of the tables how it finds the rows for which `EXISTS` holds, instead of a search
    /// for each row.
    var joinsBySize: Bool { get }

    // MARK: - Definitions

    /// The name of a column's type.
    func name(of type: SQLColumn.Declaration) -> String
    /// A column of an index that sorts texts by their bytes, and NULL before all values.
    func indexTerm(_ column: String, ascending: Bool) -> String

    /// The name of an index in the database.
    func indexName(_ name: String) -> String
    /// Whether the schema's spatial indexes exist: R-trees, which only SQLite has in this form.
    var hasSpatialIndexes: Bool { get }
    /// The end of the definition of a table whose rows are changed after they were inserted.
    var optionsForChangingRows: String { get }

    // MARK: - Histories

    /// The value of a column as the table of old values has it: in one column for values of all types.
    func recorded(_ value: ColumnValue, of type: SQLColumn.Declaration) -> ColumnValue

    // MARK: - Clauses

    /// A term of `ORDER BY` that sorts NULL before all values.
    ///
    /// - Parameter collation: The comparison of texts: one of ``PredicateFunctions``. Nil for the order of their bytes.
    /// - Returns: Nil if the database does not have the collation; the order is then computed in memory.
    func orderTerm(_ expression: SQLFragment, ascending: Bool, collation: String?) -> SQLFragment?
    /// The clause that limits the number of rows, beginning with a line break; empty for no limit.
    func limits(limit: SQLArgument?, offset: SQLArgument?) -> SQLFragment
}

/// A function of the values of many rows.
package enum SQLAggregate: String, Sendable {
    case sum = "SUM"
    case average = "AVG"
    case minimum = "MIN"
    case maximum = "MAX"
}

/// A list of values that a statement has as one parameter.
package enum SQLList: Sendable {
    case keys
    case texts
}

extension SQLDialect {
    package func aggregate(_ function: SQLAggregate, of value: SQLFragment, kind: SQLKind) -> SQLFragment? {
        "\(function.rawValue)(\(value))"
    }

    package var canShift: Bool { true }

    package func recorded(_ value: ColumnValue, of type: SQLColumn.Declaration) -> ColumnValue { value }

    package func enclosing(_ text: SQLFragment, _ test: TextTest) -> EnclosingConditions { .unknown }

    package var numbersParameters: Bool { false }

    package func indexName(_ name: String) -> String { name }

    package var optionsForChangingRows: String { "" }

    /// The text of a statement.
    package func text(of command: some SQLCommand) -> String { parameterized(command.text(in: self)) }

    /// The parameters of a text in a form with numbers, such as `$1`: for dialects whose parameters have no other form.
    /// Question marks in quotes are left unchanged.
    package func numbered(_ text: String, _ parameter: (Int) -> String) -> String {
        var numbered = ""
        var highest = 0
        var isQuoted = false
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar == "'" { isQuoted.toggle() }
            guard scalar == "?", !isQuoted else {
                numbered.unicodeScalars.append(scalar)
                continue
            }
            let digits = rest.prefix { ("0"..."9").contains($0) }
            rest = rest.dropFirst(digits.count)
            let number = Int(String(digits)) ?? highest + 1
            highest = max(highest, number)
            numbered += parameter(number)
        }
        return numbered
    }
}

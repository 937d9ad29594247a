/// The indexes, triggers and views of tables that are migrated in place.
protocol TableObjects {
    /// The statements that remove those that the new schema does not have, before the tables are changed.
    ///
    /// - Parameter kept: The tables whose columns keep their names.
    func removal(except kept: Set<String>) -> [String]

    /// The statements that create what is missing, after the rows have been migrated. Constraints are unique indexes:
    /// if one of them fails, rows violate the constraint.
    ///
    /// - Parameter kept: The tables whose indexes still exist.
    func creation(on kept: Set<String>) -> (statements: [String], constraints: [String])
}

extension TableObjects {
    /// The table of the statement of an index.
    static func table(of statement: String) -> String {
        statement.split(separator: " ").drop { $0 != "ON" }.dropFirst().first.map(String.init) ?? ""
    }
}

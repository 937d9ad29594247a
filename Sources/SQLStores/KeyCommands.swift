/// The statements for the numbers of entities and their last primary keys: the table `Z_PRIMARYKEY`.
package enum KeyCommands {
    private static let table = "Z_PRIMARYKEY"
    /// The history's and CloudKit's own entities have this number and higher ones.
    package static let firstPrivateNumber: Int64 = 16000

    /// Selects the last key of an entity. Parameter: its number.
    package static let last = SQLSelect(["Z_MAX"], from: table, where: .equals("Z_ENT"))

    /// Selects the highest key of a table.
    package static func highest(in table: String) -> SQLSelect { SQLSelect(["max(Z_PK)"], from: table) }

    /// Raises the last key of an entity. Parameters: key, number.
    package static let raise = SQLUpdate(table, set: [.greater("Z_MAX")], where: .equals("Z_ENT"))

    /// Sets the last key of an entity. Parameters: key, number.
    package static let update = SQLUpdate(table, set: [.parameter("Z_MAX")], where: .equals("Z_ENT"))

    /// Inserts an entity. Parameters: number, name, number of the superentity or 0, last key.
    package static let insertion = SQLInsert(into: table, ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"])

    /// Deletes the entities of the model.
    package static let deletionOfModel = SQLDelete(from: table, where: .text("Z_ENT < \(firstPrivateNumber)"))
}

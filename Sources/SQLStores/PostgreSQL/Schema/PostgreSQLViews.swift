#if PostgreSQL
    import ManagedObjects
    import PostgreSQLClient
    import SQLStatements

    /// Views with the names of the model, for programs that read with SQL: one for each entity, with the objects of the entity
    /// and its subentities. Dates, Booleans and UUIDs have PostgreSQL's own types. A reference is the key of the row that it
    /// refers to; to-many relationships are found by the references, or in join tables.
    struct PostgreSQLViews {
        let schema: SQLSchema

        /// The seconds from 1970 to Core Data's reference date.
        private static let referenceDate = 978_307_200
        /// The seconds from the reference date to the first and the last date that the server's type has, without some years.
        private static let firstDate = -211_800_000_000
        private static let lastDate = 9_223_000_000_000

        /// The name of an entity's view; nil if a table of the store has it.
        func name(of entity: SQLEntity) -> String? {
            let name = SQLNaming.postgreSQL.fitting(entity.entity.name)
            let tables =
                schema.tables.map(\.name) + schema.joinTables.map(\.name) + PostgreSQLTables.ownTableNames
            return tables.contains { $0.lowercased() == name } ? nil : name
        }

        /// The quoted names of the views.
        var names: [String] { schema.entities.compactMap(name(of:)).map(Self.quoted) }

        var statements: [String] {
            schema.entities.compactMap { entity in
                guard let name = name(of: entity) else { return nil }
                var columns = ["Z_PK AS \"objectID\""]
                var names: Set = ["objectID"]
                for slot in entity.storedSlots {
                    let description = entity.entity.slots[slot]
                    guard let column = entity.columns[slot]?.name, let name = description.name,
                        names.insert(name).inserted
                    else { continue }
                    columns.append("\(Self.expression(column, description.kind)) AS \(Self.quoted(name))")
                }
                let condition = entity.isOfHierarchy().clause(in: PostgreSQLDialect())
                return
                    "CREATE VIEW \(Self.quoted(name)) AS SELECT \(columns.joined(separator: ", ")) FROM \(entity.table)\(condition)"
            }
        }

        private static func quoted(_ name: String) -> String {
            PostgreSQLConnection.quoted(SQLNaming.postgreSQL.fitting(name))
        }

        private static func expression(_ column: String, _ kind: EntityLayout.Slot.Kind) -> String {
            switch kind {
            case .boolean: "(\(column) <> 0)"
            case .date:
                "CASE WHEN \(column) BETWEEN \(firstDate) AND \(lastDate) THEN to_timestamp(\(column) + \(referenceDate)) END"
            case .uuid: "CASE WHEN octet_length(\(column)) = 16 THEN encode(\(column), 'hex')::uuid END"
            default: column
            }
        }
    }
#endif

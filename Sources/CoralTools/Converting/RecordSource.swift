import Coral
import ModelCodeGeneration

/// The records of GRDB for the tables of a plain database, as Swift source.
package struct RecordSource {
    private let schema: PlainSchema
    private let exceptions: PlainExceptions
    /// Whether binary values are in files, so that columns have their paths.
    private let hasFiles: Bool
    /// The names of the Swift types for the tables and the join tables, by the names of the tables.
    private let typeNames: [String: String]

    package init(schema: PlainSchema, exceptions: PlainExceptions = PlainExceptions(), hasFiles: Bool = false) {
        self.schema = schema
        self.exceptions = exceptions
        self.hasFiles = hasFiles
        var names = NameChoice(taken: Self.usedTypes, separator: "")
        var types: [String: String] = [:]
        for (table, name) in schema.tables.map({ ($0.name, $0.entity.name ?? "") })
            + schema.joins.map({ ($0.name, $0.name) })
        {
            let type = SwiftName.capitalized(Self.word(name))
            types[table] = names.choose(Self.usedTypes.contains(type) ? "\(type)Record" : type)
        }
        typeNames = types
    }

    /// The source of a file.
    package var text: String {
        "// Written by coral convert.\n// swift-format-ignore-file\n\nimport Foundation\nimport GRDB\n\n"
            + (schema.tables.map(record) + schema.joins.map(record)).joined(separator: "\n")
    }

    // MARK: - Records

    private func record(of table: PlainTable) -> String {
        let columns = table.columns.map { column in
            let isOptional = !column.isRequired || exceptions.hasNulls(column, in: table)
            return (name: column.name, type: type(of: column) + (isOptional ? "?" : ""))
        }
        var names = NameChoice(taken: Self.usedMembers, separator: "")
        var associations: [String] = []
        for entity in PlainSchema.hierarchy(of: table.entity) {
            for relationship in PlainSchema.ownRelationships(of: entity) {
                guard let association = association(of: relationship, in: table) else { continue }
                let name = names.choose(Self.word(relationship.name))
                associations.append(
                    "    static let \(SwiftName.identifier(name)) = \(association(Self.literal(relationship.name)))\n")
            }
        }
        let identity = table.columns[0].name == "id" ? ["Identifiable"] : []
        return Self.record(
            type(of: table.name), table: table.name, protocols: identity, columns: columns, associations: associations)
    }

    private func record(of join: PlainJoin) -> String {
        let columns =
            [(name: join.ownerColumn, type: keyType), (name: join.memberColumn, type: keyType)]
            + [join.position, join.inversePosition].compactMap { $0 }.map { (name: $0, type: "Int?") }
        let associations = [("owner", join.owner, join.ownerColumn), ("member", join.member, join.memberColumn)].map {
            "    static let \($0) = belongsTo(\(type(of: $1.name)).self, key: \"\($0)\", using: \(Self.foreignKey($2)))\n"
        }
        return Self.record(
            type(of: join.name), table: join.name, protocols: [], columns: columns, associations: associations)
    }

    private static func record(
        _ type: String, table: String, protocols: [String], columns: [(name: String, type: String)],
        associations: [String]
    ) -> String {
        var names = NameChoice(taken: [], separator: "")
        let properties = columns.map { (name: names.choose(word($0.name)), column: $0.name, type: $0.type) }
        var lines = properties.map { "    var \(SwiftName.identifier($0.name)): \($0.type)\n" }
        if properties.contains(where: { $0.name != $0.column }) {
            let cases = properties.map {
                "        case \(SwiftName.identifier($0.name))\($0.name == $0.column ? "" : " = \(literal($0.column))")\n"
            }
            lines.append("\n    enum CodingKeys: String, CodingKey {\n\(cases.joined())    }\n")
        }
        if columns.contains(where: { $0.type.hasPrefix("UUID") }) {
            lines.append(
                """

                    // UUIDs are text in this database.
                    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
                        .uppercaseString
                    }

                """)
        }
        if !associations.isEmpty { lines += ["\n"] + associations }
        let conformances = (["Codable"] + protocols + ["FetchableRecord", "PersistableRecord", "Sendable"])
            .joined(separator: ", ")
        return """
            /// A row of the table `\(comment(table))`.
            struct \(SwiftName.identifier(type)): \(conformances) {
                static let databaseTableName = \(literal(table))

            \(lines.joined())}

            """
    }

    // MARK: - Associations

    /// The association of a relationship for its key, a literal; nil if the database does not have the relationship.
    private func association(
        of relationship: NSRelationshipDescription, in table: PlainTable
    ) -> ((String) -> String)? {
        if let column = table.reference(relationship), let target = column.target {
            return { "belongsTo(\(type(of: target.table)).self, key: \($0), using: \(Self.foreignKey(column.name)))" }
        }
        let inverse = PlainSchema.inverse(relationship)
        for join in schema.joins {
            if join.relationship === relationship {
                return through(join, to: join.member, "member", from: join.ownerColumn, join.position)
            }
            if join.relationship === inverse {
                return through(join, to: join.owner, "owner", from: join.memberColumn, join.inversePosition)
            }
        }
        guard let inverse, let destination = relationship.destinationEntity,
            let other = schema.table(of: destination), let column = other.reference(inverse)
        else { return nil }
        let order = other.position(inverse).map { ".order(Column(\(Self.literal($0.name))))" } ?? ""
        let kind = relationship.isToMany ? "hasMany" : "hasOne"
        return { "\(kind)(\(type(of: other.name)).self, key: \($0), using: \(Self.foreignKey(column.name)))\(order)" }
    }

    private func through(
        _ join: PlainJoin, to table: PlainTable, _ side: String, from column: String, _ position: String?
    ) -> (String) -> String {
        let pair = type(of: join.name)
        let order = position.map { ".order(Column(\(Self.literal($0))))" } ?? ""
        return { key in
            "hasMany(\n        \(type(of: table.name)).self, through: hasMany(\(pair).self, "
                + "key: \(Self.literal(join.name)), using: \(Self.foreignKey(column)))\(order),\n        "
                + "using: \(pair).\(side), key: \(key))"
        }
    }

    private static func foreignKey(_ column: String) -> String { "ForeignKey([\(literal(column))])" }

    // MARK: - Types

    private var keyType: String { schema.keys == .integer ? "Int64" : "UUID" }

    private func type(of table: String) -> String { SwiftName.identifier(typeNames[table] ?? "") }

    private func type(of column: PlainTable.Column) -> String {
        switch column.content {
        case .key, .reference: return keyType
        case .entity: return "String"
        case .position: return "Int"
        case .attribute(_, let attribute):
            switch attribute.type {
            case .integer16, .integer32, .integer64: return "Int64"
            case .double: return "Double"
            case .float: return "Float"
            case .decimal: return "Decimal"
            case .boolean: return "Bool"
            case .date: return "Date"
            case .binaryData, .transformable: return hasFiles ? "String" : "Data"
            case .uuid: return "UUID"
            case .uri: return "URL"
            case .string, .objectID, .composite, .undefined: return "String"
            }
        }
    }

    // MARK: - Names

    /// Names that the source uses for other types.
    private static let usedTypes: Set<String> = [
        "Bool", "Codable", "CodingKey", "CodingKeys", "Column", "Data", "DatabaseUUIDEncodingStrategy", "Date",
        "Decimal", "Double", "FetchableRecord", "Float", "ForeignKey", "Foundation", "GRDB", "Identifiable", "Int",
        "Int64", "Optional", "PersistableRecord", "Self", "Sendable", "String", "Type", "URL", "UUID",
    ]

    /// Static members of GRDB's records.
    private static let usedMembers: Set<String> = [
        "belongsTo", "databaseColumnDecodingStrategy", "databaseDecodingUserInfo", "databaseEncodingUserInfo",
        "databaseSelection", "databaseTableName", "hasMany", "hasOne", "persistenceConflictPolicy",
    ]

    /// A name of letters, digits and underscores.
    private static func word(_ name: String) -> String {
        let letters = String(
            String.UnicodeScalarView(
                name.unicodeScalars.map {
                    $0 == "_" || $0.properties.isAlphabetic || ("0"..."9").contains($0) ? $0 : "_"
                }))
        if letters.first?.isNumber == true { return "_\(letters)" }
        return letters.allSatisfy { $0 == "_" } ? "\(letters)_x" : letters
    }

    private static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\", "\"": result += "\\\(scalar)"
            case "\0"..." ", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
                result += scalar == " " ? " " : "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// A name in a comment of one line.
    private static func comment(_ text: String) -> String {
        text.components(separatedBy: .controlCharacters.union(.newlines)).joined(separator: " ")
    }
}

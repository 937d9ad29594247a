#if STORE_ENGINE

    import Coral
    import struct StoreTools.StoreTables

    /// SQL views of a store's tables, with the names of the model's entities and properties.
    ///
    /// Each entity has a view with a row for each object, including those of its subentities. Each to-many relationship
    /// has a view with a row for each member, `Note.tags`, with the keys of both objects.
    package struct StoreViews {
        private let model: NSManagedObjectModel
        private let tables: StoreTables
        private let storedEntities: [String: StoreTables.Entity]
        /// The folder of large values, relative to the folder of the store.
        private let externalFolder: String
        private let entityNames: [Int64: String]

        /// The views of the store at a location, which a context reads. Must be called on the context's queue.
        package init(of url: URL, model: NSManagedObjectModel, in context: NSManagedObjectContext) throws {
            self.model = model
            tables = try StoreTables(of: url, in: context)
            storedEntities = Dictionary(tables.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
            externalFolder = ".\(url.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA/"
            entityNames = Dictionary(
                tables.entities.map { ($0.number, $0.name) }, uniquingKeysWith: { first, _ in first })
        }

        /// A view: its name, and the statement that it shows.
        package struct View {
            package let name: String
            package let query: String
        }

        /// The views of the entities, then those of the to-many relationships, in the order of their names. A name that
        /// a table or another view has gets a number.
        package func views() -> [View] {
            var taken = NameChoice(taken: tables.tableNames)
            var views: [View] = []
            let entities = model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
            for entity in entities {
                guard let stored = storedEntities[entity.name ?? ""] else { continue }
                views.append(
                    View(name: taken.choose(tables.fitting(entity.name ?? "")), query: query(of: entity, stored)))
            }
            for entity in entities {
                guard let stored = storedEntities[entity.name ?? ""] else { continue }
                for (name, relationship) in entity.relationshipsByName.sorted(by: { $0.key < $1.key })
                where entity.superentity?.relationshipsByName[name] == nil {
                    guard let members = stored.members[name], let destination = relationship.destinationEntity,
                        let query = query(of: members, owner: stored, destination: destination)
                    else { continue }
                    views.append(View(name: taken.choose(tables.fitting("\(entity.name ?? "").\(name)")), query: query))
                }
            }
            return views
        }

        /// The script that creates the views.
        ///
        /// - Parameter isTemporary: Whether the views belong to the connection that executes the script, so that the
        ///   store is not changed.
        package func script(isTemporary: Bool) -> String {
            views().map { view in
                let name = SQLText.name(view.name)
                let temporary = isTemporary ? "TEMP " : ""
                let schema = isTemporary ? (tables.schema == nil ? "temp." : "pg_temp.") : ""
                return "DROP VIEW IF EXISTS \(schema)\(name)\(tables.schema == nil ? "" : " CASCADE");\n"
                    + "CREATE \(temporary)VIEW \(name) AS\n\(view.query);\n"
            }.joined(separator: "\n")
        }

        // MARK: - Entities

        /// The name of a table in statements.
        private func table(_ name: String) -> String {
            (tables.schema.map { SQLText.name($0) + "." } ?? "") + SQLText.name(name)
        }

        private func value(_ column: String, _ type: GraphValueType) -> String {
            tables.schema == nil ? SQLText.value(column, type) : SQLText.serverValue(column, type)
        }

        private func query(of entity: NSEntityDescription, _ stored: StoreTables.Entity) -> String {
            var names = NameChoice(taken: [])
            var columns = ["t.Z_PK AS \(SQLText.name(names.choose("key")))"]
            if let numbers = stored.numbers {
                let cases = numbers.map { number in
                    "WHEN \(number) THEN \(SQLText.literal(entityNames[number] ?? ""))"
                }
                columns.append(
                    "CASE t.Z_ENT \(cases.joined(separator: " ")) END AS \(SQLText.name(names.choose("entity")))")
            }
            var joins = ""
            for (name, attribute) in entity.attributesByName.sorted(by: { $0.key < $1.key }) {
                for (key, type) in Self.parts(of: GraphSchema.Attribute(attribute), name) {
                    guard let column = stored.columns[key] else { continue }
                    let qualified = "t.\(SQLText.name(column.name))"
                    guard column.hasStorageByte else {
                        columns.append(
                            "\(value(qualified, type)) AS \(SQLText.name(names.choose(tables.fitting(key))))")
                        continue
                    }
                    let first = "substr(\(qualified), 1, 1)"
                    columns.append(
                        "CASE \(first) WHEN x'01' THEN substr(\(qualified), 2) END AS \(SQLText.name(names.choose(tables.fitting(key))))"
                    )
                    let file = "\(SQLText.literal(externalFolder)) || CAST(substr(\(qualified), 2, 36) AS TEXT)"
                    columns.append(
                        "CASE \(first) WHEN x'02' THEN \(file) END AS \(SQLText.name(names.choose(tables.fitting("\(key).file"))))"
                    )
                }
            }
            for (name, relationship) in entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
                guard let column = stored.columns[name] else { continue }
                columns.append("t.\(SQLText.name(column.name)) AS \(SQLText.name(names.choose(tables.fitting(name))))")
                guard let destination = relationship.destinationEntity,
                    let other = storedEntities[destination.name ?? ""],
                    let label = Self.label(of: destination), let text = other.columns[label]
                else { continue }
                let alias = "j\(columns.count)"
                joins +=
                    "\n    LEFT JOIN \(table(other.table)) \(alias) ON \(alias).Z_PK = t.\(SQLText.name(column.name))"
                columns.append(
                    "\(alias).\(SQLText.name(text.name)) AS \(SQLText.name(names.choose(tables.fitting("\(name).\(label)"))))"
                )
            }
            return
                "    SELECT \(columns.joined(separator: ",\n        "))\n    FROM \(table(stored.table)) t\(joins)"
                + Self.condition(of: stored, "t").map { "\n    WHERE \($0)" }.joined()
        }

        /// The keys of an attribute's columns: its own, or the paths of a composite's elements. Recursive; a composite
        /// does not contain itself.
        private static func parts(
            of attribute: GraphSchema.Attribute, _ key: String
        ) -> [(key: String, type: GraphValueType)] {
            guard attribute.type == .composite else { return [(key, attribute.type)] }
            return attribute.elements.flatMap { parts(of: $0, "\(key).\($0.name)") }
        }

        /// The attribute whose value is shown as the name of an object: `name`, `title`, or text that must be unique.
        private static func label(of entity: NSEntityDescription) -> String? {
            let unique = entity.uniquenessConstraints.flatMap { $0 }.compactMap { $0 as? String }
            return (["name", "title"] + unique).first { name in
                entity.attributesByName[name]?.attributeType == .stringAttributeType
            }
        }

        private static func condition(of stored: StoreTables.Entity, _ alias: String) -> [String] {
            guard let numbers = stored.numbers else { return [] }
            return ["\(alias).Z_ENT IN (\(numbers.map(String.init).joined(separator: ", ")))"]
        }

        // MARK: - To-many relationships

        private func query(
            of members: StoreTables.Members, owner: StoreTables.Entity, destination: NSEntityDescription
        ) -> String? {
            guard let stored = storedEntities[destination.name ?? ""] else { return nil }
            let (ownerTable, memberTable) = (table(owner.table), table(stored.table))
            let conditions = Self.condition(of: owner, "o") + Self.condition(of: stored, "m")
            let end = conditions.isEmpty ? "" : "\n    WHERE \(conditions.joined(separator: " AND "))"
            switch members {
            case .rows(let column, let position):
                let order = position.map { ",\n        m.\(SQLText.name($0)) AS position" } ?? ""
                return "    SELECT o.Z_PK AS owner,\n        m.Z_PK AS member\(order)\n    FROM \(memberTable) m\n"
                    + "    JOIN \(ownerTable) o ON o.Z_PK = m.\(SQLText.name(column))\(end)"
            case .pairs(let pairTable, let source, let target, let position, let isReflexive):
                let order = position.map { ",\n        p.\(SQLText.name($0)) AS position" } ?? ""
                func select(_ source: String, _ target: String) -> String {
                    "    SELECT o.Z_PK AS owner,\n        m.Z_PK AS member\(order)\n    FROM \(table(pairTable)) p\n"
                        + "    JOIN \(ownerTable) o ON o.Z_PK = p.\(SQLText.name(source))\n"
                        + "    JOIN \(memberTable) m ON m.Z_PK = p.\(SQLText.name(target))\(end)"
                }
                // A pair of a relationship that is its own inverse applies in both directions.
                return isReflexive
                    ? select(source, target) + "\n    UNION\n" + select(target, source) : select(source, target)
            }
        }
    }

#endif

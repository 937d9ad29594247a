// R-trees: fetch indexes over numbers that are queried by ranges, such as coordinates.

extension SQLSchema {
    /// The virtual table of a fetch index whose elements are all of type R-tree, and the triggers that maintain it;
    /// empty for any other index, and if an element is not a number in the entity's own table.
    func spatialStatements(of index: SchemaIndex, in entity: SQLEntity) -> [String] {
        guard let columns = spatialColumns(of: index, in: entity) else { return [] }
        let name = Self.spatialTable(of: index.name, in: entity.entity)
        let declared = columns.map { "\($0)_MIN FLOAT, \($0)_MAX FLOAT" }.joined(separator: ", ")
        let written = columns.map { "\($0)_MIN, \($0)_MAX" }.joined(separator: ", ")
        let values = columns.enumerated().map { position, column in
            // The spaces are the same as in Apple's statements.
            "NEW.\(column)\(position == 0 ? " ," : ", ")NEW.\(column)"
        }.joined(separator: ", ")
        func trigger(_ event: String, _ body: String) -> String {
            "CREATE TRIGGER \(name)_\(event) AFTER \(event) ON \(entity.table) FOR EACH ROW BEGIN \(body) ; END"
        }
        let row = "INTO \(name) (Z_PK, \(written)) VALUES (NEW.Z_PK, \(values))"
        return [
            "CREATE VIRTUAL TABLE \(name) USING RTREE (Z_PK INTEGER PRIMARY KEY, \(declared))",
            trigger("INSERT", "INSERT OR REPLACE \(row)"),
            trigger("UPDATE", "DELETE FROM \(name) WHERE Z_PK = NEW.Z_PK ; INSERT \(row)"),
            trigger("DELETE", "DELETE FROM \(name) WHERE Z_PK = OLD.Z_PK"),
        ]
    }

    /// The columns of an index whose elements are all of type R-tree and are numbers in the entity's own table.
    private func spatialColumns(of index: SchemaIndex, in entity: SQLEntity) -> [String]? {
        guard !index.elements.isEmpty, index.elements.allSatisfy(\.isSpatial) else { return nil }
        let columns = index.elements.compactMap { element -> String? in
            guard element.expression == nil, let slot = element.name.flatMap(entity.entity.slot),
                entity.entity.slots[slot].isNumber
            else { return nil }
            return entity.columns[slot]?.name
        }
        return columns.count == index.elements.count ? columns : nil
    }

    static func spatialTable(of index: String, in entity: SchemaEntity) -> String { "Z_RT_\(entity.name)_\(index)" }

    // MARK: - Reading

    /// The R-trees of a new store, with their columns.
    var spatialTables: [String: [String]] {
        var found: [String: [String]] = [:]
        for entity in entities {
            for index in entity.entity.indexes {
                guard let columns = spatialColumns(of: index, in: entity) else { continue }
                found[Self.spatialTable(of: index.name, in: entity.entity)] = columns.flatMap {
                    ["\($0)_MIN", "\($0)_MAX"]
                }
            }
        }
        return found
    }

    /// The R-tree of a fetch index of the entity, or of a superentity, if the store has it and the column is one of its
    /// dimensions.
    func spatialTable(of index: String, in entity: SQLEntity, column: String) -> String? {
        model.lineage(of: entity.entity).reversed().lazy.map { Self.spatialTable(of: index, in: $0) }
            .first { spatial[$0]?.contains("\(column)_MIN") == true }
    }
}

extension SchemaSlot {
    fileprivate var isNumber: Bool {
        switch kind {
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .date: true
        default: false
        }
    }
}

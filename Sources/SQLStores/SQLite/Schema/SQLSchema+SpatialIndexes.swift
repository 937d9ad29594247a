import ManagedObjects

// R-trees: fetch indexes over numbers that are queried by ranges, such as coordinates.

extension SQLSchema {
    /// The virtual table of a fetch index whose elements are all of type R-tree, and the triggers that maintain it;
    /// empty for any other index, and if an element is not a number in the entity's own table.
    func spatialStatements(of index: NSFetchIndexDescription, in entity: SQLEntity) -> [String] {
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
    private func spatialColumns(of index: NSFetchIndexDescription, in entity: SQLEntity) -> [String]? {
        guard !index.elements.isEmpty, index.elements.allSatisfy({ $0.collationType == .rTree }) else { return nil }
        let columns = index.elements.compactMap { element in
            (element.property as? NSAttributeDescription).flatMap { attribute in
                attribute.attributeType.isNumber ? column(named: attribute.name, in: entity.entity)?.name : nil
            }
        }
        return columns.count == index.elements.count ? columns : nil
    }

    static func spatialTable(of index: String, in entity: NSEntityDescription) -> String {
        "Z_RT_\(entity.name ?? "")_\(index)"
    }

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
    func spatialTable(of index: String, in entity: NSEntityDescription, column: String) -> String? {
        var level: NSEntityDescription? = entity
        while let entity = level {
            let name = Self.spatialTable(of: index, in: entity)
            if spatial[name]?.contains("\(column)_MIN") == true { return name }
            level = entity.superentity
        }
        return nil
    }
}

extension NSAttributeType {
    fileprivate var isNumber: Bool {
        switch self {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
            .doubleAttributeType, .floatAttributeType, .dateAttributeType:
            true
        default: false
        }
    }
}

// The R-trees of a new store: fetch indexes over numbers that are looked for by ranges, such as places on a map.

extension SQLSchema {
    /// The virtual table of a fetch index whose elements are all of the kind, and the triggers that keep it; nothing
    /// for any other
    /// index, and where an element is no number of the entity's own table.
    func spatialStatements(of index: NSFetchIndexDescription, in entity: SQLEntity) -> [String] {
        guard !index.elements.isEmpty, index.elements.allSatisfy({ $0.collationType == .rTree }) else { return [] }
        let columns = index.elements.compactMap { element in
            (element.property as? NSAttributeDescription).flatMap { attribute in
                attribute.attributeType.isNumber ? column(named: attribute.name, in: entity.entity)?.name : nil
            }
        }
        guard columns.count == index.elements.count else { return [] }
        let name = "Z_RT_\(entity.entity.name ?? "")_\(index.name)"
        let declared = columns.map { "\($0)_MIN FLOAT, \($0)_MAX FLOAT" }.joined(separator: ", ")
        let written = columns.map { "\($0)_MIN, \($0)_MAX" }.joined(separator: ", ")
        let values = columns.enumerated().map { position, column in
            // The blanks are Apple's.
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

import Coral
import CoralTools

/// The standard columns of a table for people, in the order of their use.
///
/// The names of the objects and their labels come first, then what differs between objects, what is the same in all of them, and
/// what has no value. Identifiers, which programs read, come last. The first objects decide. Documents have the standard order,
/// which does not depend on values: programs that read them rely on it.
struct ColumnUse {
    private let label: String?
    private let entity: NSEntityDescription
    /// The number of objects that decide.
    private static let sampleSize = 100

    /// The order of the groups.
    private enum Group: Int {
        case name, label, differing, same, empty, identifier
    }

    private init(_ entity: NSEntityDescription, _ context: NSManagedObjectContext) {
        self.entity = entity
        label = LabelAttribute.name(of: entity, in: context)
    }

    /// The columns of an entity. Must be called on the queue of the context. Cost: the first objects are read.
    static func columns(
        of entity: NSEntityDescription, in store: NSPersistentStore, _ context: NSManagedObjectContext
    ) throws -> [QueryColumn] {
        let columns = QueryColumn.standardColumns(of: entity)
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.fetchLimit = sampleSize
        request.relationshipKeyPathsForPrefetching = Array(Set(columns.compactMap(\.prefetching))).sorted()
        var rows: [[QueryCell]] = []
        _ = try ObjectStream(of: request, isSorted: false, in: context)
            .forEachRow(columns, in: store, .discreteProgress(totalUnitCount: 0)) { rows.append(try $0.cells()) }
        let use = ColumnUse(entity, context)
        let groups = columns.indices.map { index in use.group(of: columns[index], rows.map { $0[index] }) }
        return columns.indices.sorted { (groups[$0].rawValue, $0) < (groups[$1].rawValue, $1) }.map { columns[$0] }
    }

    private func group(of column: QueryColumn, _ cells: [QueryCell]) -> Group {
        switch column.title {
        case "objectID": return .name
        case label: return .label
        case let title where entity.attributesByName[title] != nil && LabelAttribute.isIdentifier(title):
            return .identifier
        default: break
        }
        guard cells.contains(where: hasValue) else { return .empty }
        return cells.count == 1 || cells.contains { $0 != cells[0] } ? .differing : .same
    }

    /// Whether a cell has a value, or a number of members.
    private func hasValue(_ cell: QueryCell) -> Bool {
        switch cell {
        // Numbers of members have no attribute.
        case .null, .value(.integer(0), nil): false
        default: true
        }
    }
}

import ManagedObjects
import SQLStatements
import Synchronization

/// The decoding of each column of an entity's rows: computed once for a store and used by every fetch.
package struct RowPlan: Sendable {
    /// The decoding of a column into the cell of a slot.
    struct Step: Sendable {
        enum Decoder: UInt8, Sendable {
            case integer, real, decimal, text, blob, uuid, external, reference
        }

        var column: Int
        var slot: Int
        var decoder: Decoder
        /// For a reference: the column with the `Z_ENT` of its destination, or -1, and the index of the declared
        /// destination.
        var companion = -1
        var destination: Int = 0
    }

    /// A selected column.
    private enum Column: Hashable, Sendable {
        case stored(String)
        /// The `Z_ENT` of the row to which a column refers, if there is no companion column: the owner of a one-way
        /// to-many relationship.
        case entity(of: String, in: String)

        func sql(of table: String) -> String {
            switch self {
            case .stored(let name): "\(table).\(name)"
            case .entity(let column, let destination):
                "(SELECT z.Z_ENT FROM \(destination) AS z WHERE z.Z_PK = \(table).\(column))"
            }
        }
    }

    /// The columns of one entity.
    struct Leaf: Sendable {
        let layout: EntityLayout
        var steps: [Step] = []
    }

    /// The number of selected columns, and the index of each.
    let columnCount: Int
    private let positions: [Column: Int]
    let leaves: [Leaf]
    /// The index of each entity's leaf by `Z_ENT`, or -1.
    let leafByNumber: [Int]
    /// The columns as listed in a statement, beginning with `Z_PK`, `Z_ENT`, `Z_OPT`: qualified by the name of the
    /// entity's table, and by the alias `t0`.
    let list: String
    let qualifiedList: String
    /// The statements that select rows by their keys, by the number of parameters; by 0 if a list is one parameter.
    private let keySelections: [Int: String]

    /// - Parameter layouts: Those of the objects of all entities, by index.
    init(
        _ entity: SQLEntity, includesSubentities: Bool, schema: SQLSchema, layouts: [EntityLayout],
        dialect: any SQLDialect
    ) {
        var columns: [Column] = [.stored("Z_PK"), .stored("Z_ENT"), .stored("Z_OPT")]
        var positions: [Column: Int] = [:]
        func position(of column: Column) -> Int {
            if let known = positions[column] { return known }
            positions[column] = columns.count
            columns.append(column)
            return columns.count - 1
        }
        let numbers = includesSubentities ? entity.hierarchyNumbers : [entity.number]
        var leafByNumber = [Int](repeating: -1, count: Int(clamping: (numbers.max() ?? 0) + 1))
        var leaves: [Leaf] = []
        for number in numbers {
            guard let index = schema.entityIndex(number: number), let leaf = schema.entity(at: index) else { continue }
            var steps: [Step] = []
            for (slot, column) in leaf.columns.enumerated() {
                guard let column else { continue }
                let description = leaf.entity.slots[slot]
                var step = Step(
                    column: position(of: .stored(column.name)), slot: slot,
                    decoder: Self.decoder(of: description.kind, column: column))
                if description.kind == .toOne {
                    step.companion = Self.companion(of: column, description, schema).map(position) ?? -1
                    step.destination = description.destination ?? 0
                }
                steps.append(step)
            }
            leafByNumber[Int(number)] = leaves.count
            leaves.append(Leaf(layout: layouts[index], steps: steps))
        }
        columnCount = columns.count
        self.positions = positions
        self.leaves = leaves
        self.leafByNumber = leafByNumber
        list = columns.map { $0.sql(of: entity.table) }.joined(separator: ", ")
        qualifiedList = columns.map { $0.sql(of: "t0") }.joined(separator: ", ")
        var keySelections: [Int: String] = [:]
        for capacity in dialect.keyCounts.isEmpty ? [0] : dialect.keyCounts {
            let keys = capacity == 0 ? SQLRestriction.keys : .among("Z_PK", parameters: capacity)
            let rows = SQLSelect([list], from: entity.table, where: .all([keys, entity.isOfReadHierarchy()]))
            keySelections[capacity] = dialect.text(of: rows)
        }
        self.keySelections = keySelections
    }

    /// The statement that selects rows by a number of keys: one of the dialect's ``SQLDialect/keyCounts``.
    func selection(ofKeys capacity: Int) -> String { keySelections[capacity] ?? "" }
    /// The statement that selects rows by a list of keys, in a dialect in which a list is one parameter.
    var selectionOfKeys: String { selection(ofKeys: 0) }

    /// The index of a column among the selected ones; nil if it is not selected.
    func index(of column: String) -> Int? { positions[.stored(column)] }

    /// The column with the `Z_ENT` of a reference's destination; nil if only one entity is possible.
    private static func companion(
        of column: SQLColumn, _ description: SchemaSlot, _ schema: SQLSchema
    ) -> Column? {
        if let companion = column.companion { return .stored(companion) }
        guard let destination = description.destination.flatMap({ schema.entity(at: $0) }),
            destination.hierarchyNumbers.count > 1
        else { return nil }
        return .entity(of: column.name, in: destination.table)
    }

    private static func decoder(of kind: EntityLayout.Slot.Kind, column: SQLColumn) -> Step.Decoder {
        if column.hasStorageByte { return .external }
        switch kind {
        case .integer16, .integer32, .integer64, .boolean, .position: return .integer
        case .double, .float, .date: return .real
        case .decimal: return .decimal
        case .string, .uri: return .text
        case .uuid: return .uuid
        case .toOne: return .reference
        case .data, .transformable, .undefined: return .blob
        }
    }
}

/// The row plans of a store, each created on first use.
package final class RowPlans: Sendable {
    private struct Key: Hashable {
        let entity: Int
        let includesSubentities: Bool
    }

    private let schema: SQLSchema
    private let layouts: [EntityLayout]
    private let dialect: any SQLDialect
    private let plans = Mutex<[Key: RowPlan]>([:])

    /// - Parameter layouts: Those of the objects of all entities of the model, by index.
    init(schema: SQLSchema, layouts: [EntityLayout], dialect: any SQLDialect) {
        self.schema = schema
        self.layouts = layouts
        self.dialect = dialect
    }

    package func plan(for entity: SQLEntity, includesSubentities: Bool) -> RowPlan {
        let key = Key(entity: entity.entity.index, includesSubentities: includesSubentities)
        if let known = plans.withLock({ $0[key] }) { return known }
        let plan = RowPlan(
            entity, includesSubentities: includesSubentities, schema: schema, layouts: layouts, dialect: dialect)
        plans.withLock { $0[key] = plan }
        return plan
    }
}

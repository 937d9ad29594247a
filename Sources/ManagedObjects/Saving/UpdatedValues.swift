/// The values of an object whose row a save updates. Those that have not changed are decoded from the row when they are read.
struct UpdatedValues {
    private let own: OwnValues
    /// The values that an earlier save has written since the row was read.
    private let committed: OwnValues?
    private let page: RowPage?
    private let row: Int

    init(_ values: ContiguousArray<Value>) {
        self.init(.complete(values), committed: nil, page: nil, row: 0)
    }

    /// Values over those beneath: the committed ones, then those of the row. Both may be nil if the values are complete.
    init(_ own: OwnValues, committed: OwnValues?, page: RowPage?, row: Int) {
        (self.own, self.committed, self.page, self.row) = (own, committed, page, row)
    }

    subscript(slot: Int) -> Value {
        own[slot] ?? committed?[slot] ?? page?.value(row: row, slot: slot) ?? .null
    }

    /// The values of all slots.
    var complete: ContiguousArray<Value> {
        own.complete(over: committed?.complete(over: rowValues) ?? rowValues)
    }

    private var rowValues: ContiguousArray<Value> { page?.values(row: row) ?? [] }
}

/// A box as it is drawn: its size, and how far down its rows are.
struct DiagramBox {
    static let headerHeight = 30.0
    static let rowHeight = 20.0
    static let padding = 7.0
    static let inset = 12.0
    static let nameSize = 14.0
    static let textSize = 12.0

    let box: ModelDiagram.Box
    let width: Double
    let height: Double
    /// How far below the upper edge the rows of relationships begin.
    private let relationshipsTop: Double

    init(_ box: ModelDiagram.Box) {
        self.box = box
        let rows =
            box.attributes.map { ($0.name, $0.type) } + box.relationships.map { ($0.name, Self.type(of: $0)) }
        let widest =
            rows.map { name, type in
                TextWidth.width(name, size: Self.textSize) + TextWidth.width(type, size: Self.textSize) + 22
            }.max() ?? 0
        var title = TextWidth.width(box.name, size: Self.nameSize, isBold: true)
        if box.isAbstract { title += TextWidth.width("abstract", size: Self.textSize) + 14 }
        width = (max(widest, title, 90) + 2 * Self.inset).rounded(.up)
        relationshipsTop = Self.headerHeight + Self.block(box.attributes.count)
        height = relationshipsTop + Self.block(box.relationships.count)
    }

    /// The height of some rows with the space around them.
    private static func block(_ rows: Int) -> Double {
        rows == 0 ? 0 : Double(rows) * rowHeight + 2 * padding
    }

    /// The middle of an attribute's row.
    func attributeOffset(_ index: Int) -> Double {
        Self.headerHeight + Self.padding + (Double(index) + 0.5) * Self.rowHeight
    }

    /// The middle of a relationship's row.
    func relationshipOffset(_ index: Int) -> Double {
        relationshipsTop + Self.padding + (Double(index) + 0.5) * Self.rowHeight
    }

    /// Where the rule between attributes and relationships is; nil where there are not both.
    var ruleOffset: Double? { box.attributes.isEmpty || box.relationships.isEmpty ? nil : relationshipsTop }

    /// Where a line of that relationship ends: at its row, or at the title.
    func offset(of relationship: String?) -> Double {
        let row = box.relationships.firstIndex { $0.name == relationship }
        return row.map(relationshipOffset) ?? Self.headerHeight / 2
    }

    /// The type of a relationship as Swift would write it.
    static func type(of relationship: ModelDiagram.Relationship) -> String {
        guard relationship.isToMany else { return relationship.destination + (relationship.isOptional ? "?" : "") }
        return relationship.isOrdered ? "[\(relationship.destination)]" : "Set<\(relationship.destination)>"
    }
}

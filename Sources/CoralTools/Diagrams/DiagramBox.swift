/// A box of the drawing: its size, and the vertical positions of its rows.
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
    /// The vertical offset of the rows of relationships from the upper edge.
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

    /// The height of a number of rows with their padding.
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

    /// The position of the line between attributes and relationships; nil unless there are both.
    var ruleOffset: Double? { box.attributes.isEmpty || box.relationships.isEmpty ? nil : relationshipsTop }

    /// The vertical offset of the end of a relationship's line: its row, or the title.
    func offset(of relationship: String?) -> Double {
        let row = box.relationships.firstIndex { $0.name == relationship }
        return row.map(relationshipOffset) ?? Self.headerHeight / 2
    }

    /// The type of a relationship in Swift.
    static func type(of relationship: ModelDiagram.Relationship) -> String {
        guard relationship.isToMany else { return relationship.destination + (relationship.isOptional ? "?" : "") }
        return relationship.isOrdered ? "[\(relationship.destination)]" : "Set<\(relationship.destination)>"
    }
}

import Foundation

extension ModelDiagram {
    /// The diagram as an SVG document.
    ///
    /// Boxes are arranged in columns, owners to the left. A line connects a relationship's row with that of its
    /// inverse; a crow's foot means to-many, a bar to-one, two bars mandatory to-one. A hollow arrow points to a parent
    /// entity. Lines have tooltips with their names.
    ///
    /// Cost: grows with the square of the number of lines between two columns.
    ///
    /// - Parameters:
    ///   - title: The title of the picture, for screen readers; nil for none.
    ///   - link: Returns the address to which the box of an entity links, by the entity's name; nil for no links.
    public func svg(title: String? = nil, link: ((String) -> String)? = nil) -> String {
        let boxes = self.boxes.map(DiagramBox.init)
        let indexes = Dictionary(
            self.boxes.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        var graph = LayeredGraph(
            nodes: boxes.map { .init(width: $0.width, height: $0.height) }, edges: [])
        var drawn: [Line] = []
        for line in lines {
            guard let from = indexes[line.from], let to = indexes[line.to] else { continue }
            drawn.append(line)
            let middle = DiagramBox.headerHeight / 2
            var edge = LayeredGraph.Edge(from: from, fromOffset: middle, to: to, toOffset: middle)
            if case .relationship(let relationship, let inverse) = line.kind {
                edge.fromOffset = boxes[from].offset(of: relationship.name)
                edge.toOffset = boxes[to].offset(of: inverse?.name)
            }
            graph.edges.append(edge)
        }
        Self.spreadArrivals(in: &graph)
        return DiagramPicture(
            boxes: boxes, lines: drawn, ends: graph.edges.map { ($0.from, $0.to) },
            drawing: GraphLayout.drawing(of: graph)
        ).text(title: title, links: link.map { link in self.boxes.map { link($0.name) } })
    }

    /// Distributes the ends of lines that end at a box's title instead of at a row, so that they do not coincide.
    private static func spreadArrivals(in graph: inout LayeredGraph) {
        let middle = DiagramBox.headerHeight / 2
        var arrivals: [Int: [Int]] = [:]
        for (index, edge) in graph.edges.enumerated() where edge.toOffset == middle {
            arrivals[edge.to, default: []].append(index)
        }
        for edges in arrivals.values where edges.count > 1 {
            let step = min(8, 22 / Double(edges.count - 1))
            for (position, index) in edges.enumerated() {
                graph.edges[index].toOffset += (Double(position) - Double(edges.count - 1) / 2) * step
            }
        }
    }
}

/// Writes a laid out diagram as SVG.
private struct DiagramPicture {
    let boxes: [DiagramBox]
    let lines: [ModelDiagram.Line]
    let ends: [(from: Int, to: Int)]
    let drawing: GraphDrawing

    private static let margin = 28.0
    private static let titleHeight = 40.0
    /// Colours of titles and of the lines that start there, of similar brightness and easy to distinguish.
    private static let palette = [
        "#3b6ea8", "#a8553b", "#4a7d4e", "#7a5a9e", "#9a7a24", "#2f7f86", "#a04a72", "#5d6673",
    ]

    func text(title: String?, links: [String]?) -> String {
        let top = Self.margin + (title == nil ? 0 : Self.titleHeight)
        let width = number(drawing.width + 2 * Self.margin)
        let height = number(drawing.height + top + Self.margin)
        let colours = self.colours
        var svg = """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)">
            <style>
            text { font: \(number(DiagramBox.textSize))px "Helvetica Neue", Helvetica, Arial, sans-serif; fill: #22262b; }
            .name { font-size: \(number(DiagramBox.nameSize))px; font-weight: bold; fill: #fff; }
            .type { fill: #78808a; text-anchor: end; }
            .abstract, .transient { font-style: italic; }
            .unique { text-decoration: underline; }
            .title { font-size: 20px; font-weight: bold; }
            .line { fill: none; stroke-width: 1.5; }
            .line:hover { stroke-width: 3.5; }
            .near { fill: none; stroke: transparent; stroke-width: 10; }
            </style>
            <rect width="100%" height="100%" fill="#fff"/>

            """
        if let title {
            let left = number(Self.margin)
            svg +=
                "<text class=\"title\" x=\"\(left)\" y=\"\(number(Self.margin + 14))\">\(HTMLText.escaped(title))</text>\n"
        }
        svg += "<g transform=\"translate(\(number(Self.margin)) \(number(top)))\">\n"
        for index in lines.indices { svg += line(index, colour: Self.palette[colours[ends[index].from]]) }
        for index in boxes.indices {
            let box = box(index, colour: Self.palette[colours[index]])
            svg += links.map { "<a href=\"\(HTMLText.escaped($0[index]))\">\n\(box)</a>\n" } ?? box
        }
        return svg + "</g>\n</svg>\n"
    }

    /// A colour for each box, different from those of its neighbours where possible.
    private var colours: [Int] {
        var neighbours = [Set<Int>](repeating: [], count: boxes.count)
        for (from, to) in ends where from != to {
            neighbours[from].insert(to)
            neighbours[to].insert(from)
        }
        var colours = [Int](repeating: -1, count: boxes.count)
        var uses = [Int](repeating: 0, count: Self.palette.count)
        for index in boxes.indices {
            let taken = Set(neighbours[index].map { colours[$0] })
            let free = Self.palette.indices.filter { !taken.contains($0) }
            let choices = free.isEmpty ? Array(Self.palette.indices) : free
            let colour = choices.min { (uses[$0], $0) < (uses[$1], $1) } ?? 0
            colours[index] = colour
            uses[colour] += 1
        }
        return colours
    }

    // MARK: - Boxes

    private func box(_ index: Int, colour: String) -> String {
        let box = boxes[index]
        let frame = drawing.frames[index]
        let (x, y, width) = (frame.x, frame.y, frame.width)
        let (left, right) = (number(x + DiagramBox.inset), number(x + width - DiagramBox.inset))
        let header = DiagramBox.headerHeight
        let corner = box.height > header ? "V\(number(y + header))H\(number(x))V" : nil
        var svg = "<g>\n"
        let frameAttributes = "x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(width))\""
        svg += "<rect \(frameAttributes) height=\"\(number(frame.height))\" rx=\"6\" fill=\"#fff\"/>\n"
        if corner != nil {
            svg +=
                "<path d=\"M\(number(x)) \(number(y + header))V\(number(y + 6))a6 6 0 0 1 6 -6"
                + "h\(number(width - 12))a6 6 0 0 1 6 6V\(number(y + header))z\" fill=\"\(colour)\"/>\n"
        } else {
            svg += "<rect \(frameAttributes) height=\"\(number(frame.height))\" rx=\"6\" fill=\"\(colour)\"/>\n"
        }
        let name = HTMLText.escaped(box.box.name)
        let abstract = box.box.isAbstract ? " abstract" : ""
        svg += "<text class=\"name\(abstract)\" x=\"\(left)\" y=\"\(number(y + 20))\">\(name)</text>\n"
        if box.box.isAbstract {
            let label = "<text class=\"type\" style=\"fill:#fff;fill-opacity:.75\""
            svg += "\(label) x=\"\(right)\" y=\"\(number(y + 20))\">abstract</text>\n"
        }
        for (row, attribute) in box.box.attributes.enumerated() {
            var classes: [String] = []
            if attribute.isTransient || attribute.isDerived { classes.append("transient") }
            if attribute.isUnique { classes.append("unique") }
            svg += self.row(
                attribute.name, attribute.type, classes, left, right, y + box.attributeOffset(row))
        }
        if let rule = box.ruleOffset {
            let y = number(y + rule)
            svg += "<path d=\"M\(number(x)) \(y)h\(number(width))\" stroke=\"\(colour)\" stroke-opacity=\".35\"/>\n"
        }
        for (row, relationship) in box.box.relationships.enumerated() {
            svg += self.row(
                relationship.name, DiagramBox.type(of: relationship), [], left, right,
                y + box.relationshipOffset(row))
        }
        svg +=
            "<rect \(frameAttributes) height=\"\(number(frame.height))\" rx=\"6\" fill=\"none\" stroke=\"\(colour)\"/>\n"
        return svg + "</g>\n"
    }

    private func row(
        _ name: String, _ type: String, _ classes: [String], _ left: String, _ right: String, _ middle: Double
    ) -> String {
        let y = number(middle + 4)
        let style = classes.isEmpty ? "" : " class=\"\(classes.joined(separator: " "))\""
        return "<text\(style) x=\"\(left)\" y=\"\(y)\">\(HTMLText.escaped(name))</text>"
            + "<text class=\"type\" x=\"\(right)\" y=\"\(y)\">\(HTMLText.escaped(type))</text>\n"
    }

    // MARK: - Lines

    private func line(_ index: Int, colour: String) -> String {
        let path = drawing.paths[index]
        guard let start = path.first, let end = path.last else { return "" }
        let isLoop = ends[index].from == ends[index].to
        // The directions away from the boxes at both ends.
        let (out, back) = isLoop ? (1.0, 1.0) : (path[1].x > start.x ? 1 : -1, path[path.count - 2].x > end.x ? 1 : -1)
        let way = isLoop ? loop(start, end) : curve(path, out, back)
        let marks: String
        let title: String
        switch lines[index].kind {
        case .inheritance:
            marks = triangle(start, out)
            title = "\(lines[index].to) inherits from \(lines[index].from)"
        case .relationship(let relationship, let inverse):
            marks = mark(relationship, at: end, back) + (inverse.map { mark($0, at: start, out) } ?? dot(start, colour))
            let there = "\(lines[index].from).\(relationship.name)"
            title = inverse.map { "\(there) ⇄ \(lines[index].to).\($0.name)" } ?? "\(there) → \(lines[index].to)"
        }
        return "<g class=\"line\" stroke=\"\(colour)\"><title>\(HTMLText.escaped(title))</title>"
            + "<path class=\"near\" d=\"\(way)\"/><path d=\"\(way)\"/>\(marks)</g>\n"
    }

    /// The length of the horizontal segment at a box before a line curves.
    private static let stub = 16.0

    private func curve(_ path: [GraphDrawing.Point], _ out: Double, _ back: Double) -> String {
        var way = "M\(point(path[0]))"
        var here = path[0]
        here.x += out * Self.stub
        way += "L\(point(here))"
        for index in path.indices.dropFirst() {
            var next = path[index]
            // Points are in pairs: the line is straight within a pair and curves from the end of a pair to the next.
            if index.isMultiple(of: 2) {
                way += "L\(point(next))"
            } else {
                if index == path.count - 1 { next.x += back * Self.stub }
                let half = (next.x - here.x) / 2
                way +=
                    "C\(number(here.x + half)) \(number(here.y)) \(number(next.x - half)) \(number(next.y)) \(point(next))"
            }
            here = next
        }
        return way + "L\(point(path[path.count - 1]))"
    }

    private func loop(_ start: GraphDrawing.Point, _ end: GraphDrawing.Point) -> String {
        let side = number(start.x + Self.stub)
        let far = number(start.x + 42)
        // The line of a relationship that is its own inverse ends slightly above its beginning.
        let low = start.y == end.y ? end.y - 13 : end.y
        return "M\(point(start))H\(side)C\(far) \(number(start.y)) \(far) \(number(low)) \(side) \(number(low))"
            + "H\(number(end.x))"
    }

    private func mark(_ relationship: ModelDiagram.Relationship, at end: GraphDrawing.Point, _ out: Double) -> String {
        let tip = number(end.x + out * 12)
        var marks = ""
        if relationship.isToMany {
            marks +=
                "M\(number(end.x)) \(number(end.y - 6))L\(tip) \(number(end.y))L\(number(end.x)) \(number(end.y + 6))"
        } else {
            marks += bar(end.x + out * 7, end.y)
        }
        if !relationship.isOptional { marks += bar(end.x + out * (relationship.isToMany ? 15 : 11), end.y) }
        return "<path d=\"\(marks)\"/>"
    }

    private func bar(_ x: Double, _ y: Double) -> String { "M\(number(x)) \(number(y - 6))v12" }

    private func dot(_ center: GraphDrawing.Point, _ colour: String) -> String {
        "<circle cx=\"\(number(center.x))\" cy=\"\(number(center.y))\" r=\"3\" fill=\"\(colour)\" stroke=\"none\"/>"
    }

    private func triangle(_ center: GraphDrawing.Point, _ out: Double) -> String {
        let base = number(center.x + out * 13)
        return "<path d=\"M\(point(center))L\(base) \(number(center.y - 7))V\(number(center.y + 7))z\" fill=\"#fff\"/>"
    }

    private func point(_ point: GraphDrawing.Point) -> String { "\(number(point.x)) \(number(point.y))" }

    /// Formats a number with at most one decimal, which is precise enough for a picture and deterministic.
    private func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths.isMultiple(of: 10) ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
    }
}

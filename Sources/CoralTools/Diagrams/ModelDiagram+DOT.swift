import Foundation

extension ModelDiagram {
    /// The diagram in the language of Graphviz.
    public func dot() -> String {
        var text = """
            digraph Model {
                rankdir = LR
                node [shape = plain, fontname = "Helvetica", fontsize = 11]
                edge [fontname = "Helvetica", fontsize = 9, color = "#5d6673"]

            """
        for box in boxes { text += "    \(Self.quoted(box.name)) [label = <\(Self.table(box))>]\n" }
        for line in lines {
            let (from, to) = (Self.quoted(line.from), Self.quoted(line.to))
            switch line.kind {
            case .inheritance:
                text += "    \(from) -> \(to) [dir = back, arrowtail = onormal]\n"
            case .relationship(let relationship, let inverse):
                let start = from + ":" + Self.quoted(relationship.name)
                let end = to + (inverse.map { ":" + Self.quoted($0.name) } ?? "")
                let tail = inverse.map(Self.arrow) ?? "dot"
                text +=
                    "    \(start) -> \(end) [dir = both, arrowhead = \(Self.arrow(relationship)), arrowtail = \(tail)]\n"
            }
        }
        return text + "}\n"
    }

    private static func arrow(_ relationship: Relationship) -> String {
        switch (relationship.isToMany, relationship.isOptional) {
        case (true, true): "crow"
        case (true, false): "crowtee"
        case (false, true): "tee"
        case (false, false): "teetee"
        }
    }

    private static func table(_ box: Box) -> String {
        var rows = "<TR><TD COLSPAN=\"2\" BGCOLOR=\"#dfe6ee\"><B>\(HTMLText.escaped(box.name))</B></TD></TR>"
        for attribute in box.attributes {
            let name = HTMLText.escaped(attribute.name)
            rows += cells(attribute.isUnique ? "<U>\(name)</U>" : name, attribute.type, port: attribute.name)
        }
        for relationship in box.relationships {
            rows += cells(
                HTMLText.escaped(relationship.name), DiagramBox.type(of: relationship), port: relationship.name)
        }
        return "<TABLE BORDER=\"0\" CELLBORDER=\"1\" CELLSPACING=\"0\" CELLPADDING=\"4\">\(rows)</TABLE>"
    }

    private static func cells(_ name: String, _ type: String, port: String) -> String {
        "<TR><TD ALIGN=\"LEFT\">\(name)</TD>"
            + "<TD ALIGN=\"LEFT\" PORT=\"\(HTMLText.escaped(port))\">\(HTMLText.escaped(type))</TD></TR>"
    }

    private static func quoted(_ name: String) -> String {
        // Escapes scalars, not characters: a quote followed by a combining mark is one `Character`.
        var text = ""
        for scalar in name.unicodeScalars {
            if scalar == "\\" || scalar == "\"" { text += "\\" }
            text.unicodeScalars.append(scalar)
        }
        return "\"\(text)\""
    }
}

extension ModelDiagram {
    /// The diagram as a Mermaid class diagram, which code hosting and note-taking software renders.
    public func mermaid() -> String {
        var text = "classDiagram\n"
        for box in boxes {
            text += "    class \(Self.identifier(box.name)) {\n"
            if box.isAbstract { text += "        <<abstract>>\n" }
            for attribute in box.attributes {
                text += "        \(Self.identifier(attribute.name)) \(attribute.type)\n"
            }
            for relationship in box.relationships {
                let type = Self.mermaidType(of: relationship)
                text += "        \(Self.identifier(relationship.name)) \(type)\n"
            }
            text += "    }\n"
        }
        for line in lines {
            let (from, to) = (Self.identifier(line.from), Self.identifier(line.to))
            switch line.kind {
            case .inheritance: text += "    \(from) <|-- \(to)\n"
            case .relationship(let relationship, let inverse):
                let near = inverse.map { "\"\(Self.cardinality(of: $0))\" --" } ?? "-->"
                text += "    \(from) \(near) \"\(Self.cardinality(of: relationship))\" \(to) : \(line.label)\n"
            }
        }
        return text
    }

    private static func cardinality(of relationship: Relationship) -> String {
        switch (relationship.isToMany, relationship.isOptional) {
        case (true, true): "*"
        case (true, false): "1..*"
        case (false, true): "0..1"
        case (false, false): "1"
        }
    }

    /// Angle brackets would end a label; Mermaid writes generics with tildes.
    private static func mermaidType(of relationship: Relationship) -> String {
        DiagramBox.type(of: relationship).replacingOccurrences(of: "<", with: "~")
            .replacingOccurrences(of: ">", with: "~")
    }

    /// Names in models are identifiers; in other names, characters that have a meaning in Mermaid are replaced by
    /// underscores.
    private static func identifier(_ name: String) -> String {
        String(name.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" })
    }
}

/// Estimates the width of text without a font, for a sans serif typeface of usual proportions. The estimate tends to be
/// too wide.
enum TextWidth {
    /// The width of a text at a size, both in points.
    static func width(_ text: String, size: Double, isBold: Bool = false) -> Double {
        let sum = text.unicodeScalars.reduce(0) { $0 + ems($1) }
        return sum * size * (isBold ? 1.1 : 1)
    }

    private static func ems(_ scalar: Unicode.Scalar) -> Double {
        switch scalar {
        case "i", "j", "l", "I", "|", "'", ".", ",", ":", ";": 0.32
        case "f", "t", "r", "(", ")", "[", "]", " ", "-", "/": 0.41
        case "m", "w", "M", "W", "@": 0.95
        case "A"..."Z", "<", ">", "+", "=": 0.72
        // Characters of these scripts count as full-width, although some, such as combining marks, are narrower.
        case "\u{1100}"..."\u{11FF}", "\u{2E80}"..."\u{D7FF}", "\u{F900}"..."\u{FAFF}", "\u{1F000}"..."\u{3FFFF}": 1.05
        default: 0.62
        }
    }
}

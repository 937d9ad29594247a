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

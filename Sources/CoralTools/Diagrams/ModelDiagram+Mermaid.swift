import Foundation

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

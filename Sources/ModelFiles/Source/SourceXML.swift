/// Builds XML text, indented by four spaces as the editor does.
struct SourceXML {
    private(set) var text = #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#
    private var depth = 0
    /// Whether the last start tag is not yet closed, so that it may end in `/>`.
    private var isTagOpen = false

    /// Begins an element. Attributes without a value are omitted.
    mutating func open(_ name: String, _ attributes: [(String, String?)] = []) {
        finishTag()
        text += "\n" + String(repeating: "    ", count: depth) + "<" + name
        for case (let name, let value?) in attributes { text += " \(name)=\"\(Self.escaped(value))\"" }
        depth += 1
        isTagOpen = true
    }

    /// Ends an element; one without content gets no end tag.
    mutating func close(_ name: String) {
        depth -= 1
        if isTagOpen {
            text += "/>"
            isTagOpen = false
        } else {
            text += "\n" + String(repeating: "    ", count: depth) + "</\(name)>"
        }
    }

    /// Writes an element without content.
    mutating func empty(_ name: String, _ attributes: [(String, String?)]) {
        open(name, attributes)
        close(name)
    }

    private mutating func finishTag() {
        if isTagOpen { text += ">" }
        isTagOpen = false
    }

    static func escaped(_ value: String) -> String {
        var escaped = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            // A parser normalises these to spaces unless they are character references; XML cannot represent other
            // control characters.
            case "\n", "\r", "\t": escaped += "&#\(scalar.value);"
            case "\u{0}"..<" ": continue
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

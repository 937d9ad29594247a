import Coral
import CoralTools

/// The field of a property in the form of an object. The browser checks each field by its type; the server checks each value again.
struct ValueEditor {
    /// The key path of the property.
    let key: String
    /// What was entered before; nil for a new form.
    let entered: String?
    /// Whether what was entered was rejected.
    let isMistaken: Bool

    /// An object that a relationship can refer to.
    struct Candidate {
        let name: String
        let title: String?
    }

    /// The name of the place of a property's field in its page, and of the sentence about it.
    static func anchor(of key: String) -> String { "field-\(key)" }
    static func mistakeAnchor(of key: String) -> String { "mistake-\(key)" }

    /// The attributes of a field: its name, its place, and the mistake, to which the browser moves.
    private func attributes(_ label: String) -> HTML {
        let mistake: HTML = " aria-invalid=\"true\" aria-describedby=\"\(Self.mistakeAnchor(of: key))\" autofocus"
        return "name=\"value.\(key)\" aria-label=\"\(label)\" id=\"\(Self.anchor(of: key))\"\(mistake, if: isMistaken)"
    }

    private func hidden(_ name: String, _ value: String) -> HTML {
        "<input type=\"hidden\" name=\"\(name).\(key)\" value=\"\(field: value)\">"
    }

    /// The box that removes a value, and its state.
    private func removal(isNull: Bool) -> HTML {
        let checked: HTML = " checked"
        return
            "<label class=\"none\"><input type=\"checkbox\" name=\"none.\(key)\" value=\"1\" data-none=\"\(Self.anchor(of: key))\" "
            + "aria-label=\"No value of \(key)\"\(checked, if: isNull)> none</label>\(hidden("wasnone", "1"), if: isNull)"
    }

    // MARK: - Attributes

    /// A field for the value of an attribute.
    ///
    /// - Parameter zone: The time zone of dates; nil for UTC.
    func html(of value: GraphValue, _ type: GraphValueType, in zone: TimeZone?) -> HTML {
        if type == .binaryData { return bytes(isNull: value.isNull) }
        let text: String =
            switch value {
            case .null: ""
            case .date(let seconds): DateCell.text(of: seconds, in: zone)
            default: TextValue.text(of: value) ?? ""
            }
        let label = "Value of \(key)"
        switch type {
        case .boolean: return choice(text, label)
        case .string:
            guard let breaks = LineBreaks(of: text), !text.unicodeScalars.contains("\0") else {
                return """
                    \(PageValue(StorePage()).html(value)) <span class="more">This text is changed by coral set: \
                    a form would change its line breaks or its NUL characters.</span>
                    """
            }
            return "\(input(text, label))\(hidden("was", text))\(hidden("kind", ObjectForm.Kind.text.rawValue))"
                + "\(hidden("breaks", breaks.rawValue), if: breaks != .lineFeed)\(removal(isNull: value.isNull))"
        default: return "\(input(text, label, Self.form(of: type)))\(hidden("was", text))\(picker(type, text))"
        }
    }

    private func input(_ text: String, _ label: String, _ form: HTML = "") -> HTML {
        let text = entered ?? text
        let isLong = text.count > 60 || text.contains(where: \.isNewline)
        // A browser omits the first line break in a text area.
        return isLong
            ? "<textarea rows=\"4\" \(attributes(label))>\n\(field: text)</textarea>"
            : "<input type=\"text\" value=\"\(field: text)\" autocomplete=\"off\" \(attributes(label))\(form)>"
    }

    /// A calendar whose choice becomes the text of the field: a date keeps the digits of its seconds unless another is chosen.
    private func picker(_ type: GraphValueType, _ text: String) -> HTML {
        guard type == .date else { return "" }
        let offset = text.hasSuffix("Z") || text.isEmpty ? "Z" : String(text.suffix(6))
        return "<input type=\"datetime-local\" step=\"1\" class=\"picker\" data-for=\"\(Self.anchor(of: key))\" "
            + "data-offset=\"\(offset)\" aria-label=\"Choose the value of \(key)\">"
    }

    private func choice(_ text: String, _ label: String) -> HTML {
        let selected: HTML = " selected"
        let options = ["", "true", "false"].map { option -> HTML in
            let title = option.isEmpty ? "none" : option
            return "<option value=\"\(option)\"\(selected, if: option == entered ?? text)>\(title)</option>"
        }
        return "<select \(attributes(label))>\(options)</select>\(hidden("was", text))"
    }

    /// A file, or bytes as Base64 or hexadecimal digits.
    private func bytes(isNull: Bool) -> HTML {
        // Bytes that are too long are not sent back.
        let text = entered.flatMap { $0.utf8.count > 10_000 ? nil : $0 } ?? ""
        let open: HTML = " open"
        return """
            <details\(open, if: isMistaken)><summary>Change</summary>\
            <textarea rows="2" spellcheck="false" placeholder="Base64, or hex:00ff" \
            \(attributes("Value of \(key), as Base64, or as hex: and digits"))>\(text)</textarea>\
            <input type="file" data-limit="\(BinaryEditor.fileLimit)" data-for="\(Self.anchor(of: key))" \
            aria-label="File for \(key)"><span class="mistake" role="alert"></span>\
            \(hidden("kind", ObjectForm.Kind.bytes.rawValue))\(removal(isNull: isNull))</details>
            """
    }

    /// The HTML attributes of a field of a type: the keyboard of a phone, and the pattern that the browser checks.
    private static func form(of type: GraphValueType) -> HTML {
        func pattern(_ expression: String, _ title: String) -> HTML { " pattern=\"\(expression)\" title=\"\(title)\"" }
        return switch type {
        case .uuid:
            pattern("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", "a UUID: 8-4-4-4-12 hexadecimal digits")
                + " spellcheck=\"false\""
        case .uri: pattern("\\S*", "a URL without spaces") + " inputmode=\"url\" spellcheck=\"false\""
        case .date:
            pattern(
                "\\d{4,}-\\d{2}-\\d{2}([T ]\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?)?(Z|[+\\-]\\d{2}:?\\d{2})?|@.+",
                "a date: 2024-02-29, or 2024-02-29T12:30:00Z")
        case .integer16, .integer32, .integer64: pattern("[+\\-]?\\d+", "a whole number") + " inputmode=\"numeric\""
        case .double, .float, .decimal: " inputmode=\"decimal\""
        default: ""
        }
    }

    // MARK: - Relationships

    /// A field for the objects of a relationship, by their names, with suggestions.
    func html(_ names: String, _ relationship: NSRelationshipDescription, candidates: [Candidate]) -> HTML {
        let list = "objects-\(key)"
        let options = candidates.map { candidate -> HTML in
            "<option value=\"\(candidate.name)\">\(candidate.title ?? candidate.name)</option>"
        }
        let suggestions: HTML = "<datalist id=\"\(list)\">\(options)</datalist>"
        guard relationship.isToMany else {
            let field = input(names, "Object of \(key)", " list=\"\(list)\" placeholder=\"an object, such as Note/p1\"")
            return "\(field)\(hidden("was", names))\(suggestions)"
        }
        return "\(input(names, "Members of \(key), separated by commas"))\(hidden("was", names))"
            + "\(hidden("kind", ObjectForm.Kind.members.rawValue))<input type=\"text\" name=\"add.\(key)\" list=\"\(list)\" "
            + "placeholder=\"one more\" autocomplete=\"off\" aria-label=\"Object to add to \(key)\">\(suggestions)"
    }
}

/// The limit of binary values that are sent by a form.
enum BinaryEditor {
    /// The maximum size of a file, in bytes.
    static let fileLimit = 10_000_000

    /// Rejects a value that is longer than a file may be. Throws `CommandError`.
    static func check(_ text: String) throws {
        // Four characters are three bytes.
        guard text.utf8.count / 4 * 3 <= fileLimit else {
            throw CommandError(
                "Values of more than \(fileLimit / 1_000_000) MB are set by coral set, with @ and a path.")
        }
    }
}

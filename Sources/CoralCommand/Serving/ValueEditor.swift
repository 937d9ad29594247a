import Coral
import CoralTools

/// The form that changes a property of an object. The browser checks each field by its type; the server checks each value
/// again.
struct ValueEditor {
    let frame: PageFrame
    /// The name of the object, and the key path of the property.
    let object: String
    let key: String
    /// What was entered and rejected; nil if the field has no mistake.
    let mistake: String?

    /// The name of the place of a property's field in its page.
    static func anchor(of key: String) -> String { HTMLText.escaped("field-\(key)") }

    /// A change returns to the place of its field, so that the page stays where it is.
    private var fields: String {
        let place = frame.returnAddress.prefix { $0 != "#" }
        return frame.hidden("id", object) + frame.hidden("key", key)
            + frame.hidden("return", "\(place)#field-\(key)")
    }

    /// The attributes of a field: its place, and the mistake, to which the browser moves.
    private var place: String {
        " id=\"\(Self.anchor(of: key))\""
            + (mistake == nil ? "" : " aria-invalid=\"true\" aria-describedby=\"mistake\" autofocus")
    }

    /// A field for the value of an attribute.
    ///
    /// - Parameter zone: The time zone of dates; nil for UTC.
    func html(of value: GraphValue, _ type: GraphValueType, in zone: TimeZone?) -> String {
        if type == .binaryData {
            return BinaryEditor(fields: fields, place: place, key: key, frame: frame, mistake: mistake)
                .html(isNull: value.isNull)
        }
        let text: String =
            switch value {
            case .null: ""
            case .date(let seconds): DateCell.text(of: seconds, in: zone)
            default: TextValue.text(of: value) ?? ""
            }
        if type == .boolean { return choice(text) + (value.isNull ? "" : removal) }
        return html(
            text, label: "Value of \(key)", isNull: value.isNull, isText: type == .string,
            attributes: Self.form(of: type))
    }

    /// A field for text, and a button that removes the value. Text is sent as a string of JSON, in which `null` is text.
    func html(
        _ text: String, label: String, isNull: Bool, isText: Bool = false, attributes: String = ""
    ) -> String {
        let text = mistake ?? text
        let value = HTMLText.escaped(text)
        let label = "aria-label=\"\(HTMLText.escaped(label))\"\(place)"
        let isLong = text.count > 60 || text.contains(where: \.isNewline)
        // A browser omits the first line break in a text area.
        let input =
            isLong
            ? "<textarea name=\"value\" rows=\"4\" \(label)>\n\(value)</textarea>"
            : "<input name=\"value\" type=\"text\" value=\"\(value)\" autocomplete=\"off\" \(label)\(attributes)>"
        let kind = isText ? frame.hidden("kind", "text") : ""
        return "<form class=\"edit\" method=\"post\" action=\"set\">\(fields)\(kind)"
            + "\(input)<button>Set</button></form>\(isNull ? "" : removal)"
    }

    private func choice(_ text: String) -> String {
        let options = ["true", "false"].map { "<option\($0 == text ? " selected" : "")>\($0)</option>" }.joined()
        let label = HTMLText.escaped("Value of \(key)")
        let none = text.isEmpty ? "<option selected value=\"null\"></option>" : ""
        return "<form class=\"edit\" method=\"post\" action=\"set\">\(fields)"
            + "<select name=\"value\" aria-label=\"\(label)\"\(place)>\(none)\(options)</select><button>Set</button></form>"
    }

    private var removal: String {
        "<form class=\"edit\" method=\"post\" action=\"set\">\(fields)\(frame.hidden("value", "null"))"
            + "<button aria-label=\"Remove the value of \(HTMLText.escaped(key))\">None</button></form>"
    }

    /// The HTML attributes of a field of a type: the keyboard of a phone, and the pattern that the browser checks.
    private static func form(of type: GraphValueType) -> String {
        func pattern(_ expression: String, _ title: String) -> String {
            " pattern=\"\(HTMLText.escaped(expression))\" title=\"\(HTMLText.escaped(title))\""
        }
        return switch type {
        case .uuid:
            pattern("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", "a UUID: 8-4-4-4-12 hexadecimal digits")
                + " spellcheck=\"false\""
        case .uri: pattern("\\S*", "a URL without spaces") + " inputmode=\"url\" spellcheck=\"false\""
        case .date:
            pattern(
                "\\d{4,}-\\d{2}-\\d{2}([T ]\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?)?(Z|[+\\-]\\d{2}:?\\d{2})?",
                "a date: 2024-02-29, or 2024-02-29T12:30:00Z")
        case .integer16, .integer32, .integer64: pattern("[+\\-]?\\d+", "a whole number") + " inputmode=\"numeric\""
        case .double, .float, .decimal: " inputmode=\"decimal\""
        default: ""
        }
    }
}

/// The form that changes a binary value: a file, or its bytes as Base64 or hexadecimal digits.
struct BinaryEditor {
    /// The maximum size of a file, in bytes.
    static let fileLimit = 10_000_000

    let fields: String
    let place: String
    let key: String
    let frame: PageFrame
    let mistake: String?

    func html(isNull: Bool) -> String {
        let name = HTMLText.escaped(key)
        let remove =
            isNull
            ? ""
            : "<form class=\"edit\" method=\"post\" action=\"set\">\(fields)\(frame.hidden("value", "null"))"
                + "<button aria-label=\"Remove the value of \(name)\">None</button></form>"
        return "<details\(mistake == nil ? "" : " open")><summary>Change</summary>"
            + "<form class=\"edit\" method=\"post\" action=\"set\">\(fields)"
            + "<textarea name=\"value\" rows=\"2\" required spellcheck=\"false\" "
            + "aria-label=\"Value of \(name), as Base64, or as hex: and digits\" placeholder=\"Base64, or hex:00ff\"\(place)>"
            // Bytes that are too long are not sent back.
            + "\(HTMLText.escaped(mistake.flatMap { $0.utf8.count > 10_000 ? nil : $0 } ?? ""))</textarea>"
            + "<input type=\"file\" data-limit=\"\(Self.fileLimit)\" aria-label=\"File for \(name)\">"
            + "<button>Set</button><span class=\"mistake\" role=\"alert\"></span></form>\(remove)</details>"
    }

    /// Rejects a value that is longer than a file may be. Throws `CommandError`.
    static func check(_ text: String) throws {
        // Four characters are three bytes.
        guard text.utf8.count / 4 * 3 <= fileLimit else {
            throw CommandError(
                "Values of more than \(fileLimit / 1_000_000) MB are set by coral set, with @ and a path.")
        }
    }
}

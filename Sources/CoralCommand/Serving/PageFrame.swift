import Coral
import CoralTools

/// The parts that all pages of a store have: the head, the list of entities, and the bar of changes.
struct PageFrame {
    /// The name of the store's file.
    let name: String
    /// The entities that can be counted; empty if the store cannot be read.
    let counts: [EntityCounts.Entity]
    let isWritable: Bool
    /// The number of objects that are changed and not saved.
    let unsavedCount: Int
    let canUndo: Bool
    let canRedo: Bool
    /// The relative address of the page, to which a change returns.
    let returnAddress: String
    /// The entities whose objects cannot be read.
    var damaged: [String] = []

    /// A page.
    ///
    /// - Parameters:
    ///   - title: Its heading, as text.
    ///   - main: Its content, as HTML.
    ///   - entity: The entity that is marked in the list.
    func page(title: String, main: String, entity: String? = nil) -> String {
        beginning(title: title, entity: entity) + main + Self.end
    }

    /// The end of a page.
    static let end = "\n</main>\n</body>\n</html>\n"

    /// A page up to its content.
    ///
    /// - Parameter found: The text in the field that finds text.
    func beginning(title: String, entity: String? = nil, found: String = "") -> String {
        let file = HTMLText.escaped(name)
        let heading = HTMLText.escaped(title)
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(heading) – \(file)</title>
            <link rel="icon" href="data:,">
            <link rel="stylesheet" href="style.css">
            <script src="script.js" defer></script>
            </head>
            <body>
            <a class="skip" href="#main">To the content</a>
            <nav aria-label="Entities">
            <h1><a href="./">\(file)</a></h1>
            \(counts.isEmpty ? "" : search(found) + contents(marking: entity))
            </nav>
            <main id="main" tabindex="-1">
            \(bar)<h2>\(heading)</h2>

            """
    }

    /// The field that finds text in the whole store.
    private func search(_ text: String) -> String {
        "<form role=\"search\" action=\"find\"><input id=\"find\" type=\"search\" name=\"text\" placeholder=\"Find in all values\" "
            + "aria-label=\"Find in all values\" value=\"\(HTMLText.escaped(text))\"></form>\n"
    }

    /// The total number of objects, the links to the other pages, and the entities.
    private func contents(marking entity: String?) -> String {
        """
        <p class="sum">\(Quantity.count(counts.reduce(0) { $0 + $1.count }, "object"))</p>
        <p><a href="model">Model</a> · <a href="history">History</a>\(damage)</p>
        <ul>
        \(entities(marking: entity))
        </ul>
        """
    }

    private var damage: String { damaged.isEmpty ? "" : " · <a href=\"damage\">Damage</a>" }

    private func entities(marking entity: String?) -> String {
        counts.filter { $0.count > 0 || $0.name == entity }.map {
            let mark = $0.name == entity ? " aria-current=\"page\"" : ""
            let address = HTMLText.escaped(FormFields.address("table", [("entity", $0.name)]))
            return "<li><a href=\"\(address)\"\(mark)>\(HTMLText.breakable($0.name))</a> "
                + "<span>\(Quantity.grouped($0.count))</span></li>"
        }.joined(separator: "\n")
            + damaged.map { "<li>\(Self.link(to: $0)) <span>damaged</span></li>" }.joined(separator: "\n")
    }

    /// The number of unsaved changes, and the buttons that save, undo or discard them.
    private var bar: String {
        guard isWritable else { return "" }
        let sentence =
            unsavedCount == 0
            ? "All changes are saved." : "\(Quantity.count(unsavedCount, "object")) changed and not saved."
        return "<div class=\"bar\" role=\"status\"><span>\(sentence)</span>"
            + button("Undo", "undo", isEnabled: canUndo) + button("Redo", "redo", isEnabled: canRedo)
            + button("Save", "save", isEnabled: unsavedCount > 0)
            + button("Discard", "discard", isEnabled: unsavedCount > 0) + "</div>\n"
    }

    private func button(_ title: String, _ action: String, isEnabled: Bool) -> String {
        "<form method=\"post\" action=\"\(action)\">\(hidden("return", returnAddress))"
            + "<button\(isEnabled ? "" : " disabled")>\(title)</button></form>"
    }

    // MARK: - Parts of pages

    func hidden(_ name: String, _ value: String) -> String {
        "<input type=\"hidden\" name=\"\(name)\" value=\"\(HTMLText.escaped(value))\">"
    }

    /// An error, which screen readers announce immediately.
    static func error(_ sentence: String) -> String {
        "<div class=\"error\" role=\"alert\">\(Self.sentence(sentence))</div>"
    }

    /// The sentence of an error. Line breaks are kept, because a caret marks the position.
    static func sentence(_ text: String) -> String {
        let form = text.contains("\n") ? "tabindex=\"0\"" : "class=\"wrapped\""
        return "<pre \(form)>\(HTMLText.escaped(text))</pre>"
    }

    static func link(to entity: String) -> String {
        let address = HTMLText.escaped(FormFields.address("table", [("entity", entity)]))
        return "<a href=\"\(address)\">\(HTMLText.escaped(entity))</a>"
    }

    /// A link to an object by its short name.
    static func link(toObject name: String, title: String? = nil) -> String {
        let address = HTMLText.escaped(FormFields.address("object", [("id", name)]))
        return "<a href=\"\(address)\" title=\"\(HTMLText.escaped(name))\">\(HTMLText.escaped(title ?? name))</a>"
    }

    /// A link to an object with its display name.
    static func link(to object: NSManagedObject) -> String {
        link(toObject: StoredName(object.objectID).text, title: ObjectLabel.text(of: object))
    }
}

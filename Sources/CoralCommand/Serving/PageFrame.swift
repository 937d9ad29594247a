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
    ///   - title: Its heading.
    ///   - main: Its content.
    ///   - entity: The entity that is marked in the list.
    func page(title: String, main: HTML, entity: String? = nil) -> HTML {
        beginning(title: title, entity: entity) + main + Self.end
    }

    /// The end of a page.
    static let end: HTML = "\n</main>\n</body>\n</html>\n"

    /// A page up to its content.
    ///
    /// - Parameter found: The text in the field that finds text.
    func beginning(title: String, entity: String? = nil, found: String = "") -> HTML {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(title) – \(name)</title>
        <link rel="icon" href="data:,">
        <link rel="stylesheet" href="style.css">
        <script src="script.js" defer></script>
        </head>
        <body>
        <a class="skip" href="#main">To the content</a>
        <nav aria-label="Entities">
        <h1><a href="./">\(name)</a></h1>
        \(search(found) + contents(marking: entity), if: !counts.isEmpty)
        </nav>
        <main id="main" tabindex="-1">
        \(bar)<h2>\(title)</h2>

        """
    }

    /// The field that finds text in the whole store.
    private func search(_ text: String) -> HTML {
        """
        <form role="search" action="find"><input id="find" type="search" name="text" placeholder="Find in all values" \
        aria-label="Find in all values" value="\(field: text)"></form>

        """
    }

    /// The total number of objects, the links to the other pages, and the entities.
    private func contents(marking entity: String?) -> HTML {
        """
        <p class="sum">\(Quantity.count(counts.reduce(0) { $0 + $1.count }, "object"))</p>
        <p><a href="model">Model</a> · <a href="history">History</a>\(damage)</p>
        <ul>
        \(entities(marking: entity))
        </ul>
        """
    }

    private var damage: HTML { damaged.isEmpty ? "" : " · <a href=\"damage\">Damage</a>" }

    private func entities(marking entity: String?) -> HTML {
        let listed = counts.filter { $0.count > 0 || $0.name == entity }.map { other -> HTML in
            let address = FormFields.address("table", [("entity", other.name)])
            let link: HTML =
                "<a href=\"\(address)\"\(" aria-current=\"page\"", if: other.name == entity)>\(breakable: other.name)</a>"
            return "<li>\(link) <span>\(Quantity.grouped(other.count))</span></li>"
        }
        let unread = damaged.map { name -> HTML in "<li>\(Self.link(to: name)) <span>damaged</span></li>" }
        return (listed + unread).joined(by: "\n")
    }

    /// The number of unsaved changes, and the buttons that save, undo or discard them.
    private var bar: HTML {
        guard isWritable else { return "" }
        let sentence =
            unsavedCount == 0
            ? "All changes are saved." : "\(Quantity.count(unsavedCount, "object")) changed and not saved."
        let buttons = [
            button("Undo", "undo", isEnabled: canUndo), button("Redo", "redo", isEnabled: canRedo),
            button("Save", "save", isEnabled: unsavedCount > 0),
            button("Discard", "discard", isEnabled: unsavedCount > 0),
        ]
        return "<div class=\"bar\" role=\"status\"><span>\(sentence)</span>\(buttons)</div>\n"
    }

    private func button(_ title: String, _ action: String, isEnabled: Bool) -> HTML {
        """
        <form method="post" action="\(action)">\(Self.hidden("return", returnAddress))\
        <button\(" disabled", if: !isEnabled)>\(title)</button></form>
        """
    }

    // MARK: - Parts of pages

    /// A field that a form sends and the page does not show.
    static func hidden(_ name: String, _ value: String) -> HTML {
        "<input type=\"hidden\" name=\"\(name)\" value=\"\(field: value)\">"
    }

    /// An error, which screen readers announce immediately.
    static func error(_ sentence: String) -> HTML {
        "<div class=\"error\" role=\"alert\">\(Self.sentence(sentence))</div>"
    }

    /// The sentence of an error. Line breaks are kept, because a caret marks the position.
    static func sentence(_ text: String) -> HTML {
        let form: HTML = text.contains("\n") ? "tabindex=\"0\"" : "class=\"wrapped\""
        return "<pre \(form)>\(text)</pre>"
    }

    static func link(to entity: String) -> HTML {
        "<a href=\"\(FormFields.address("table", [("entity", entity)]))\">\(entity)</a>"
    }

    /// A link to an object by its short name.
    static func link(toObject name: String, title: String? = nil) -> HTML {
        "<a href=\"\(FormFields.address("object", [("id", name)]))\" title=\"\(name)\">\(title ?? name)</a>"
    }

    /// A link to an object with its display name.
    static func link(to object: NSManagedObject) -> HTML {
        link(toObject: StoredName(object.objectID).text, title: ObjectLabel.text(of: object))
    }
}

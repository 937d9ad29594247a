import Coral
import CoralTools

/// The page with the history of the store: its transactions, oldest first.
struct TimelinePage {
    private let pages: SitePages
    private static let pageSize = 50
    /// The number of changes of a transaction that are shown.
    private static let changeLimit = 200

    init(_ pages: SitePages) { self.pages = pages }

    func html() throws -> String {
        let open = pages.access.open
        var history = HistoryPages(open.coordinator)
        if let since = request["since"].flatMap(HistoryPoint.init(argument:)) {
            history.start = try since.start(in: open)
        }
        var items: [String] = []
        var last: Int64?
        do {
            try open.readingHistory {
                try history.forEach { transaction in
                    let changes = transaction.changes ?? []
                    let entry = try HistoryEntry(transaction, changes: Array(changes.prefix(Self.changeLimit)))
                    items.append(item(entry, count: changes.count))
                    last = transaction.transactionNumber
                    if items.count == Self.pageSize { throw EndOfPage() }
                }
            }
            last = nil
        } catch is EndOfPage {
        } catch let error as CommandError {
            return pages.frame.page(title: "History", main: "<p>\(HTMLText.escaped(error.message))</p>")
        }
        let more = last.map { number in
            let address = HTMLText.escaped(FormFields.address("history", [("since", "\(number)")]))
            return "<p class=\"pages\"><a href=\"\(address)\" rel=\"next\" data-key=\"n\">Later transactions</a></p>"
        }
        let list = items.isEmpty ? "<p>There is no transaction.</p>" : "<ol class=\"timeline\">\(items.joined())</ol>"
        return pages.frame.page(title: "History", main: list + (more ?? ""))
    }

    private var request: SiteRequest { pages.request }

    /// Ends the reading when a page is full.
    private struct EndOfPage: Error {}

    private func item(_ entry: HistoryEntry, count: Int) -> String {
        let changes = entry.changes.map { change in
            // A deleted object has no page.
            let name =
                change.change == "delete"
                ? HTMLText.escaped(change.object) : PageFrame.link(toObject: change.object)
            return "<li><span aria-label=\"\(change.change)\">\(change.sign)</span> \(name) "
                + "<span class=\"more\">\(HTMLText.escaped(QueryAnswer.cut(change.details)))</span></li>"
        }
        let rest = count > entry.changes.count ? "<li>… of \(Quantity.grouped(count))</li>" : ""
        let origin = entry.origin.isEmpty ? "" : " – \(HTMLText.escaped(entry.origin))"
        return "<li><article><h3><time>\(entry.timestamp)</time> <span>\(entry.transaction)\(origin)</span></h3>"
            + "<ul>\(changes.joined())\(rest)</ul></article></li>\n"
    }
}

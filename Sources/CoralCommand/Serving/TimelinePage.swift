import Coral
import CoralTools

/// The page with the history of the store: its transactions, oldest first.
struct TimelinePage {
    private let pages: SitePages
    private static let pageSize = 50
    /// The number of changes of a transaction that are shown.
    private static let changeLimit = 200

    init(_ pages: SitePages) { self.pages = pages }

    func html() throws -> HTML {
        let open = pages.access.open
        var history = HistoryPages(open.coordinator)
        if let since = request["since"].flatMap(HistoryPoint.init(argument:)) {
            history.start = try since.start(in: open)
        }
        var items: [HTML] = []
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
            return pages.frame.page(title: "History", main: "<p>\(error.message)</p>")
        }
        let more = last.map { number -> HTML in
            let address = FormFields.address("history", [("since", "\(number)")])
            return "<p class=\"pages\"><a href=\"\(address)\" rel=\"next\" data-key=\"n\">Later transactions</a></p>"
        }
        let list: HTML = items.isEmpty ? "<p>There is no transaction.</p>" : "<ol class=\"timeline\">\(items)</ol>"
        return pages.frame.page(title: "History", main: "\(list)\(more)")
    }

    private var request: SiteRequest { pages.request }

    /// Ends the reading when a page is full.
    private struct EndOfPage: Error {}

    private func item(_ entry: HistoryEntry, count: Int) -> HTML {
        let changes = entry.changes.map { change -> HTML in
            // A deleted object has no page.
            let name: HTML =
                change.change == "delete" ? "\(change.object)" : PageFrame.link(toObject: change.object)
            return """
                <li><span aria-label="\(change.change)">\(change.sign)</span> \(name) \
                <span class="more">\(QueryAnswer.cut(change.details))</span></li>
                """
        }
        return """
            <li><article><h3><time>\(entry.timestamp)</time> \
            <span>\(entry.transaction)\(" – \(entry.origin)", if: !entry.origin.isEmpty)</span></h3>\
            <ul>\(changes)\("<li>… of \(Quantity.grouped(count))</li>", if: count > entry.changes.count)</ul></article></li>

            """
    }
}

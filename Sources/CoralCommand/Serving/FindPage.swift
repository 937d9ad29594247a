import Coral
import CoralTools

/// The page with the objects whose values contain a text.
struct FindPage {
    private let pages: SitePages
    private let text: String
    /// The number of objects that are shown.
    private static let limit = 100

    init(_ pages: SitePages) {
        self.pages = pages
        text = pages.request.fields["text"] ?? ""
    }

    func answer() throws -> SiteAnswer {
        let head = pages.frame.beginning(title: "Find", found: text)
        if pages.request["cancelled"] != nil {
            return .page("\(head)<p role=\"status\">The work was cancelled.</p>\(PageFrame.end)")
        }
        guard !text.isEmpty else { return .page("\(head)<p>Enter the text to find.</p>\(PageFrame.end)") }
        pages.work.begin(
            head, "All values are being read.",
            addressAfterCancelling: FormFields.address("find", [("text", text), ("cancelled", "1")]))
        let results = try self.results()
        var answer = SiteAnswer.page(head + results + PageFrame.end)
        answer.rest = "\(results)</div>\(PageFrame.end)"
        return answer
    }

    private struct LimitReached: Error {}

    private func results() throws -> HTML {
        var hits: [TextSearch.Hit] = []
        // Rows do not have the changes that are not saved.
        let search = TextSearch(matcher: try TextMatcher(text), readsRows: !pages.store.isWritable)
        do {
            try search.forEachHit(
                in: pages.model.entities.filter { $0.superentity == nil }, of: pages.access.open.store,
                pages.access.context, .discreteProgress(totalUnitCount: 0)
            ) {
                if hits.count == Self.limit { throw LimitReached() }
                hits.append($0)
            }
        } catch is LimitReached {
            return summary("The first \(Self.limit) objects") + list(hits)
        }
        return summary(Quantity.count(hits.count, "object")) + list(hits)
    }

    private func summary(_ objects: String) -> HTML {
        let words = ["coral", "find", pages.store.path, text] + (pages.store.modelPath.map { ["--model", $0] } ?? [])
        return """
            <p class="sum" role="status">\(objects) with “\(text)”</p>\
            <details><summary>The command</summary><pre>\(ShellWord.line(words))</pre></details>

            """
    }

    private func list(_ hits: [TextSearch.Hit]) -> HTML {
        hits.map { hit -> HTML in
            let values = hit.values.map { path, excerpt -> HTML in
                "<dt>\(breakable: path)</dt><dd>\(excerpt.before)<mark>\(excerpt.match)</mark>\(excerpt.after)</dd>"
            }
            return """
                <article class="hit"><h3>\(PageFrame.link(toObject: hit.name, title: hit.label)) <span>\(hit.name)</span></h3>
                <dl class="elements">\(values)</dl></article>

                """
        }.joined(by: "")
    }
}

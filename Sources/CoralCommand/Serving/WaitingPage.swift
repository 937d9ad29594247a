import Coral
import CoralTools

/// A page that is sent in parts while its work runs: its beginning, the elapsed seconds each half second, and the rest.
actor WaitingPage {
    private let work: RequestWork
    private let start = Date()
    private var isBegun = false
    private var isComplete = false
    /// The seconds between two parts.
    private static let interval = 0.5

    init(_ work: RequestWork) { self.work = work }

    /// The next part of the page; nil at its end.
    func next() async -> Data? {
        guard !isComplete else { return nil }
        let answer = await work.answer(within: Self.interval)
        isComplete = answer != nil
        guard isBegun else {
            if let head = work.head {
                isBegun = true
                return data("\(head)\(beginning)\(answer.map(rest))")
            }
            // White space may precede a page.
            return answer?.body ?? Data("\n".utf8)
        }
        return data(answer.map(rest) ?? "<i>\(Int(Date().timeIntervalSince(start))) s</i>\n")
    }

    private func data(_ part: HTML) -> Data { Data(part.text.utf8) }

    /// Hidden by the style sheet when the rest of the page has arrived. Of the numbers of seconds, the style sheet shows the
    /// last.
    private var beginning: HTML {
        """
        <div class="working"><p role="status">\(work.description)</p>\
        <progress aria-label="Reading"></progress> \(work.cancellation) <span class="seconds" aria-hidden="true">

        """
    }

    private nonisolated func rest(_ answer: SiteAnswer) -> HTML {
        "</span></div>\n<div class=\"done\">\(answer.rest)"
    }
}

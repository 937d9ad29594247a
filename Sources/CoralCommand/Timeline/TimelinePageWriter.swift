import Coral
import CoralTools

/// A timeline as an HTML page: a picture of the activity, and a table of the events.
struct TimelinePageWriter {
    /// The maximum number of events of a page, which a browser shows without effort.
    static let limit = 100_000
    private let title: String
    private let zone: TimeZone?
    private let output: ByteOutput

    init(title: String, zone: TimeZone?, to output: ByteOutput) {
        self.title = title
        self.zone = zone
        self.output = output
    }

    private static let sheet: HTML = """
        :root { color-scheme: light dark; } body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem;
          padding: 0 1rem; } svg { width: 100%; height: 8rem; } rect { fill: #3c78c8; } figcaption { opacity: .8; }
        figure { margin: 0 0 1.5rem; } table { border-collapse: collapse; } th { text-align: left; }
        td, th { padding: .15rem 1rem .15rem 0; vertical-align: top; overflow-wrap: anywhere; } time { white-space: nowrap; }
        """

    func begin(_ timeline: Timeline) throws {
        let head: HTML = """
            <!DOCTYPE html>
            <html lang="en">
            <head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
            <title>Timeline of \(title)</title><style>\(Self.sheet)</style></head>
            <body>
            <h1>Timeline of \(title)</h1>
            <p>\(Quantity.count(timeline.count, "event"))</p>
            \(ActivityPicture(of: timeline.times, noun: "event", zone: zone)?.html)
            <table><thead><tr><th scope="col">When</th><th scope="col">Object</th><th scope="col">Event</th>\
            <th scope="col">Label</th></tr></thead>
            <tbody>

            """
        try output.write(head.text)
    }

    func add(_ event: Timeline.Event, when: String) throws {
        let row: HTML =
            "<tr><td><time>\(when)</time></td><td>\(event.object)</td><td>\(event.kind)</td><td>\(event.label ?? "")</td></tr>\n"
        try output.write(row.text)
    }

    func finish() throws { try output.write("</tbody></table>\n</body>\n</html>\n") }
}

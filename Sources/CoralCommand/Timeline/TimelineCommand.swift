import ArgumentParser
import Coral
import CoralTools

/// `coral timeline`: all dates of all objects, and the changes of the history, in one sequence.
struct TimelineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "timeline", abstract: "Shows all dates of a store, and its history, in the order of time.",
        discussion: """
            Each date of each object is an event, with the object and the attribute. Dates in composite values are \
            events too. If the store keeps a history, so are its insertions, updates and deletions. --since and \
            --until take a day or a time, in UTC unless a time zone is given.

            Memory holds 24 bytes for each event. A page (HTML) has a picture of the activity; more than 100,000 events \
            are written as CSV or JSON only.

            EXAMPLES:
              coral timeline Notes.sqlite
              coral timeline Notes.sqlite --since 2024-02-01 --until 2024-03-01 \\
                --entity Note
              coral timeline Notes.sqlite --time-zone Europe/Berlin -o timeline.html
              coral timeline Notes.sqlite --csv -o timeline.csv
            """)

    @Argument(help: "The store.", completion: Completion.stores)
    var store: String

    @Option(
        name: .long, help: "Show the dates of this entity's objects only. May be repeated.",
        completion: Completion.entities)
    var entity: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("Show events from this day or time on.", valueName: "point"))
    var since: String?

    @Option(name: .long, help: ArgumentHelp("Show events before this day or time.", valueName: "point"))
    var until: String?

    @Flag(name: .long, help: "Print CSV.")
    var csv = false

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @Flag(name: .long, help: "Write an HTML page.")
    var html = false

    @OptionGroup var zone: TimeZoneOption

    @OptionGroup var file: OutputFile

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    @OptionGroup var label: LabelOption

    @OptionGroup var source: ModelSource

    enum Format {
        case table, csv, json, html
    }

    func validate() throws {
        if [csv, json, html].count(where: { $0 }) > 1 {
            throw ValidationError("Choose one of --csv, --json and --html.")
        }
    }

    func run() throws { try proof.prove(store, writing: file.url, body: show) }

    private func show() throws {
        let format = try chosenFormat()
        let range = try Timeline.Range(since: point(since, "--since"), until: point(until, "--until"))
        let open = try OpenStore(path: store, model: source, labels: label)
        try file.requireFree(reading: open.url, source.url)
        let entities =
            try entity.isEmpty
            ? open.model.entities.filter { $0.superentity == nil } : entity.map { try open.entity(named: $0) }
        try open.context.performAndWait {
            let timeline = try Work.run("Reading") { try Timeline(of: entities, in: open, range, $0) }
            if format == .html, timeline.count > TimelinePageWriter.limit {
                throw CommandError(
                    "A page has at most \(Quantity.count(TimelinePageWriter.limit, "event")), and there are "
                        + "\(Quantity.grouped(timeline.count)). Restrict them with --since, --until or --entity, or write CSV."
                )
            }
            try write(timeline, open, as: format)
            file.report(Quantity.count(timeline.count, "event"))
        }
    }

    /// The point of an option. Throws `CommandError` if it is not a date.
    private func point(_ text: String?, _ option: String) throws -> Double? {
        guard let text else { return nil }
        guard let date = TypedConstants.date(text, in: zone.zone) else {
            throw CommandError("\(option) \(text) is not a date, such as 2024-02-29 or 2024-02-29T12:30:00Z.")
        }
        return date.timeIntervalSinceReferenceDate
    }

    private func chosenFormat() throws -> Format {
        if csv { return .csv }
        if json { return .json }
        if html { return .html }
        return try file.format(
            of: ["csv": .csv, "json": .json, "html": .html, "htm": .html, "txt": .table],
            else: file.url == nil ? .table : .csv)
    }

    private func write(_ timeline: Timeline, _ open: OpenStore, as format: Format) throws {
        if format == .table, file.url == nil { return try showTable(timeline, open) }
        let output = ByteOutput(to: try file.sink())
        switch format {
        case .table:
            var table = TableStream(Self.titles) { try output.write($0) }
            try timeline.forEach(in: open) { try table.add(cells($0)) }
            try table.finish()
        case .csv:
            var table = TableWriter(.csv, to: output)
            try table.line(["when", "object", "event", "label"])
            try timeline.forEach(in: open) { try table.line(texts($0)) }
        case .json: try writeJSON(timeline, open, to: output)
        case .html:
            let page = TimelinePageWriter(title: open.url.storeName, zone: zone.zone, to: output)
            try page.begin(timeline)
            try timeline.forEach(in: open) { try page.add($0, when: texts($0)[0]) }
            try page.finish()
        }
        try output.finish()
    }

    private func showTable(_ timeline: Timeline, _ open: OpenStore) throws {
        guard timeline.count > 0 else { return try StandardOutput.write("No dates found.\n") }
        let pager = Pager()
        do {
            var table = TableStream(Self.titles, write: pager.add)
            try timeline.forEach(in: open) { try table.add(cells($0)) }
            try table.finish()
        } catch is Pager.Ended {}
        try pager.finish()
    }

    private static let titles = ["When", "Object", "Event", "Label"]

    private func texts(_ event: Timeline.Event) -> [String] {
        [DateCell.text(of: event.seconds, in: zone.zone), event.object, event.kind, event.label ?? ""]
    }

    private func cells(_ event: Timeline.Event) -> [TableStream.Cell] {
        zip(texts(event), [.name, .name, .text, .text]).map { TableStream.Cell(text: $0, kind: $1) }
    }

    private func writeJSON(_ timeline: Timeline, _ open: OpenStore, to output: ByteOutput) throws {
        var writer = JSONWriter(to: output)
        try writer.beginArray()
        try timeline.forEach(in: open) { event in
            try writer.lineBreak()
            try writer.beginObject()
            for (key, text) in zip(["when", "object", "event"], texts(event)) {
                try writer.key(key)
                try writer.string(text)
            }
            try writer.key("label")
            if let label = event.label { try writer.string(label) } else { try writer.null() }
            try writer.endObject()
        }
        try writer.endLine()
        try writer.endArray()
        try writer.endLine()
    }
}

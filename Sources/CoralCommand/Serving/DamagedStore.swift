import Coral
import CoralTools

#if STORE_ENGINE
    import struct StoreTools.RowSalvage
#endif

/// The page of a damaged store: what the check finds, what can be read, and the command that rescues it.
///
/// Unchecked, because its state is used on its queue only.
final class DamagedStore: @unchecked Sendable {
    private let path: String
    private let source: ModelSource
    /// The error with which the store could not be opened.
    private let error: (any Error)?
    private let queue = DispatchQueue(label: "coral.serve.damage")
    /// The page, and the sizes and times of the files that it describes.
    private var known: (files: [String], html: HTML)?

    init(path: String, model source: ModelSource, error: (any Error)? = nil) {
        self.path = path
        self.source = source
        self.error = error
    }

    /// The page. Cost: the store is checked, and all its pages are read, once for each state of its files.
    func page() async -> SiteAnswer {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: .page(self.html())) }
        }
    }

    private func html() -> HTML {
        guard !ServerURLs.isOne(path) else {
            return frame(named: URL(storeAt: path).lastPathComponent).page(
                title: "Damage",
                main: "<p>The pages of a store in PostgreSQL are managed by the server, and are not checked here.</p>")
        }
        let url = URL(fileURLWithPath: path).withoutLinks
        let files = ServedStore.stamps(of: url)
        if let known, known.files == files { return known.html }
        let html = frame(named: url.lastPathComponent).page(
            title: "Damage", main: "\(findings(url))\(readable(url))\(rescue)")
        known = (files, html)
        return html
    }

    private func frame(named name: String) -> PageFrame {
        PageFrame(
            name: name, counts: [], isWritable: false, unsavedCount: 0, canUndo: false, canRedo: false,
            returnAddress: "damage",
            damaged: [])
    }

    // MARK: - Parts

    private func findings(_ url: URL) -> HTML {
        var problems: [StoreProblem] = []
        var failure = error
        do {
            let open = try OpenStore(url: url, model: source.model(for: url), modelPath: source.model)
            defer { try? open.close() }
            problems = try StoreCheck(url: open.url, model: open.model).problems(of: open.snapshot())
        } catch {
            failure = failure ?? error
        }
        if problems.isEmpty, let failure, let damage = StoreProblem(damage: failure) { problems = [damage] }
        guard !problems.isEmpty else {
            return failure.map { PageFrame.error(ErrorText.text(of: $0)) } ?? "<p>No problems were found.</p>"
        }
        return "<h3>What the check finds</h3>\(Self.list(of: problems))\n"
    }

    /// A list of problems.
    static func list(of problems: [StoreProblem]) -> HTML {
        let items = problems.map { problem -> HTML in
            let subject = [problem.entity, problem.property ?? ""].filter { !$0.isEmpty }.joined(separator: ".")
            let examples: HTML = " (\(problem.examples.joined(separator: ", ")))"
            return """
                <li>\(Quantity.grouped(problem.count))× \("\(subject): ", if: !subject.isEmpty)\(problem.message)\
                \(examples, if: !problem.examples.isEmpty)</li>
                """
        }
        return "<ul>\(items.joined(by: "\n"))</ul>"
    }

    private func readable(_ url: URL) -> HTML {
        #if !STORE_ENGINE
            return ""
        #else
            do {
                guard let model = try source.modelOfDamagedStore(at: url) else {
                    return "<p>The model in the store cannot be read. With --model, coral salvage reads the store.</p>"
                }
                let salvage = try RowSalvage(of: url, model: model) { _, _ in }
                let rows = salvage.readableCounts.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map {
                    name, count -> HTML in
                    "<tr><td>\(name)</td><td class=\"number\">\(Quantity.grouped(count))</td></tr>"
                }
                let log: HTML =
                    salvage.report.isLogDamaged
                    ? "<li>The write-ahead log is damaged. The transactions after its damaged part are lost.</li>" : ""
                let pages = salvage.report.damagedPages.map { page -> HTML in
                    let table = page.table.map { " of \($0)" } ?? ""
                    let keys = page.keys.map { keys -> HTML in
                        " The lost rows have keys from \(keys.lowerBound) to \(keys.upperBound)."
                    }
                    return "<li>Page \(page.page)\(table) is damaged.\(keys)</li>"
                }
                let table: HTML = """
                    <table class="objects"><thead><tr><th scope="col">Entity</th><th scope="col">Objects</th></tr>\
                    </thead><tbody>\(rows.joined(by: "\n"))</tbody></table>

                    """
                return """
                    \("<h3>What is lost</h3><ul>\(log)\(pages)</ul>\n", if: !pages.isEmpty || salvage.report.isLogDamaged)\
                    <h3>What can be read</h3>\
                    \(rows.isEmpty ? "<p>No object.</p>" as HTML : table)
                    """
            } catch {
                return PageFrame.error(ErrorText.text(of: error))
            }
        #endif
    }

    private var rescue: HTML {
        let url = URL(fileURLWithPath: path)
        let name = url.deletingPathExtension().lastPathComponent + "-rescued"
        let copy = url.deletingLastPathComponent().appendingPathComponent(
            url.pathExtension.isEmpty ? name : "\(name).\(url.pathExtension)")
        var words = ["coral", "salvage", path, "-o", copy.relativePath]
        if let model = source.model { words += ["--model", model] }
        return """
            <h3>Rescue</h3><p>This command writes all that can be read to a new store. The store itself is only read.</p>\
            <pre class="command">\(ShellWord.line(words))</pre>

            """
    }
}

import AtomicFiles
import Coral
import CoralTools

/// The first page: what is in the store.
struct OverviewPage {
    private let pages: SitePages
    /// Larger stores are checked on a page of their own.
    private static let checkedByteLimit: Int64 = 64 << 20
    /// The number of entities whose first objects are shown, and the number of these.
    private static let sampleLimit = (entities: 9, objects: 4)

    init(_ pages: SitePages) { self.pages = pages }

    func answer() throws -> SiteAnswer {
        let full = pages.frame.counts.filter { $0.count > 0 }
        guard !full.isEmpty || !pages.frame.damaged.isEmpty else {
            return .page(pages.frame.page(title: "Entities", main: "<p>The store has no objects.</p>"))
        }
        let largest = full.sorted { ($0.count, $1.name) > ($1.count, $0.name) }.prefix(Self.sampleLimit.entities)
        let head: HTML = """
            \(pages.frame.beginning(title: "Entities"))\(facts)\(damage)\(recent)<div class="tiles">\(try largest.map(tile))</div>

            """
        let list: HTML = "\(model)\(self.list(of: full))"
        if pages.request["cancelled"] != nil {
            return .page("\(head)<p role=\"status\">The work was cancelled.</p>\n\(list)\(PageFrame.end)")
        }
        pages.work.begin(
            head, "The dates of all objects are being read, and the store is checked.",
            addressAfterCancelling: FormFields.address("", [("cancelled", "1")]))
        let dates = try pages.access.picture(picture)
        var answer = SiteAnswer.page("\(head)\(dates)\(list)\(PageFrame.end)")
        answer.rest = "\(dates)\(list)</div>\(PageFrame.end)"
        return answer
    }

    /// The dates of all objects that are saved, and what a check of them finds.
    private func picture() throws -> HTML { try "\(dates())\(problems())" }

    private func problems() throws -> HTML {
        let open = pages.access.open
        guard open.url.isFileURL, byteCount <= Self.checkedByteLimit, pages.frame.damaged.isEmpty else { return "" }
        let problems = try StoreCheck(url: open.url, model: open.model).problems(of: open.snapshot())
        return
            "<h3>Check</h3>\n\(problems.isEmpty ? "<p>No problems were found.</p>" : DamagedStore.list(of: problems))\n"
    }

    private func dates() throws -> HTML {
        let (access, progress) = (pages.access, Progress.discreteProgress(totalUnitCount: 0))
        let dates = try Timeline.dates(of: pages.model, in: access.open.store, access.context, progress)
        guard let picture = ActivityPicture(of: dates, noun: "date", zone: pages.store.zone) else { return "" }
        return "<h3>Dates of objects</h3>\n\(picture.html)\n"
    }

    private var model: HTML {
        """
        <h3>Model</h3>
        <p class="model"><a href="model"><img src="model.svg" alt="Picture of the model" loading="lazy"></a></p>

        """
    }

    private func list(of entities: [EntityCounts.Entity]) -> HTML {
        let rows = entities.map { entity -> HTML in
            """
            <tr><td>\(PageFrame.link(to: entity.name))</td><td class="number">\(Quantity.grouped(entity.count))</td></tr>

            """
        }
        let empty = pages.frame.counts.filter { $0.count == 0 }.map { PageFrame.link(to: $0.name) }
        return """
            <h3>All entities</h3>
            <table class="objects names"><thead><tr><th scope="col">Entity</th><th scope="col">Objects</th></tr></thead>
            <tbody>\(rows)</tbody></table>
            \("<p class=\"sum\">Without objects: \(empty.joined(by: ", "))</p>", if: !empty.isEmpty)
            """
    }

    /// The objects whose pages were shown since the command began.
    private var recent: HTML {
        let links = pages.access.viewed.map { PageFrame.link(to: $0) }
        guard !links.isEmpty else { return "" }
        let items = links.map { link -> HTML in "<li>\(link)</li>" }
        return "<h3 id=\"recent\">Recently viewed</h3>\n<ul class=\"recent\" aria-labelledby=\"recent\">\(items)</ul>\n"
    }

    /// The size of the files, and links to the pages about the whole store.
    private var facts: HTML {
        let url = pages.access.open.url
        let sentence = url.isFileURL ? "\(Quantity.bytes(byteCount)) · " : ""
        return """
            <p class="sum">\(sentence)<a href="history">History</a> · <a href="damage">Check the store</a></p>

            """
    }

    private var byteCount: Int64 {
        ["", "-wal"].reduce(0) { $0 + (FileStatus(pages.access.open.url.path + $1)?.byteCount ?? 0) }
    }

    private var damage: HTML {
        guard !pages.frame.damaged.isEmpty else { return "" }
        let links = pages.frame.damaged.map { PageFrame.link(to: $0) }.joined(by: ", ")
        return """
            <p>The file is damaged: the objects of \(links) cannot be counted. \
            <a href="damage">What can be read of this store</a></p>

            """
    }

    /// An entity with its first objects.
    private func tile(_ entity: EntityCounts.Entity) throws -> HTML {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
        request.sortDescriptors = [NSSortDescriptor(key: "objectID", ascending: true)]
        request.fetchLimit = Self.sampleLimit.objects
        let objects = try pages.access.context.fetch(request).map { object -> HTML in
            "<li>\(PageFrame.link(to: object))</li>"
        }
        return """
            <article><h3>\(PageFrame.link(to: entity.name)) <span>\(Quantity.grouped(entity.count))</span></h3>\
            <ul>\(objects)</ul></article>

            """
    }
}

import Coral
import CoralTools

/// The page with a table of objects: the predicate, the columns, the rows, and the link to the next page.
struct TablePage {
    private let pages: SitePages
    private let entity: NSEntityDescription
    /// The columns without a choice, in the order of their use.
    private let standard: [QueryColumn]
    private var request: SiteRequest { pages.request }
    /// Matches are counted up to this number.
    private static let countLimit = 10_000

    /// Throws `CommandError` for an entity that the model does not have.
    init(_ pages: SitePages) throws {
        self.pages = pages
        let entity = try pages.entity()
        self.entity = entity
        // An error of reading is reported when the objects of the page are read.
        let columns = try? ColumnUse.columns(of: entity, in: pages.access.open.store, pages.access.context)
        standard = columns ?? QueryColumn.standardColumns(of: entity)
    }

    func answer() throws -> SiteAnswer {
        do {
            let table = try self.table(standard)
            let head: HTML = """
                \(pages.frame.beginning(title: entity.name ?? "", entity: entity.name))\
                \(form(columns: table.columns.map(\.title), mistake: nil))
                """
            if request["cancelled"] != nil {
                return .page("\(head)<p role=\"status\">The work was cancelled.</p>\(PageFrame.end)")
            }
            pages.work.begin(
                head, "The store is being read. This column or condition may have no index.",
                addressAfterCancelling: FormFields.address(
                    "table", [("entity", entity.name), ("where", table.condition), ("cancelled", "1")]))
            let context = pages.access.context
            let page = try page(of: table)
            let count = try table.count(in: context, limit: Self.countLimit + 1)
            let results: HTML = "\(summary(table, count, page))\(rows(page.objects, table))\(next(page, table))"
            var answer = SiteAnswer.page(head + results + PageFrame.end)
            answer.rest = "\(results)</div>\(PageFrame.end)"
            return answer
        } catch {
            // The form keeps the predicate, with the error below it.
            let text = ErrorText.text(of: error)
            let main: HTML =
                "\(form(columns: columnPaths ?? standardPaths, mistake: text))\(finding)\(SitePages.damage(error))"
            var answer = SiteAnswer.page(
                pages.frame.page(title: entity.name ?? "", main: main, entity: entity.name), status: 400)
            answer.rest = SitePages.rest(of: error)
            return answer
        }
    }

    /// A link that finds what was entered instead of a predicate as text.
    private var finding: HTML {
        guard let text = request["where"], request["filter.key"] == nil else { return "" }
        return "<p><a href=\"\(FormFields.address("find", [("text", text)]))\">Find “\(text)” in all values</a></p>\n"
    }

    private func page(of table: ObjectTable) throws -> ObjectTable.Page {
        let context = pages.access.context
        if let before = request["before"] {
            let position = ObjectTable.Position(name: before, value: request.fields["value"])
            return try table.page(before: position, in: context, pages.access.open)
        }
        return try table.page(after: position, in: context, pages.access.open)
    }

    /// All objects as a document, which is sent while it is made. Without a choice its columns have the order of their names, as
    /// those of `coral query` do.
    func document(_ format: QueryCommand.Format) throws -> SiteAnswer {
        let table = try table(QueryColumn.standardColumns(of: entity))
        var answer = QueryAnswer(entity: entity, columns: table.columns)
        answer.zone = pages.store.zone
        var document = SiteAnswer(contentType: format == .csv ? "text/csv" : "application/json")
        document.stream = try TableDownload(table, answer, format).stream(pages.work, pages.store, pages.access)
        let name = (entity.name ?? "").filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        document.headers["Content-Disposition"] = "attachment; filename=\"\(name).\(format.rawValue)\""
        return document
    }

    // MARK: - The request

    private func table(_ standard: [QueryColumn]) throws -> ObjectTable {
        try ObjectTable(
            entity: entity, condition: try condition, columns: columnPaths?.joined(separator: ","), standard: standard,
            sort: request["sort"], isAscending: request["order"] != "descending", zone: pages.store.zone)
    }

    /// The predicate of the field, and of the filter beside it.
    private var condition: String? {
        get throws {
            guard let filter = try TableFilter(request, of: entity)?.predicate else { return request["where"] }
            return request["where"].map { "(\($0)) AND \(filter)" } ?? filter
        }
    }

    /// The predicate that the field shows: that of the table, or what was entered if it is none.
    private var shownCondition: String { (try? condition) ?? request["where"] ?? "" }

    private var position: ObjectTable.Position? {
        request["after"].map { ObjectTable.Position(name: $0, value: request.fields["value"]) }
    }

    private var standardPaths: [String] { standard.map(\.title) }

    /// The chosen columns: those of the checked boxes, then the key paths of the text field. Nil for the standard ones.
    private var columnPaths: [String]? {
        let chosen = request.fields.keys.filter { $0.hasPrefix("show.") }.map { String($0.dropFirst(5)) }
        let boxes = boxPaths.filter(chosen.contains)
        let written = (request["columns"] ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        let all = boxes + written.filter { !boxes.contains($0) }
        return all.isEmpty ? nil : all
    }

    /// The key paths that have a box: the standard columns, and the large attributes, which are not among them.
    private var boxPaths: [String] {
        let standard = standardPaths
        return standard + entity.attributesByName.keys.sorted().filter { !standard.contains($0) }
    }

    /// The address of a page of the same table.
    private func address(
        _ page: String = "table", sort: String?, isAscending: Bool, after: ObjectTable.Position? = nil,
        before: ObjectTable.Position? = nil
    ) -> String {
        FormFields.address(
            page,
            [
                ("entity", entity.name), ("where", shownCondition.isEmpty ? nil : shownCondition),
                ("columns", columnPaths?.joined(separator: ",")), ("sort", sort),
                ("order", isAscending ? nil : "descending"), ("after", after?.name), ("before", before?.name),
                ("value", (after ?? before)?.value),
            ])
    }

    // MARK: - HTML

    private func form(columns: [String], mistake: String?) -> HTML {
        // Key paths through one relationship are completed, too.
        let keys =
            entity.propertiesByName.keys.sorted()
            + entity.relationshipsByName.sorted { $0.key < $1.key }.flatMap { name, relationship in
                (relationship.destinationEntity?.attributesByName.keys.sorted() ?? []).map { "\(name).\($0)" }
                    + (relationship.isToMany ? ["\(name).@count"] : [])
            }
        let boxes = boxPaths.map { path -> HTML in
            let checked: HTML = " checked"
            return """
                <label><input type="checkbox" name="show.\(path)" value="1"\(checked, if: columns.contains(path))> \
                \(path)</label>
                """
        }
        let others = columns.filter { !boxPaths.contains($0) }.joined(separator: ",")
        let state: HTML = mistake == nil ? "" : " aria-invalid=\"true\" aria-describedby=\"mistake\""
        return """
            <form class="query" method="get" action="table">
            \(PageFrame.hidden("entity", entity.name ?? ""))\
            \(request["sort"].map { PageFrame.hidden("sort", $0) })\
            \(request["order"].map { PageFrame.hidden("order", $0) })
            <label for="where">Objects that match</label>
            <div class="field"><input id="where" name="where" type="text" value="\(field: shownCondition)" \
            placeholder="a predicate, such as rank &gt; 3" autocomplete="off" autocapitalize="off" spellcheck="false" \
            data-words="\(keys.joined(separator: " "))"\(state)>
            <button>Show</button></div>
            <div id="mistake">\(mistake.map(PageFrame.error))</div>
            \(TableFilter.fields(of: entity))
            <details><summary>Columns</summary>
            <div class="boxes">\(boxes.joined(by: "\n"))</div>
            <label for="columns">Other key paths, such as author.name</label>
            <input id="columns" name="columns" type="text" value="\(others)" autocomplete="off" \
            data-words="\(keys.joined(separator: " "))">
            </details>
            </form>

            """
    }

    private func summary(_ table: ObjectTable, _ count: Int, _ page: ObjectTable.Page) -> HTML {
        let number =
            count > Self.countLimit
            ? "more than \(Quantity.grouped(Self.countLimit)) objects" : Quantity.count(count, "object")
        let line = table.commandLine(
            store: pages.store.path, model: pages.store.modelPath, zone: pages.store.zone?.identifier)
        func link(_ title: String, _ name: String) -> HTML {
            "<a href=\"\(address(name, sort: table.sort, isAscending: table.isAscending))\">\(title)</a>"
        }
        let name = entity.name ?? ""
        let insertion: HTML = """
            <form class="actions" method="post" action="insert">\(PageFrame.hidden("entity", name))\
            <button>New \(name)</button></form>

            """
        return """
            \(insertion, if: pages.store.isWritable && !entity.isAbstract)\
            <p class="sum" role="status">\(number) · \(link("CSV", "table.csv")) · \(link("JSON", "table.json"))</p>
            <details><summary>As a command</summary><pre class="command">\(line)</pre></details>

            """
    }

    private func rows(_ objects: [NSManagedObject], _ table: ObjectTable) -> HTML {
        let cells = objects.map { object in table.columns.map { $0.cell(of: object) } }
        let isNumber = table.columns.indices.map { column in cells.allSatisfy { $0[column].isNumber } }
        let body = cells.map { row -> HTML in
            let cells = zip(row, isNumber).map { cell, isNumber -> HTML in
                "<td\(" class=\"number\"", if: isNumber)>\(html(of: cell))</td>"
            }
            return "<tr>\(cells)</tr>"
        }
        return """
            <div class="wide" tabindex="0" role="region" aria-label="Objects"><table class="objects"><thead><tr>\
            \(table.columns.map { heading($0, table) })</tr></thead>
            <tbody>
            \(body.joined(by: "\n"))
            </tbody></table></div>

            """
    }

    /// The title of a column, as a link that sorts by it if objects can be sorted by it.
    private func heading(_ column: QueryColumn, _ table: ObjectTable) -> HTML {
        let isKey = column.title == "objectID"
        guard isKey || isSortable(column.title) else { return "<th scope=\"col\">\(breakable: column.title)</th>" }
        let isSorted = isKey ? table.sort == nil : table.sort == column.title
        let order = !isSorted ? "none" : table.isAscending ? "ascending" : "descending"
        let mark = !isSorted ? "" : table.isAscending ? " ↑" : " ↓"
        let address = address(sort: isKey ? nil : column.title, isAscending: !(isSorted && table.isAscending))
        return
            "<th scope=\"col\" aria-sort=\"\(order)\"><a href=\"\(address)\">\(breakable: column.title)\(mark)</a></th>"
    }

    private func isSortable(_ path: String) -> Bool {
        guard (try? QuerySort.descriptors(path, for: entity)) != nil,
            let property = try? KeyPathCheck(entity).check(KeyPathCheck.keys(of: path), in: path),
            let attribute = property as? NSAttributeDescription, !attribute.isTransient
        else { return false }
        return ![.binaryData, .transformable, .composite, .undefined].contains(GraphSchema.Attribute(attribute).type)
    }

    private func html(of cell: QueryCell) -> HTML {
        switch cell {
        case .object(let name): PageFrame.link(toObject: name)
        case .list(let cells):
            "\(cells.prefix(10).map(html).joined(by: ", "))\(", … (\(cells.count))", if: cells.count > 10)"
        case .null, .value: "\(QueryAnswer.cut(cell.text(in: pages.store.zone)))"
        }
    }

    private func next(_ page: ObjectTable.Page, _ table: ObjectTable) -> HTML {
        var links: [HTML] = []
        if request["after"] != nil || request["before"] != nil {
            links.append(
                "<a href=\"\(address(sort: table.sort, isAscending: table.isAscending))\" data-key=\"f\">First page</a>"
            )
        }
        if let previous = page.previous {
            let address = address(sort: table.sort, isAscending: table.isAscending, before: previous)
            links.append("<a href=\"\(address)\" rel=\"prev\" data-key=\"p\">Previous page</a>")
        }
        if let next = page.next {
            let address = address(sort: table.sort, isAscending: table.isAscending, after: next)
            links.append("<a href=\"\(address)\" rel=\"next\" data-key=\"n\">Next page</a>")
        }
        guard !page.objects.isEmpty else { return "<p>No object matches.</p>" }
        return links.isEmpty ? "" : "<p class=\"pages\">\(links.joined(by: " · "))</p>\n"
    }
}

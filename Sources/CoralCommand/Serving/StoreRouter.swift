import Coral
import CoralTools

/// The pages of a store.
struct StoreRouter: Sendable {
    /// Nil for a store that cannot be opened.
    private let store: ServedStore?
    private let damaged: DamagedStore
    private let running = RunningWork()
    /// The seconds after which an unfinished page is sent in parts. The status is then sent before the result is known.
    private static let answerTime = 0.4

    init(_ store: ServedStore?, damaged: DamagedStore) {
        self.store = store
        self.damaged = damaged
    }

    /// The response to a request that has passed the gate. Errors become pages.
    func answer(_ request: SiteRequest) async -> SiteAnswer {
        switch request.page {
        case "style.css": return .text(SiteStyle.sheet, as: "text/css")
        case "script.js": return .text(SiteStyle.script, as: "text/javascript")
        // Handled outside of the store's queue, on which the requests wait for each other.
        case "cancel":
            guard request.isChange else { return .refusal("Work is cancelled by its button.", status: 405) }
            request["work"].map(running.cancel)
            return .redirection(to: request.returnAddress)
        case "damage": return await damaged.page()
        default: break
        }
        guard let store else { return await damaged.page() }
        let work = RequestWork()
        // A change is completed, whether or not the browser waits for it.
        if request.isChange { return await answer(request, store, work) }
        return await withTaskCancellationHandler {
            await ["", "table", "find"].contains(request.page)
                ? streamed(request, store, work) : answer(request, store, work)
        } onCancel: {
            work.cancel()
        }
    }

    /// A page that is sent in parts if it takes long.
    private func streamed(_ request: SiteRequest, _ store: ServedStore, _ work: RequestWork) async -> SiteAnswer {
        running.add(work)
        Task {
            work.finish(await answer(request, store, work))
            running.remove(work)
        }
        if let answer = await work.answer(within: Self.answerTime) { return answer }
        let page = WaitingPage(work)
        return SiteAnswer(stream: ResponseStream(of: work) { await page.next() })
    }

    private func answer(_ request: SiteRequest, _ store: ServedStore, _ work: RequestWork) async -> SiteAnswer {
        do {
            return try await store.access { access in
                try work.run {
                    let pages = try SitePages(store, access, request, work)
                    do {
                        return try request.isChange ? pages.change() : pages.page()
                    } catch {
                        return pages.failure(error)
                    }
                }
            }
        } catch {
            // The error concerns the store itself: an error of a single page is handled above.
            var answer =
                StoreProblem(damage: error) == nil
                ? SiteAnswer.refusal(ErrorText.text(of: error), status: 500) : await damaged.page()
            answer.rest = SitePages.rest(of: error)
            return answer
        }
    }
}

/// The pages for one request.
struct SitePages {
    let store: ServedStore
    let access: ServedStore.Access
    let request: SiteRequest
    let frame: PageFrame
    let work: RequestWork
    var model: NSManagedObjectModel { access.open.model }

    init(_ store: ServedStore, _ access: ServedStore.Access, _ request: SiteRequest, _ work: RequestWork) throws {
        self.store = store
        self.access = access
        self.request = request
        self.work = work
        let counts = try access.counts()
        frame = PageFrame(
            name: access.open.url.lastPathComponent, counts: counts.counts, isWritable: store.isWritable,
            unsavedCount: store.isWritable ? ServedStore.unsavedCount(access.context) : 0,
            canUndo: access.context.undoManager?.canUndo == true, canRedo: access.context.undoManager?.canRedo == true,
            // The page of a failed change has the address of the page from which the change was sent.
            returnAddress: request.isChange
                ? request["return"] ?? ""
                : FormFields.address(
                    request.page, request.fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }),
            damaged: counts.damaged)
    }

    func page() throws -> SiteAnswer {
        switch request.page {
        case "": return try OverviewPage(self).answer()
        case "table": return try TablePage(self).answer()
        case "table.csv": return try TablePage(self).document(.csv)
        case "table.json": return try TablePage(self).document(.json)
        case "find": return try FindPage(self).answer()
        case "object":
            let object = try object()
            let page = try ObjectPage(self, object).html()
            access.view(object)
            return .page(page)
        case "value": return try value()
        case "model": return diagram()
        case "model.svg": return picture()
        case "history": return .page(try TimelinePage(self).html())
        default: return .page(frame.page(title: "Not found", main: "<p>There is no such page.</p>"), status: 404)
        }
    }

    /// A page with the sentence of an error.
    func failure(_ error: any Error) -> SiteAnswer {
        var answer = SiteAnswer.page(frame.page(title: "Error", main: Self.sentence(of: error)), status: 400)
        answer.rest = Self.rest(of: error)
        return answer
    }

    /// The end of a page whose beginning was sent before an error.
    static func rest(of error: any Error) -> HTML { "\(sentence(of: error))</div>\(PageFrame.end)" }

    /// The sentence of an error; for damage, with a link to the page about it.
    static func sentence(of error: any Error) -> HTML {
        "\(PageFrame.error(ErrorText.text(of: error)))\(damage(error))"
    }

    /// A link to the page about damage, if an error is caused by it.
    static func damage(_ error: any Error) -> HTML {
        StoreProblem(damage: error) == nil ? "" : "<p><a href=\"damage\">What can be read of this store</a></p>"
    }

    func entity() throws -> NSEntityDescription { try access.open.entity(named: request["entity"] ?? "") }

    func object() throws -> NSManagedObject {
        guard let argument = ObjectArgument(argument: request["id"] ?? "") else {
            throw CommandError("\"\(request["id"] ?? "")\" is not the name of an object.")
        }
        return try argument.object(in: access.open, context: access.context)
    }

    // MARK: - Diagram and values

    private func diagram() -> SiteAnswer {
        let svg = ModelDiagram(model).svg { FormFields.address("table", [("entity", $0)]) }
        let buttons: HTML = """
            <p class="zoom"><button type="button" data-zoom="1.25" data-key="+">Larger</button>
            <button type="button" data-zoom="0.8" data-key="-">Smaller</button>
            <button type="button" data-zoom="0" data-key="0">Fit</button></p>

            """
        let picture: HTML = """
            <div class="diagram" tabindex="0" role="region" aria-label="Picture of the model">\(HTML(markup: svg))</div>
            """
        var answer = SiteAnswer.page(frame.page(title: "Model", main: "\(buttons)\(picture)"))
        // The diagram has its own style sheet.
        answer.allowsInlineStyles = true
        return answer
    }

    /// The diagram alone, for the first page: a browser reads it after the page.
    private func picture() -> SiteAnswer {
        var answer = SiteAnswer(contentType: "image/svg+xml", body: Data(ModelDiagram(model).svg().utf8))
        answer.allowsInlineStyles = true
        return answer
    }

    /// A binary value as a file. Only pictures are shown by the browser.
    private func value() throws -> SiteAnswer {
        let object = try object()
        guard let name = request["property"], let attribute = object.entity.attributesByName[name],
            let data = object.value(forKey: name).flatMap({ value -> Data? in
                switch GraphValue(value, declaredAs: GraphSchema.Attribute(attribute)) {
                case .data(let data): data
                case .transformable(let value): value.archive
                default: nil
                }
            })
        else { throw CommandError("There is no binary value.") }
        var answer = SiteAnswer(contentType: PageValue.pictureType(data) ?? "application/octet-stream", body: data)
        if PageValue.pictureType(data) == nil { answer.headers["Content-Disposition"] = "attachment" }
        return answer
    }

    // MARK: - Changes

    /// Changes the store, and returns to the page that the request came from.
    func change() throws -> SiteAnswer {
        guard store.isWritable else { throw CommandError("The store is read-only. Use coral serve --writable.") }
        switch request.page {
        case "set":
            let (object, form) = (try object(), ObjectForm(request))
            do {
                try ServedStore.change(form.assignments(), of: object, zone: store.zone, in: access)
                if request["save"] != nil { try ServedStore.save(access) }
            } catch let mistakes as FormMistakes {
                let page = try ObjectPage(self, object, mistakes: mistakes, entered: form.entered).html()
                return .page(page, status: 400)
            }
        case "insert":
            let object = try ServedStore.insert(entity(), in: access)
            return .redirection(to: address("object", [("id", StoredName(object.objectID).text)]))
        case "delete":
            let object = try object()
            try ServedStore.delete(object, in: access)
            return .redirection(to: address("table", [("entity", object.entity.name)]))
        case "undo": access.context.undo()
        case "redo": access.context.redo()
        case "discard":
            access.context.rollback()
            access.context.undoManager?.removeAllActions()
        case "save": try ServedStore.save(access)
        default: throw CommandError("There is no such change.")
        }
        access.context.processPendingChanges()
        return .redirection(to: request.returnAddress)
    }

    private func address(_ page: String, _ fields: [(String, String?)]) -> String {
        request.root + FormFields.address(page, fields)
    }
}

import ArgumentParser
import Coral
import CoralTools
import GRDB

/// `coral views`: SQL views with the names of the model.
struct ViewsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "views", abstract: "Writes SQL views of a store, with the names of the model.",
        discussion: """
            Each entity has a view with a row for each object: its key, its attributes, and the keys of its to-one \
            relationships, with the name or title of the destination. Dates and UUIDs are text, and large values that \
            are in files of their own have the path of the file. Each to-many relationship has a view such as \
            "Note.tags" with the keys of owner and member.

            The script creates temporary views, which do not change the store: execute it in each session, for example \
            with sqlite3 -init, or with psql -f for a store in PostgreSQL, where their names take precedence over \
            the views that the store has. With --into the views are part of a copy of the store.

            EXAMPLES:
              coral views Notes.sqlite -o views.sql
              coral views Notes.sqlite --into Readable.sqlite
            """)

    @Argument(help: "The store.", completion: Completion.stores)
    var store: String

    @OptionGroup var file: OutputFile

    @Option(
        name: .long, help: ArgumentHelp("Make a copy of the store here, with the views in it.", valueName: "store"),
        completion: Completion.stores)
    var into: String?

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    @OptionGroup var source: ModelSource

    func validate() throws {
        if into != nil, file.output != nil { throw ValidationError("--into and --output contradict each other.") }
    }

    func run() throws {
        try proof.prove(store, writing: into.map { URL(fileURLWithPath: $0) } ?? file.url, body: writeViews)
    }

    private func writeViews() throws {
        #if !STORE_ENGINE
            throw CommandError("On this system the tables of a store are not accessible.")
        #else
            guard into == nil || !ServerURLs.isOne(store) else {
                throw CommandError(
                    "A store in PostgreSQL has views with the names of the model already, in its schema.")
            }
            let open = try OpenStore(path: store, model: source)
            let views = try open.context.performAndWait {
                try StoreViews(of: open.url, model: open.model, in: open.context)
            }
            guard let into else {
                try file.requireFree(reading: open.url, source.url)
                try file.write(views.script(isTemporary: true))
                return file.report(Quantity.count(views.views().count, "view"))
            }
            let occupant = try Confirmation.occupant(into, reading: [open.url, source.url], isForced: file.force)
            try StoreCreation.makeStore(
                at: URL(fileURLWithPath: into), model: open.model, replacing: occupant
            ) { copy in
                try open.coordinator.replacePersistentStore(
                    at: copy, destinationOptions: nil, withPersistentStoreFrom: open.url, sourceOptions: nil,
                    ofType: NSSQLiteStoreType)
                let queue = try DatabaseQueue(path: copy.path)
                try queue.write { try $0.execute(sql: views.script(isTemporary: false)) }
                try queue.close()
            }
            StandardError.report("\(Quantity.count(views.views().count, "view")) written to \(into).")
        #endif
    }
}

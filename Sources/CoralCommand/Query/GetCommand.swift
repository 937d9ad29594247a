import ArgumentParser
import Coral

/// `coral get`: an object, and the objects that it refers to.
struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Shows an object with all its values, and the objects that it refers to.",
        discussion: """
            The object is given by its URI, as objectID.uriRepresentation() returns it, or by its entity and primary \
            key: Note/p3. With --depth, the objects that are up to that many relationships away are shown too; 1 \
            means the object and those that it refers to. Text omits properties without a value; JSON has all.

            EXAMPLES:
              coral get Notes.sqlite Note/p3
              coral get Notes.sqlite Note/p3 --depth 1 --time-zone local
              coral get Notes.sqlite x-coredata://6A7E0F9B-9B0E-4B4F-8C5D-0C1A5C9B6F0E/Note/p3 --json
            """)

    @Argument(help: "The store.", completion: Completion.stores)
    var store: String

    @Argument(
        help: "The object: a URI, or an entity and a primary key such as Note/p3.", completion: Completion.objects)
    var object: ObjectArgument

    @Option(name: .long, help: "Also show the objects that are at most this many relationships away.")
    var depth = 0

    @Option(name: .long, help: "The maximum number of objects to show.")
    var limit = 100

    @OptionGroup var zone: TimeZoneOption

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    @OptionGroup var source: ModelSource

    func validate() throws {
        if depth < 0 { throw ValidationError("--depth must not be negative: \(depth).") }
        if limit < 1 { throw ValidationError("--limit must be at least 1.") }
    }

    func run() throws {
        try proof.prove(store) { try show(object, in: OpenStore(path: store, model: source)) }
    }

    private func show(_ argument: ObjectArgument, in open: OpenStore) throws {
        try open.context.performAndWait {
            let object = try argument.object(in: open)
            let cards = ObjectCards(object, depth: depth, limit: limit, zone: zone.zone)
            guard json else { return try Pager.write(cards.text) }
            try StandardOutput.write(cards.json())
            if cards.omittedCount > 0 {
                StandardError.warn(
                    "At least \(Quantity.count(cards.omittedCount, "more object")) not written; --limit writes more.")
            }
        }
    }
}

import ArgumentParser
import AtomicFiles
import Coral

/// `coral get`: an object, and the objects that it refers to.
struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Shows an object with all its values, and the objects that it refers to.",
        discussion: """
            The object is given by its URI, as objectID.uriRepresentation() returns it, or by its entity and primary \
            key: Note/p3. With --depth, the objects that are up to that many relationships away are shown too; 1 \
            means the object and those that it refers to. Text omits properties without a value; JSON has all.

            Binary values are shown as what they contain: text, even if it is compressed with gzip or zlib; property \
            lists and archives; the numbered fields of Protocol Buffers; UUIDs; the type of a picture. Other bytes \
            are shown in hexadecimal digits. --save writes the bytes of a value to a file.

            EXAMPLES:
              coral get Notes.sqlite Note/p3
              coral get Notes.sqlite Note/p3 --depth 1 --time-zone local
              coral get Notes.sqlite \\
                x-coredata://6A7E0F9B-9B0E-4B4F-8C5D-0C1A5C9B6F0E/Note/p3 --json
              coral get Notes.sqlite Note/p3 --save photo.png --attribute photo
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

    @Option(
        name: .long, help: ArgumentHelp("Write the bytes of a value to this file.", valueName: "file"),
        completion: .file())
    var save: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The attribute whose value is saved. Default: the only binary one that has a value.", valueName: "name"))
    var attribute: String?

    @Flag(name: .long, help: "Replace an existing file without asking.")
    var force = false

    @OptionGroup var zone: TimeZoneOption

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    @OptionGroup var source: ModelSource

    func validate() throws {
        if depth < 0 { throw ValidationError("--depth must not be negative: \(depth).") }
        if save == nil, attribute != nil || force { throw ValidationError("--attribute and --force require --save.") }
        if save != nil, json { throw ValidationError("--save and --json contradict each other.") }
        if limit < 1 { throw ValidationError("--limit must be at least 1.") }
    }

    func run() throws {
        try proof.prove(store) { try show(object, in: OpenStore(path: store, model: source)) }
    }

    private func show(_ argument: ObjectArgument, in open: OpenStore) throws {
        try open.context.performAndWait {
            let object = try argument.object(in: open)
            if let save { return try self.save(object, to: save, open) }
            let cards = ObjectCards(object, depth: depth, limit: limit, zone: zone.zone)
            guard json else { return try Pager.write(cards.text) }
            try StandardOutput.write(cards.json())
            if cards.omittedCount > 0 {
                StandardError.warn(
                    "At least \(Quantity.count(cards.omittedCount, "more object")) not written; --limit writes more.")
            }
        }
    }

    /// Writes the bytes of a value. Text is written in UTF-8.
    private func save(_ object: NSManagedObject, to path: String, _ open: OpenStore) throws {
        let values = object.entity.attributesByName.compactMapValues { attribute -> Data? in
            switch GraphValue(
                object.value(forKey: attribute.name), declaredAs: GraphSchema.Attribute(attribute))
            {
            case .data(let data): data
            case .transformable(let value): value.archive
            case .string(let text) where attribute.name == self.attribute: Data(text.utf8)
            default: nil
            }
        }
        let names = values.keys.sorted()
        guard let name = attribute ?? (names.count == 1 ? names[0] : nil) else {
            throw CommandError(
                names.isEmpty
                    ? "\(StoredName(object.objectID).text) has no binary value."
                    : "Choose a value with --attribute: \(names.joined(separator: ", ")).")
        }
        guard object.entity.attributesByName[name] != nil else {
            throw CommandError(
                "\(object.entity.name ?? "") has no attribute \(name)."
                    + NameSuggestion.advice(for: name, in: object.entity.attributesByName.keys))
        }
        guard let data = values[name] else {
            throw CommandError("\(StoredName(object.objectID).text) has no binary value for \(name).")
        }
        let isReplaced = try Confirmation.requireFree(path, reading: [open.url, source.url], isForced: force)
        let file = try AtomicFile(path: path, replacing: isReplaced)
        try data.withUnsafeBytes { try file.write($0) }
        try file.finish()
        StandardError.report("\(Quantity.bytes(Int64(data.count))) written to \(path).")
    }
}

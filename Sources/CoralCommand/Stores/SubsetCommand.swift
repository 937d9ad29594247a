import ArgumentParser
import Coral
import CoralTools

/// `coral subset`: writes a part of a store as a new store.
struct SubsetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subset", abstract: "Writes some objects of a store, and those they own, to a new store.",
        discussion: """
            Related objects are chosen as by coral copy. Required objects are included, so that the new store is \
            valid. The store itself is only read.

            --redact replaces an attribute's values; equal values get equal substitutes: --redact Customer.name=name \
            --redact Customer.email=email. Substitutes are shape, name, email, token, uuid, date (up to 180 days \
            away), number (0 to 9999), null, and text:… for a given text. They are derived from the secret in the \
            environment variable CORAL_SECRET, or from a random secret if it is not set.

            --redact-all replaces texts by shape, dates by date, UUIDs by uuid, and other values by null where they are \
            optional. Numbers and truth values are kept. What stays readable is listed.

            EXAMPLES:
              coral subset Shop.sqlite --entity Customer --where 'number IN {3, 5, 8}' \\
                -o Three.sqlite
              coral subset Shop.sqlite --entity Customer --limit 50 \\
                --redact Customer.email=email -o Some.sqlite
              coral subset Shop.sqlite --entity Customer --limit 50 --redact-all \\
                -o Some.sqlite
            """)

    @Argument(help: "The store. It is only read.", completion: Completion.stores)
    var store: String

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The store to write.", valueName: "file"),
        completion: Completion.stores)
    var output: String?

    @Flag(name: .long, help: "Replace an existing store without asking.")
    var force = false

    @Option(name: .long, help: "The entity of the initial objects.", completion: Completion.entities)
    var entity: String

    @OptionGroup var condition: ObjectCondition

    @Option(name: .long, help: "The maximum number of initial objects.")
    var limit: Int?

    @Option(name: .long, help: "The rules for the objects that belong to an object.")
    var rules: CopyCommand.Rules = .ownership

    @Option(
        name: .long, help: ArgumentHelp("Include a relationship's destinations.", valueName: "Entity.relationship"),
        completion: Completion.properties)
    var copy: [String] = []

    @Option(
        name: .long, help: ArgumentHelp("Exclude an entity, or a property such as Note.body.", valueName: "name"),
        completion: Completion.properties)
    var exclude: [String] = []

    @Flag(
        name: .long,
        help: "Also include linked objects that have no owner in the subset, without the objects that they own.")
    var linkedObjects = false

    @Option(
        name: .long, help: ArgumentHelp("Replace an attribute's values.", valueName: "Entity.attribute=substitute"),
        completion: Completion.properties)
    var redact: [String] = []

    @Flag(
        name: .long,
        help: "Replace the values of all attributes that have a substitute, unless --redact states another.")
    var redactAll = false

    @OptionGroup var likeness: LikeOption

    @Flag(name: .long, help: "Show the objects that would be written, and write nothing.")
    var dryRun = false

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    @OptionGroup var source: ModelSource

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1.") }
        if output == nil, !dryRun { throw ValidationError("Specify the store to write with --output.") }
        if output == "-" { throw ValidationError("A store is written to a file, not to standard output.") }
    }

    func run() throws { try proof.prove(store, writing: output.map { URL(fileURLWithPath: $0) }, body: writeSubset) }

    private func writeSubset() throws {
        let open = try OpenStore(path: store, model: source)
        try open.context.performAndWait {
            let found = try condition.objects(of: entity, in: open)
            let roots = limit.map { Array(found.prefix($0)) } ?? found
            guard !roots.isEmpty else {
                throw CommandError(
                    "There is no initial object of \(entity): the store has none, or none matches --where.")
            }
            let subset = try chosenSubset(open.model)
            guard let output, !dryRun else {
                return try show(try Work.run("Looking") { try subset.plan(roots, progress: $0) }, open.model)
            }
            let url = URL(storeAt: output)
            if url.isOfServer { try likeness.requireFile(url) }
            // A store on a server is never replaced.
            let occupant =
                try url.isOfServer
                ? .nothing
                : Confirmation.occupant(
                    output, reading: [open.url, source.url, likeness.url()], isForced: force)
            try StandardOutput.requireOpen()
            do {
                try show(
                    try Work.run("Writing") { try subset.export(roots, to: url, replacing: occupant, progress: $0) },
                    open.model)
            } catch {
                throw RedactOption.explained(error, by: redact)
            }
        }
    }

    private func chosenSubset(_ model: NSManagedObjectModel) throws -> GraphSubset {
        var shape = rules.shape
        for name in copy { shape.set(name, .embed) }
        for name in exclude { shape.exclude(name) }
        var subset = GraphSubset(shape: shape, includesLinkedObjects: linkedObjects)
        subset.joinTablesLike = try likeness.url()
        if !redact.isEmpty || redactAll {
            let secret = ProcessInfo.processInfo.environment["CORAL_SECRET"]
            // Such as an unset shell variable. Everybody could verify guesses of the values.
            guard secret != "" else {
                throw CommandError("CORAL_SECRET is empty. Set a secret, or unset the variable for a random one.")
            }
            var redaction = secret.map(Redaction.init(secret:)) ?? Redaction()
            for (attribute, substitute) in redactAll ? RedactOption.all(of: model) : [] {
                redaction.replace(attribute, by: substitute)
            }
            for text in redact {
                let (attribute, substitute) = try RedactOption.parse(text)
                redaction.replace(attribute, by: substitute)
            }
            subset.redaction = redaction
        }
        return subset
    }

    private func show(_ plan: CopyPlan, _ model: NSManagedObjectModel) throws {
        StandardError.warn(plan.omissions.map { StoredName.shortened($0.description) }, of: plan.omissions.count)
        let readable = redact.isEmpty && !redactAll ? [] : readableAttributes(of: plan, model)
        for (entity, names) in readable {
            StandardError.report("Not redacted in \(entity): \(names.joined(separator: ", "))")
        }
        if json {
            let report = SubsetReport(
                isWritten: !dryRun, objects: plan.counts, omissionCount: plan.omissions.count,
                readable: readable.flatMap { entity, names in names.map { "\(entity).\($0)" } })
            return try dryRun ? JSONOutput.write(report) : JSONOutput.report(report)
        }
        try dryRun
            ? StandardOutput.write("Would write \(plan.summary)\n") : StandardOutput.report("Wrote \(plan.summary)\n")
    }

    /// The attributes that no --redact replaces, of the entities in a subset.
    private func readableAttributes(
        of plan: CopyPlan, _ model: NSManagedObjectModel
    ) -> [(entity: String, names: [String])] {
        let replaced = redactAll ? RedactOption.all(of: model).map(\.attribute) : []
        let omitted = Set(
            exclude + replaced + redact.compactMap { $0.split(separator: "=").first.map(String.init) })
        return plan.counts.keys.sorted().compactMap { entity in
            guard let description = model.entitiesByName[entity] else { return nil }
            let line = sequence(first: description, next: \.superentity).compactMap(\.name)
            let names = description.attributesByName.filter { name, attribute in
                !attribute.isTransient && !line.contains { omitted.contains("\($0).\(name)") }
            }.keys.sorted()
            return names.isEmpty ? nil : (entity, names)
        }
    }
}

/// The output of `coral subset --json`.
private struct SubsetReport: Encodable {
    var isWritten: Bool
    var objects: [String: Int]
    var omissionCount: Int
    /// The attributes of these objects that were not redacted, if any was.
    var readable: [String]
}

/// Parses `Customer.name=name`.
private enum RedactOption {
    static func parse(_ text: String) throws -> (attribute: String, substitute: Redaction.Substitute) {
        let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            throw CommandError("--redact \(text) is not of the form Entity.attribute=substitute.")
        }
        return (parts[0], try substitute(parts[1]))
    }

    /// The substitutes of all attributes that have one, in the entities that declare them.
    static func all(of model: NSManagedObjectModel) -> [(attribute: String, substitute: Redaction.Substitute)] {
        model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }.flatMap { entity in
            entity.attributesByName.sorted { $0.key < $1.key }.compactMap { name, attribute in
                guard entity.superentity?.attributesByName[name] == nil, !attribute.isTransient,
                    !(attribute is NSDerivedAttributeDescription), let substitute = substitute(for: attribute)
                else { return nil }
                return ("\(entity.name ?? "").\(name)", substitute)
            }
        }
    }

    private static func substitute(for attribute: NSAttributeDescription) -> Redaction.Substitute? {
        switch attribute.attributeType {
        case .stringAttributeType: .shape
        case .dateAttributeType: .date(withinDays: 180)
        case .UUIDAttributeType: .uuid
        case .binaryDataAttributeType, .transformableAttributeType, .URIAttributeType:
            attribute.isOptional ? .null : nil
        default: nil
        }
    }

    /// The error, with the --redact options that have replaced the value to which the error refers, if there are any.
    static func explained(_ error: any Error, by options: [String]) -> any Error {
        let details = (error as NSError).userInfo["NSDetailedErrors"] as? [NSError] ?? [error as NSError]
        let keys = Set(details.compactMap { $0.userInfo[NSValidationKeyErrorKey] as? String })
        let text = ErrorText.text(of: error)
        let causes = options.filter { option in
            guard let attribute = option.split(separator: "=").first.map(String.init),
                let key = attribute.split(separator: ".").last.map(String.init)
            else { return false }
            // The errors of copying name the attribute in their sentence.
            return keys.contains(key) || (error as? CopyError)?.place?.contains(key) == true
        }
        guard !causes.isEmpty else { return error }
        return CommandError(
            "\(text)\nThe value was replaced by \(causes.map { "--redact \($0)" }.joined(separator: ", ")).")
    }

    private static func substitute(_ word: String) throws -> Redaction.Substitute {
        if let text = word.text(after: "text:") { return .constant(text) }
        switch word {
        case "shape": return .shape
        case "name": return .name
        case "email": return .email
        case "token": return .token
        case "uuid": return .uuid
        case "date": return .date(withinDays: 180)
        case "number": return .number(0...9999)
        case "null": return .null
        default:
            let known = ["shape", "name", "email", "token", "uuid", "date", "number", "null", "text:…"]
            throw CommandError("There is no substitute \"\(word)\".\(NameSuggestion.advice(for: word, in: known))")
        }
    }
}

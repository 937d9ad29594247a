import ArgumentParser
import Coral

/// The policies of an import for records that do not fit the model or the store.
struct ImportPolicies: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The policy for dangling references: fail, skip, record (omit and report) or stub.",
            valueName: "policy"))
    var dangling: DanglingReferencePolicy?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The policy for members that the model does not have: skip, record (omit and report) or fail.",
            valueName: "policy"))
    var unknownKeys: UnknownKeyPolicy?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The policy for parts of another model version that this one does not have: skip, record or fail.",
            valueName: "policy"))
    var otherModel: UnknownKeyPolicy?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The policy for a relationship's present members: set, union or replace, as in Note.items=replace.",
            valueName: "policy"))
    var relationship: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("Delete objects of this entity that the document does not have.", valueName: "entity"),
        completion: Completion.entities)
    var deleteMissing: [String] = []

    @Flag(name: .long, help: "Let --delete-missing delete every object if the document has no records.")
    var allowEmpty = false

    @Flag(name: .long, help: "Match objects of entities without a key by all their attributes.")
    var byContent = false

    /// The rule that decides if a record's key and its id belong to two different objects.
    enum Identity: String, ExpressibleByArgument, CaseIterable {
        case key
        case storedID = "stored-id"
    }

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The rule if a record's key and id match different objects: key, or stored-id, which changes the key.",
            valueName: "what"))
    var identity: Identity = .key

    @Flag(name: .long, help: "Accept a comma after the last element, as Apple's JSON reader does.")
    var trailingCommas = false

    /// The options that decide how records become objects, and whether they are given.
    var given: [(name: String, isGiven: Bool)] {
        [
            ("--dangling", dangling != nil), ("--unknown-keys", unknownKeys != nil),
            ("--other-model", otherModel != nil),
            ("--relationship", !relationship.isEmpty), ("--delete-missing", !deleteMissing.isEmpty),
            ("--allow-empty", allowEmpty), ("--by-content", byContent), ("--identity", identity != .key),
        ]
    }

    /// Sets the chosen policies in the options. Throws `CommandError` for names that the model does not have.
    func apply(to options: inout ImportOptions, model: NSManagedObjectModel) throws {
        if let dangling { options.danglingReferences = dangling }
        if let unknownKeys { options.unknownKeys = unknownKeys }
        if let otherModel { options.otherModel = otherModel }
        options.allowsEmptyDocument = allowEmpty
        if byContent { options.identity.matchesContent = true }
        options.identity.prefersObjectURIs = identity == .storedID
        if trailingCommas { options.allowsTrailingCommas = true }
        for text in relationship {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let policy = RelationshipImportPolicy(rawValue: parts[1]) else {
                throw CommandError(
                    "--relationship \(text) is not of the form Entity.relationship=policy, with set, union or replace.")
            }
            options.relationshipPolicies[parts[0]] = policy
        }
        for name in deleteMissing {
            options.deletionScopes[try OpenStore.entity(named: name, in: model).name ?? name] = NSPredicate(value: true)
        }
    }
}

extension DanglingReferencePolicy: ExpressibleByArgument {}
extension UnknownKeyPolicy: ExpressibleByArgument {}

import ArgumentParser
import Coral

/// What an import does with that in a document which does not fit.
struct ImportPolicies: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "What becomes of references to objects that are nowhere: fail, skip, record (leave out and tell) or stub.",
            valueName: "policy"))
    var dangling: DanglingReferencePolicy?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "What becomes of members that the model does not have: ignore, record (leave out and tell) or fail.",
            valueName: "policy"))
    var unknownKeys: UnknownKeyPolicy?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "What becomes of that in a document of another model version which has no place here: fail, skip or keep.",
            valueName: "policy"))
    var otherModel: OtherModelPolicy?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "What becomes of members that a relationship has and the document does not list: set, union or replace, as in Note.items=replace.",
            valueName: "policy"))
    var relationship: [String] = []

    @Option(
        name: .long,
        help: ArgumentHelp("Delete objects of this entity that the document does not have.", valueName: "entity"),
        completion: Completion.entities)
    var deleteMissing: [String] = []

    @Flag(name: .long, help: "Objects of entities without a key are those that have all the same attributes.")
    var byContent = false

    /// What decides which object a record is about, where its key and its id belong to two.
    enum Identity: String, ExpressibleByArgument, CaseIterable {
        case key
        case storedID = "stored-id"
    }

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Which object a record is about where its key and its id in this very store belong to two: key, or stored-id, which changes the object's key.",
            valueName: "what"))
    var identity: Identity = .key

    @Flag(name: .long, help: "Accept a comma after the last element, as Apple's reader of JSON does.")
    var trailingCommas = false

    /// Puts what was asked for into the options. Throws `CommandError` for what the model does not have.
    func apply(to options: inout ImportOptions, model: NSManagedObjectModel) throws {
        if let dangling { options.danglingReferences = dangling }
        if let unknownKeys { options.unknownKeys = unknownKeys }
        if let otherModel { options.otherModel = otherModel }
        if byContent { options.identity.matchesContent = true }
        options.identity.prefersObjectURIs = identity == .storedID
        if trailingCommas { options.reading.allowsTrailingCommas = true }
        for text in relationship {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let policy = RelationshipImportPolicy(rawValue: parts[1]) else {
                throw CommandError(
                    "--relationship \(text) is not of the form Entity.relationship=policy, with set, union or replace.")
            }
            options.relationshipPolicies[parts[0]] = policy
        }
        options.deletionScopes += try deleteMissing.map { name in
            DeletionScope(entity: try OpenStore.entity(named: name, in: model).name ?? name)
        }
    }
}

extension DanglingReferencePolicy: ExpressibleByArgument {}
extension UnknownKeyPolicy: ExpressibleByArgument {}
extension OtherModelPolicy: ExpressibleByArgument {}

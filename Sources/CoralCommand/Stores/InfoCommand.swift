import ArgumentParser
import Coral

/// `coral info`: the content and the metadata of a store.
struct InfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Shows the content of a store: entities with counts, relationships, metadata.",
        discussion: """
            EXAMPLES:
              coral info Notes.sqlite
              coral info Old.sqlite --model Notes.xcdatamodeld --json
            """)

    @Argument(help: "The store.", completion: Completion.stores)
    var store: String

    @OptionGroup var source: ModelSource

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    func run() throws {
        let report = try StoreReport(OpenStore(path: store, model: source))
        if json { return try JSONOutput.write(report) }
        try StandardOutput.write(report.text)
    }
}

/// The output of `coral info`.
private struct StoreReport: Encodable {
    var path: String
    var uuid: String
    var frameworkVersion: Int?
    var modelVersionIdentifiers: [String]
    /// Whether the store contains its model; otherwise the counts depend on the model of the option.
    var keepsModel: Bool?
    var journalMode: String?
    var journal: String?
    var byteCount: Int64?
    var logByteCount: Int64?
    var hasHistory: Bool?
    var metadataKeys: [String]
    var objectCount: Int
    var entities: [ModelDescription.Entity]

    init(_ open: OpenStore) throws {
        let metadata = open.store.metadata ?? [:]
        path = open.url.path
        uuid = open.store.identifier ?? ""
        frameworkVersion = (metadata["NSPersistenceFrameworkVersion"] as? NSNumber)?.intValue
        modelVersionIdentifiers =
            (metadata[NSStoreModelVersionIdentifiersKey] as? [Any])?.map { "\($0)" }.filter { !$0.isEmpty } ?? []
        metadataKeys = metadata.keys.filter { key in
            !["NSStore", "_NS", "NSPersistence"].contains { key.hasPrefix($0) }
        }.sorted()
        #if !canImport(Darwin)
            let inspection = try StoreInspection(url: open.url)
            keepsModel = inspection.cachedModel != nil
            journalMode = inspection.journalMode
            journal = inspection.journalState
            byteCount = inspection.byteCount
            logByteCount = inspection.logByteCount
            hasHistory = inspection.hasHistory
        #endif
        entities = ModelDescription(open.model).entities
        objectCount = 0
        try open.context.performAndWait {
            for index in entities.indices where !entities[index].isAbstract {
                let request = NSFetchRequest<NSFetchRequestResult>(entityName: entities[index].name)
                request.includesSubentities = false
                let count = try open.context.count(for: request)
                entities[index].count = count
                objectCount += count
            }
        }
    }

    var text: String {
        var lines: [(String, String)] = [("Store", path), ("UUID", uuid)]
        if let frameworkVersion { lines.append(("Framework", "\(frameworkVersion)")) }
        let versions =
            modelVersionIdentifiers.isEmpty ? "no identifiers" : modelVersionIdentifiers.joined(separator: ", ")
        lines.append(("Model", versions + (keepsModel == false ? "; the store does not contain it" : "")))
        if let byteCount {
            let log = (logByteCount ?? 0) > 0 ? ", log \(Quantity.bytes(logByteCount ?? 0))" : ""
            lines.append(("Size", Quantity.bytes(byteCount) + log))
        }
        if let journalMode, let journal { lines.append(("Journal", "\(journalMode). \(journal)")) }
        if hasHistory == true { lines.append(("History", "kept")) }
        if !metadataKeys.isEmpty { lines.append(("Metadata", metadataKeys.joined(separator: ", "))) }
        lines.append(("Objects", "\(objectCount)"))
        let head = lines.map { $0 + String(repeating: " ", count: 11 - $0.count) + $1 + "\n" }.joined()
        return head + "\n" + entityTable + relationshipList
    }

    private var entityTable: String {
        var table = TextTable([
            ("Entity", .leading), ("Inherits", .leading), ("Objects", .trailing), ("Attributes", .trailing),
            ("Relationships", .trailing),
        ])
        for entity in entities {
            table.add([
                entity.name, entity.parent ?? "", entity.count.map(String.init) ?? "abstract",
                "\(entity.attributes.count)", "\(entity.relationships.count)",
            ])
        }
        return table.text
    }

    private var relationshipList: String {
        var table = TextTable([("Relationship", .leading), ("Leads", .leading)])
        var isEmpty = true
        for entity in entities {
            for relationship in entity.relationships {
                isEmpty = false
                table.add(["\(entity.name).\(relationship.name)", relationship.summary])
            }
        }
        return isEmpty ? "" : "\n" + table.text
    }
}

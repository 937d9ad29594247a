import ArgumentParser
import Coral

#if STORE_ENGINE
    import struct StoreTools.StoreTables
#endif

/// `coral info`: the content and the metadata of a store.
struct InfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Shows the content of a store: entities with counts, relationships, metadata.",
        discussion: """
            Entities without objects are listed with --all only. The size of an entity is that of its table and indexes; \
            the entities of a hierarchy share one table, whose size is shown with the topmost of them.

            EXAMPLES:
              coral info Notes.sqlite
              coral info Notes.sqlite --all --proof
              coral info Old.sqlite --model Notes.xcdatamodeld --json
            """)

    @Argument(help: "The store.", completion: Completion.stores)
    var store: String

    @OptionGroup var quiet: QuietOption

    @OptionGroup var source: ModelSource

    @Flag(name: .long, help: "Also list entities without objects.")
    var all = false

    @Flag(name: .long, help: "Print JSON, which always contains all entities.")
    var json = false

    @OptionGroup var proof: ProofOption

    func run() throws {
        try proof.prove(store) {
            let report = try StoreReport(OpenStore(path: store, model: source))
            if json { return try JSONOutput.write(report) }
            try Pager.write(report.text(all: all))
        }
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
        path = open.url.storeName
        uuid = open.store.identifier ?? ""
        frameworkVersion = (metadata["NSPersistenceFrameworkVersion"] as? NSNumber)?.intValue
        modelVersionIdentifiers =
            (metadata[NSStoreModelVersionIdentifiersKey] as? [Any])?.map { "\($0)" }.filter { !$0.isEmpty } ?? []
        metadataKeys = metadata.keys.filter { key in
            !["NSStore", "_NS", "NSPersistence"].contains { key.hasPrefix($0) }
        }.sorted()
        #if !canImport(Darwin)
            let inspection = try open.header.inspection ?? StoreInspection(url: open.url)
            keepsModel = inspection.cachedModel != nil
            byteCount = inspection.byteCount
            if open.url.isFileURL {
                journalMode = inspection.journalMode
                journal = inspection.journalState
                logByteCount = inspection.logByteCount
            }
            hasHistory = inspection.hasHistory
        #endif
        entities = ModelDescription(open.model).entities
        let counts = try EntityCounts(open)
        objectCount = counts.counts.reduce(0) { $0 + $1.count }
        #if !canImport(Darwin)
            if inspection.lacksLog, objectCount == 0 {
                journal =
                    "No \(open.url.lastPathComponent)-wal was found beside it. If the folder of the app has one, copy it too: it "
                    + "holds the latest changes."
            }
        #endif
        let countsByName = counts.byName
        for index in entities.indices { entities[index].count = countsByName[entities[index].name] }
        #if STORE_ENGINE
            // The tables of a store in PostgreSQL are managed by the server, and are not examined.
            guard open.url.isFileURL else { return }
            let tables = try open.context.performAndWait {
                try StoreTables(of: open.url, in: open.context, measures: true)
            }
            let names = Dictionary(tables.entities.map { ($0.name, $0.table) }, uniquingKeysWith: { first, _ in first })
            for index in entities.indices where entities[index].parent == nil {
                let table = names[entities[index].name]
                entities[index].byteCount = table.flatMap { tables.byteCounts[$0] }
            }
        #endif
    }

    func text(all: Bool) -> String {
        var lines: [(String, String)] = [("Store", path), ("UUID", uuid)]
        if let frameworkVersion { lines.append(("Framework", TriedStores.description(ofVersion: frameworkVersion))) }
        let versions =
            modelVersionIdentifiers.isEmpty ? "no version identifiers" : modelVersionIdentifiers.joined(separator: ", ")
        lines.append(("Model", versions + (keepsModel == false ? "; the store does not contain it" : "")))
        if let byteCount {
            let log = (logByteCount ?? 0) > 0 ? ", log \(Quantity.bytes(logByteCount ?? 0))" : ""
            lines.append(("Size", Quantity.bytes(byteCount) + log))
        }
        if let journalMode, let journal { lines.append(("Journal", "mode \(journalMode). \(journal)")) }
        if hasHistory == true { lines.append(("History", "kept")) }
        if !metadataKeys.isEmpty { lines.append(("Metadata", Self.wrapped(metadataKeys))) }
        lines.append(("Objects", "\(objectCount)"))
        let head = lines.map { $0 + String(repeating: " ", count: Self.indentation - $0.count) + $1 + "\n" }.joined()
        // A superentity of a shown entity is shown, too: it has the size of their table.
        let parents = Dictionary(entities.map { ($0.name, $0.parent) }, uniquingKeysWith: { first, _ in first })
        var shown: Set<String> = []
        for entity in entities where all || (entity.count ?? 0) > 0 {
            var next: String? = entity.name
            while let name = next, shown.insert(name).inserted { next = parents[name] ?? nil }
        }
        let listed = entities.filter { shown.contains($0.name) }
        let hidden = entities.count - listed.count
        let note =
            hidden == 0
            ? "" : "\n\(Quantity.count(hidden, "entity")) without objects not shown; --all shows all entities.\n"
        guard !listed.isEmpty else { return head + note }
        return head + "\n" + entityTable(listed) + relationshipList(listed) + note
    }

    /// The number of cells before the values of the head, and the number of cells of its lines.
    private static let (indentation, width) = (11, 80)

    /// A list on as many lines as it needs. A name is not divided.
    private static func wrapped(_ names: [String]) -> String {
        var lines: [String] = []
        for (index, name) in names.enumerated() {
            let item = Terminal.text(name, on: .output) + (index == names.count - 1 ? "" : ",")
            if let line = lines.last, indentation + CellWidth.of(line) + 1 + CellWidth.of(item) <= width {
                lines[lines.count - 1] += " " + item
            } else {
                lines.append(item)
            }
        }
        return lines.joined(separator: "\n" + String(repeating: " ", count: indentation))
    }

    private func entityTable(_ entities: [ModelDescription.Entity]) -> String {
        let hasSizes = entities.contains { $0.byteCount != nil }
        var table = TextTable(
            [
                ("Entity", .leading), ("Inherits", .leading), ("Objects", .trailing), ("Attributes", .trailing),
                ("Relationships", .trailing),
            ] + (hasSizes ? [("Size", .trailing)] : []))
        for entity in entities {
            table.add(
                [
                    entity.name, entity.parent ?? "", entity.count.map(String.init) ?? "abstract",
                    "\(entity.attributes.count)", "\(entity.relationships.count)",
                ] + (hasSizes ? [entity.byteCount.map(Quantity.bytes) ?? ""] : []))
        }
        return table.text
    }

    private func relationshipList(_ entities: [ModelDescription.Entity]) -> String {
        var table = TextTable([("Relationship", .leading), ("Destination", .leading)])
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

/// The versions of Core Data whose stores the command has been tried on.
///
/// Core Data writes the version of its framework into the metadata of a store (`NSPersistenceFrameworkVersion`). It rises
/// with each release of Apple's systems. The tests open a store of each version, and compare the number of its objects with the
/// number that SQLite counts.
enum TriedStores {
    /// In ascending order. No difference is known between a store of a version in between and its neighbours; one of
    /// a later version may have tables or columns that nobody has seen.
    static let frameworkVersions = [
        230, 241, 419, 637, 847, 866, 973, 1044, 1048, 1251, 1333, 1338, 1344, 1345, 1403, 1414,
    ]

    private static let first = frameworkVersions[0]
    private static let last = frameworkVersions[frameworkVersions.count - 1]

    /// The second line of `coral --version`.
    static let sentence = "Tried on stores that Core Data's framework versions \(first) to \(last) wrote."

    /// The version for people, with a remark if the stores of that time were not tried.
    static func description(ofVersion version: Int) -> String {
        if version > last { return "\(version), later than \(last), the latest that coral was tried on" }
        if version < first { return "\(version), earlier than \(first), the earliest that coral was tried on" }
        return "\(version)"
    }
}

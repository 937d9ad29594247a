import ArgumentParser
import Coral

/// `coral fleet info`: the content of many stores.
struct FleetInfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Shows the number of objects, the size and the version of each store.",
        discussion: """
            EXAMPLES:
              coral fleet info 'postgresql://db.example.org/app?schema=tenant_*' --json
              coral fleet info *.sqlite
            """)

    @OptionGroup var options: FleetOptions

    @OptionGroup var source: ModelSource

    func run() throws {
        let source = source
        try FleetJob("info", title: "Reading", options).run(on: options.stores()) { store, _ in
            let open = try OpenStore(path: store, model: source, holdsState: false)
            defer { try? open.close() }
            let count = try EntityCounts(open).counts.reduce(0) { $0 + $1.count }
            let metadata = open.store.metadata ?? [:]
            let versions = (metadata[NSStoreModelVersionIdentifiersKey] as? [Any])?.map { "\($0)" } ?? []
            var outcome = FleetOutcome(.done, Quantity.count(count, "object"))
            outcome.objectCount = count
            outcome.uuid = open.store.identifier
            outcome.model = versions.filter { !$0.isEmpty }.joined(separator: ", ")
            #if !canImport(Darwin)
                let inspection = try open.header.inspection ?? StoreInspection(url: open.url)
                outcome.byteCount = inspection.byteCount
                outcome.hasHistory = inspection.hasHistory
                outcome.message += ", \(Quantity.bytes(inspection.byteCount))"
                if inspection.hasHistory { outcome.message += ", with history" }
            #endif
            if outcome.model?.isEmpty == false { outcome.message += ", version \(outcome.model ?? "")" }
            return outcome
        }
    }
}

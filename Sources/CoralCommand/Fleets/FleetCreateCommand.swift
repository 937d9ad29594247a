import ArgumentParser
import Coral

/// `coral fleet create`: creates many stores.
struct FleetCreateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Creates an empty store at each location that has none.",
        discussion: """
            In PostgreSQL each store is created in one transaction in a schema of its own. Stores that exist with this version \
            of the model are left as they are, so that the same command resumes a job.

            EXAMPLES:
              coral fleet create tenants.txt --model Notes.xcdatamodeld --history
              seq -f 'postgresql://db.example.org/app?schema=tenant_%04g' 1000 \\
                | coral fleet create - --model Notes.momd
            """)

    @OptionGroup var options: FleetOptions

    @Option(
        name: .long, help: ArgumentHelp("The model of the stores, or a store with that model.", valueName: "path"),
        completion: Completion.models)
    var model: String

    @Flag(name: .long, help: "The stores keep a history of their changes.")
    var history = false

    func run() throws {
        let keepsHistory = history
        let model = try ModelSource.model(at: model)
        let hint = "coral fleet migrate changes the version."
        let job = FleetJob("create", title: "Creating", isTrial: false, options)
        try job.run(on: options.stores(expands: false)) { store, progress in
            let url = URL(storeAt: store).withoutLinks
            if progress.isCancelled { throw CocoaError(.userCancelled) }
            if try url.storeExists() {
                let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                    ofType: url.storeType, at: url, options: [NSReadOnlyPersistentStoreOption: true])
                guard model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) else {
                    throw CommandError("There is a store with another version of the model. \(hint)")
                }
                return FleetOutcome(.unchanged, "exists")
            }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let made = try coordinator.addPersistentStore(
                ofType: url.storeType, configurationName: nil, at: url,
                options: [NSPersistentHistoryTrackingKey: keepsHistory as NSNumber])
            try coordinator.remove(made)
            return FleetOutcome(.done, "created")
        }
    }
}

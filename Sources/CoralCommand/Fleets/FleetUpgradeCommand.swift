import ArgumentParser
import Coral

#if STORE_ENGINE
    import struct SQLStores.StoreUpgrade
#endif

/// `coral fleet upgrade`: gives the tables of many stores the form that a new store has.
struct FleetUpgradeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upgrade",
        abstract: "Gives each store of an earlier version of Coral the tables of a new one. Writes to the stores.",
        discussion: """
            Each store is upgraded as coral upgrade does, while others use it.

            EXAMPLES:
              coral fleet upgrade tenants.txt --dry-run
              coral fleet upgrade 'postgresql://db.example.org/app?schema=tenant_*'
            """)

    @OptionGroup var options: FleetOptions

    @Flag(name: .long, help: "List the steps of each store, and change nothing.")
    var dryRun = false

    @OptionGroup var source: ModelSource

    func run() throws {
        #if !STORE_ENGINE
            throw CommandError("On this system, stores in files are opened by Core Data, and need no upgrade.")
        #else
            let (isTrial, given) = (dryRun, try source.givenModel())
            let job = FleetJob("upgrade", title: "Upgrading", isTrial: isTrial, options)
            try job.run(on: options.stores()) { store, progress in
                let url = try OpenStore.location(at: store).withoutLinks
                var upgrade = StoreUpgrade(url: url, model: given)
                upgrade.isCancelled = { progress.isCancelled }
                let plan = try upgrade.plan()
                let count = Quantity.count(plan.steps.count, "step")
                if !isTrial, !plan.steps.isEmpty { try upgrade.run() }
                var outcome = FleetOutcome(
                    plan.steps.isEmpty ? .unchanged : isTrial ? .findings : .done,
                    plan.steps.isEmpty ? "needs no upgrade" : isTrial ? "needs \(count)" : "\(count) done")
                if let first = plan.remaining.first {
                    outcome = FleetOutcome(.findings, outcome.message + ". " + first)
                }
                outcome.steps = plan.steps.map(\.summary)
                return outcome
            }
        #endif
    }
}

import ArgumentParser
import Coral
import CoralTools

/// `coral serve`: pages of a store for a browser on this machine.
struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Shows a store in a browser on this machine.",
        discussion: """
            The address is printed; it contains a secret and is valid until the command ends (ctrl-C). Only programs on \
            this machine can connect, and requests from other web sites are rejected.

            A field on every page finds text in all values. The first page has the largest entities with some of their \
            objects, pictures of all dates and of the model, and the objects that were viewed since the command \
            began. There are tables of objects with predicates, sorting and a choice of columns, a card for each object with links in both \
            directions, the diagram of the model, and the history of changes. A table can be written as CSV or JSON, or \
            as the coral query command that has the same result.

            Long operations are shown with their duration, and can be cancelled. For a damaged store, a page shows the \
            problems that the check finds, the objects that can be read, and the command that copies them to a new \
            store.

            The store is read-only. With --writable, attributes and relationships can be changed. Each change is \
            validated by the model's rules and can be undone; all are saved together, after a backup. Changes that are \
            not saved are lost when the command ends.

            EXAMPLES:
              coral serve Notes.sqlite
              coral serve Notes.sqlite --writable --port 8080
            """)

    @Argument(help: "The store.", completion: Completion.stores)
    var store: String

    @Flag(name: .long, help: "Allow changes of objects in the browser.")
    var writable = false

    @Option(name: .long, help: "The port. Default: any that is free.")
    var port: UInt16 = 0

    @OptionGroup var backup: BackupOption

    @OptionGroup var zone: TimeZoneOption

    @OptionGroup var proof: ProofOption

    @OptionGroup var quiet: QuietOption

    @OptionGroup var label: LabelOption

    @OptionGroup var source: ModelSource

    func validate() throws {
        if backup.noBackup, !writable { throw ValidationError("--no-backup requires --writable.") }
        if proof.proof, writable { throw ValidationError("--proof and --writable contradict each other.") }
    }

    func run() throws { try proof.prove(store, body: serve) }

    private func serve() throws {
        try StandardOutput.requireOpen()
        let (served, site) = try openedSite()
        let finished = DispatchSemaphore(value: 0)
        let outcome = ServerOutcome()
        // An interrupt ends the server.
        let progress = Progress.discreteProgress(totalUnitCount: 0)
        progress.cancellationHandler = { finished.signal() }
        if let served { served.interrupting(progress) } else { Interruption.shared.cancels(progress) }
        let port = port
        let task = Task {
            do {
                try await StoreServer(site, port: port).run { address in
                    try StandardOutput.report("\(address)\n")
                    StandardError.report("Open the address in a browser. Press ctrl-C to end.")
                }
            } catch {
                outcome.set(error)
            }
            finished.signal()
        }
        finished.wait()
        task.cancel()
        if !progress.isCancelled, let error = outcome.error { throw error }
        let count = served?.unsavedCount ?? 0
        if count > 0 {
            throw CommandError(
                "The changes of \(Quantity.count(count, "object")) were not saved: they are lost.")
        }
    }

    /// The open store, nil for one that is so damaged that it cannot be opened, and its pages.
    private func openedSite() throws -> (ServedStore?, StoreRouter) {
        do {
            let served = try ServedStore(
                path: store, model: source, isWritable: writable, backup: backup, zone: zone.zone,
                labels: label)
            return (served, StoreRouter(served, damaged: DamagedStore(path: store, model: source)))
        } catch {
            guard StoreProblem(damage: error) != nil else { throw error }
            StandardError.warn("The store is damaged. The page shows which of its objects can be read.")
            return (nil, StoreRouter(nil, damaged: DamagedStore(path: store, model: source, error: error)))
        }
    }
}

/// The error of a server's task. Unchecked, because its state is protected by a lock.
private final class ServerOutcome: @unchecked Sendable {
    private let lock = NSLock()
    private var stored: (any Error)?

    var error: (any Error)? { lock.withLock { stored } }

    func set(_ error: any Error) { lock.withLock { stored = error } }
}

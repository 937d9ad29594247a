import ArgumentParser
import Coral

#if STORE_ENGINE
    import struct SQLStores.StoreMove
#endif

/// `coral fleet move`: moves stores to another server while they are used.
struct FleetMoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Moves stores in PostgreSQL to another server while they are used. Writes to both servers.",
        discussion: """
            Each store is copied in one state to the schema of the same name of --database, which must not have a store. Triggers \
            note the rows that others write during the copy; these are copied again, and both copies are compared. Then the tables are \
            locked, the last rows are copied, and the store is at its new place. It keeps its identifier, its keys and its \
            history, so that archived references and tokens stay valid.

            Programs that have the store open get an error at its former place, which names the new one, and must open it \
            there. What they have saved before is there. The former tables are kept in a schema whose name begins with \
            moved_, until you remove it: DROP SCHEMA moved_… CASCADE. \
            Privileges that you have granted to others are not copied.

            A move that fails or is interrupted leaves the store where it was. After the process was killed, the same \
            command begins anew or completes the move; --abandon removes what it has left. The user must own the tables, \
            and may create schemas in both databases. Add direct=host:port to the URL of a pooler.

            EXAMPLES:
              coral fleet move 'postgresql://db.example.org/app?schema=acme' \\
                --database postgresql://db2.example.org/app
              coral fleet move tenants.txt --database postgresql://db2.example.org/app
            """)

    @OptionGroup var options: FleetOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The database to which the stores are moved. Each keeps the name of its schema.", valueName: "url"))
    var database: String

    @Flag(name: .long, help: "Remove what moves that were killed have left, and move nothing.")
    var abandon = false

    func validate() throws {
        guard ServerURLs.isOne(database) else {
            throw ValidationError("--database is a URL that begins with postgresql://.")
        }
        guard !database.contains("schema=") else {
            throw ValidationError("--database names a database. Each store keeps the name of its schema.")
        }
    }

    func run() throws {
        #if !STORE_ENGINE
            throw CommandError("On this system, stores are files, and are moved as files.")
        #else
            let (target, abandons) = (URL(storeAt: database), abandon)
            let job = FleetJob(abandons ? "move --abandon" : "move", title: "Moving", isTrial: false, options)
            try job.run(on: options.stores()) { store, progress in
                guard ServerURLs.isOne(store) else {
                    throw CommandError("A store in a file is moved as a file, with coral copy.")
                }
                var move = try StoreMove(from: URL(storeAt: store), toDatabase: target)
                if abandons {
                    try move.abandon()
                    return FleetOutcome(.done, "what a move has left is removed")
                }
                progress.totalUnitCount = 1000
                move.didComplete = { progress.completedUnitCount = Int64($0 * 1000) }
                move.isCancelled = { progress.isCancelled }
                let place = move.destination.storeName
                return switch try move.run() {
                case .moved(let count): FleetOutcome(.done, "\(Quantity.count(count, "row")) moved to \(place)")
                case .finished: FleetOutcome(.done, "the move to \(place) is completed")
                case .unchanged: FleetOutcome(.unchanged, "was moved to \(place)")
                }
            }
        #endif
    }
}

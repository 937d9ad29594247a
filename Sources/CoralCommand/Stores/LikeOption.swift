import ArgumentParser
import Coral

/// The option of commands that create a store: another store, whose join tables the new one's are named after.
struct LikeOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "A store of the same model, written by Apple's Core Data: join tables of the new store have the same names.",
            valueName: "store"),
        completion: Completion.stores)
    var like: String?

    /// Rejects the option for a new store in PostgreSQL, whose join tables have the names that the engine chooses.
    ///
    /// Throws `CommandError`.
    func requireFile(_ url: URL) throws {
        guard like != nil, url.isOfServer else { return }
        throw CommandError("--like requires a new store in a file.")
    }

    /// The location of the other store, resolved; nil without the option. Throws `CommandError` if there is none, or if the
    /// names of tables cannot be chosen on this system.
    func url() throws -> URL? {
        guard let like else { return nil }
        #if !STORE_ENGINE
            throw CommandError(
                "On this system Core Data chooses the names of join tables; --like \(like) has no effect.")
        #else
            return try OpenStore.file(
                at: like, because: "--like requires a store that was written by Apple's Core Data, which is a file."
            ).withoutLinks
        #endif
    }
}

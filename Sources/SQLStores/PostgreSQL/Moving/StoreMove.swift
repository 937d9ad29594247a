import AtomicFiles
import CoreDataErrors
import Foundation
import ManagedObjects

/// Moves a store in PostgreSQL to another schema or server, while others read and write it.
///
/// The store keeps its identifier, its primary keys and its history, so that archived references and tokens are valid at the new
/// place. Others are stopped for the last rows only. Programs that use the store at its former place afterwards get an error with
/// ``MovedStoreURLErrorKey``. The copied tables stay there, in a schema whose name begins with `moved_`.
///
/// The user must own the tables, and may create schemas in both databases.
package struct StoreMove {
    package enum Outcome: Equatable, Sendable {
        /// - Parameter rowCount: The number of rows of all tables that were copied at first.
        case moved(rowCount: Int)
        /// An earlier move had been interrupted at its end, and is now complete.
        case finished
        /// An earlier move has completed this one.
        case unchanged
    }

    package let source: URL
    package let destination: URL
    /// Called with the completed part, from 0 to 1.
    package var didComplete: ((_ fraction: Double) -> Void)?
    /// Called before others are stopped.
    package var willSwitch: (() -> Void)?
    /// Called repeatedly. A task that is cancelled ends the move too.
    package var isCancelled: (() -> Bool)?

    package init(from source: URL, to destination: URL) { (self.source, self.destination) = (source, destination) }

    /// The move of a store to the schema of the same name in another database.
    ///
    /// - Throws: Code 134080 if one of the URLs is not that of a server.
    package init(from source: URL, toDatabase database: URL) throws {
        #if PostgreSQL
            let schema = try PostgreSQLLocation(source).schema
            _ = try PostgreSQLLocation(database)
            self.init(from: source, to: PostgreSQLLocation.url(database, withSchema: schema) ?? database)
        #else
            self.init(from: source, to: database)
        #endif
    }

    /// The URLs as marks and messages contain them.
    var sourceName: String { source.withoutPassword.absoluteString }
    var destinationName: String { destination.withoutPassword.absoluteString }

    /// Moves the store. If the move fails or is cancelled, the store is where it was. If the process is killed, the same move begins
    /// anew, or completes the former one. Cost: all rows pass through this process, and are compared by the servers.
    ///
    /// - Throws: Code 260 if there is no store, 516 if there is one at the destination, 134080 if it was moved elsewhere, 3072 if
    ///   the move is cancelled, 134090 if others keep the tables for a minute, and errors of the servers.
    package func run() throws -> Outcome {
        #if PostgreSQL
            if !source.isFileURL, !destination.isFileURL { return try PostgreSQLMove(self).run() }
        #endif
        throw CocoaError(
            .persistentStoreOpen, "Only stores in PostgreSQL are moved while others use them.", url: source)
    }

    /// Removes what a move that was killed has left: triggers at the source, which note the written rows, and the draft at the
    /// destination.
    package func abandon() throws {
        #if PostgreSQL
            if !source.isFileURL, !destination.isFileURL { try PostgreSQLMove(self).abandon() }
        #endif
    }
}

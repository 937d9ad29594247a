#if PostgreSQL
    import Synchronization

    /// Determines when the marks of old transactions are deleted: with one of every 500 transactions, so that their
    /// table stays small.
    final class SaveMarks: Sendable {
        private let count = Atomic(0)
        private static let interval = 500

        /// A statement with a text that changes with each commit, for processes to which notifications do not arrive. It reads
        /// the marks of an hour.
        static let state = "SELECT concat(count(*), ' ', sum(hashtext(Z_MARK::text)::bigint)) FROM Z_SAVEMARK"

        /// The end of the script that begins a transaction: empty, or the deletion of marks that no process reads any more.
        var cleanUp: String {
            guard count.add(1, ordering: .relaxed).oldValue % Self.interval == 0 else { return "" }
            return "; DELETE FROM Z_SAVEMARK WHERE Z_MARK IN (SELECT Z_MARK FROM Z_SAVEMARK "
                + "WHERE Z_TIME < now() - interval '1 hour' FOR UPDATE SKIP LOCKED)"
        }
    }
#endif

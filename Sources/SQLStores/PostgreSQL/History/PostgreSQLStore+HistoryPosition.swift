#if PostgreSQL
    import Foundation
    import ManagedObjects
    import PostgreSQLClient

    // Waiting for saves that are not committed, by whose numbers a history that is numbered concurrently is held back.

    extension PostgreSQLStore {
        /// How long a reader waits for transactions that are not committed.
        private static let patience = Duration.seconds(1)

        /// The position of the history for a reader. It shows all that was committed before, unless another save that began earlier stays
        /// open for longer than ``patience``: readers do not wait for that one again.
        func readablePosition(_ content: Content) throws -> HistoryPosition {
            var position = try position(content)
            // In a transaction of its own, a program would wait for itself.
            guard position.hidesTransactions, LentConnection.of(content.pool) == nil else { return position }
            let newest = position.newest
            let end = ContinuousClock.now + Self.patience
            var pause = 0.001
            while let bound = position.bound, bound <= newest {
                guard !content.numbering.isStanding(bound), ContinuousClock.now < end else {
                    content.numbering.noteStanding(bound)
                    follow(newest, content)
                    return position
                }
                if FetchInterruption.isRequested?() == true { throw CocoaError(.userCancelled) }
                Thread.sleep(forTimeInterval: pause)
                pause = min(pause * 2, 0.02)
                position = try self.position(content)
            }
            return position
        }

        /// The position, for which transactions of other stores do not matter.
        private func position(_ content: Content) throws -> HistoryPosition {
            // A snapshot for each: what is settled must be older than the one that shows the history.
            let position = try reading(nil, .statements) { try content.numbering.position(in: $0.connection) }
            guard position.hidesTransactions, var settled = position.settled else { return position }
            settled.id = try reading(nil, .statements) {
                try HistoryNumbering.settled(for: position.newest, offset: settled.offset, in: $0.connection)
            }
            return try reading(nil, .statements) {
                try content.numbering.position(in: $0.connection, settled: settled)
            }
        }

        /// Notifies the observers when a transaction can be read that is held back now. The end of the other transaction is not notified
        /// by the server: it may be one of another program.
        private func follow(_ number: Int64, _ content: Content) {
            guard content.commits.isObserved, content.numbering.beginFollowing() else { return }
            follow(number, content, after: 0.01)
        }

        private func follow(_ number: Int64, _ content: Content, after pause: TimeInterval) {
            DispatchQueue.global().asyncAfter(deadline: .now() + pause) { [weak self] in
                // If the server cannot be reached, the observers find out, and follow again.
                if let position = try? self?.position(content), let bound = position.bound, bound <= number {
                    self?.follow(number, content, after: min(pause * 1.5, 1))
                    return
                }
                content.numbering.endFollowing()
                content.commits.didWrite()
            }
        }
    }
#endif

#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import SQLiteConnections
    import StoreSupport

    // Writes save plans, each in one transaction.

    extension PostgreSQLStore {
        /// Keys that are left of an earlier reservation, or of one in a transaction of its own, so that writers do not wait for each
        /// other until they commit. Keys that are not used are lost.
        package func reserveKeys(entity: NSEntityDescription, count: Int) throws -> ClosedRange<Int64> {
            let content = try content()
            return try reserveKeys(of: content.schema.requireEntity(entity.rootEntity), count: count, content)
        }

        func reserveKeys(of root: SQLEntity, count: Int, _ content: Content) throws -> ClosedRange<Int64> {
            do {
                let count = Int64(max(1, count))
                if let keys = content.keys.take(count, ofRoot: root.number) { return keys }
                let (reserved, dropCount) = try reserve(count, root.number, root.entity.name, content)
                return content.keys.take(count, from: reserved, ofRoot: root.number, dropCount: dropCount)
            } catch {
                throw PostgreSQLFailure.translated(error, .saving, url: url)
            }
        }

        /// Reserves keys in a transaction of its own, and some more.
        private func reserve(
            _ count: Int64, _ number: Int64, _ name: String?, _ content: Content
        ) throws -> (keys: ClosedRange<Int64>, dropCount: Int) {
            let amount = content.keys.amount(for: count, ofRoot: number)
            // Keys that were reserved by a statement whose result was lost are lost too.
            return try content.waitingForServer { connection in
                let dropCount = content.keys.dropCount
                guard connection.isPooled else { return (try reserve(amount, number, name, in: connection), dropCount) }
                try content.begin("BEGIN", in: connection)
                let keys = try reserve(amount, number, name, in: connection)
                try connection.execute(script: "COMMIT")
                return (keys, dropCount)
            }
        }

        /// Keys that are left of an earlier reservation, or of one in the transaction of the connection, until whose end the keys' row is
        /// locked. If the transaction fails, the server gives the same keys to others, so that none are kept.
        func reserveKeys(
            entity: NSEntityDescription, count: Int, _ content: Content, in connection: PostgreSQLConnection
        ) throws -> ClosedRange<Int64> {
            let root = try content.schema.requireEntity(entity.rootEntity)
            let count = Int64(max(1, count))
            return try content.keys.take(count, ofRoot: root.number)
                ?? reserve(count, root.number, root.entity.name, in: connection)
        }

        private func reserve(
            _ amount: Int64, _ number: Int64, _ name: String?, in connection: PostgreSQLConnection
        ) throws -> ClosedRange<Int64> {
            let result = try connection.execute(
                """
                INSERT INTO Z_PRIMARYKEY AS p (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES ($1, $3, 0, $2) \
                ON CONFLICT (Z_ENT) DO UPDATE SET Z_MAX = COALESCE(p.Z_MAX, 0) + $2 RETURNING Z_MAX
                """, [.integer(number), .integer(amount), .text(name ?? "")])
            let end = result.rowCount == 1 ? result.integer(0, 0) : 0
            guard end >= amount else { throw CocoaError.noPrimaryKeysLeft(ofEntity: name, place) }
            return (end - amount + 1)...end
        }

        /// Reserves the numbers of a plan's changes in the history, unless enough are left. The transaction would otherwise do so, and lock
        /// their row until it ends.
        private func reserveChangeNumbers(_ plan: SavePlan) throws {
            let content = try content()
            let (count, number) = (Int64(plan.changeCount), HistoryTables.Number.change)
            guard content.history != nil, content.numbering.isConcurrent, !isReadOnly,
                !content.keys.holds(count, ofRoot: number)
            else { return }
            do {
                let (numbers, dropCount) = try reserve(count, number, "CHANGE", content)
                content.keys.add(numbers, ofRoot: number, dropCount: dropCount)
            } catch {
                throw PostgreSQLFailure.translated(error, .saving, url: url)
            }
        }

        package func write(_ plan: SavePlan) throws -> SaveOutcome {
            if plan.isEmpty, changedMetadata == nil { return SaveOutcome() }
            try reserveChangeNumbers(plan)
            if let outcome = try writeAtOnce(plan) { return outcome }
            return try inSaveTransaction({ try $0.write(plan) }) { try findConflicts(of: plan, $0) }
        }

        /// Writes a plan with its commit in one round trip.
        ///
        /// - Returns: Nil if nothing was written, because the plan depends on results, others have changed its rows, or a statement has
        ///   failed. The plan must then be written in a transaction whose results are examined before the commit.
        private func writeAtOnce(_ plan: SavePlan) throws -> SaveOutcome? {
            let content = try content()
            guard !isReadOnly, changedMetadata == nil, PostgreSQLPlanWriter.canSendAtOnce(plan, content),
                LentConnection.of(content.pool) == nil
            else { return nil }
            do {
                var outcome = SaveOutcome()
                let isWritten = try content.committing { connection, pipeline in
                    var writer = PostgreSQLPlanWriter(
                        store: number, content: content, connection: connection, notices: nil)
                    try writer.sendAtOnce(plan, by: pipeline)
                    outcome = writer.outcome
                }
                guard isWritten else { return nil }
                content.partitions?.didSave(content.pool)
                return outcome
            } catch {
                throw PostgreSQLFailure.translated(error, .saving, url: url)
            }
        }

        package func inSaveTransaction<Result>(_ body: (any SaveTransaction) throws -> Result) throws -> Result {
            try inSaveTransaction(body) { _ in }
        }

        /// - Parameter taken: Called if the transaction has been rolled back because another one has written the same unique value.
        private func inSaveTransaction<Result>(
            _ body: (any SaveTransaction) throws -> Result, ifTaken taken: (Content) throws -> Void
        ) throws -> Result {
            let content = try content()
            guard !isReadOnly else {
                throw CocoaError(.fileWriteNoPermission, "The store was added for reading only.", url: place)
            }
            do {
                // A unique value that another transaction has removed again leaves no conflict; the work is then repeated.
                for _ in 0..<8 {
                    do {
                        let (result, writesMetadata) = try content.writing { connection, notices in
                            let transaction = PostgreSQLSaveTransaction(self, content, connection, notices)
                            let lent = LentConnection(
                                connection, of: content.pool, within: LentConnection.current.value)
                            return try LentConnection.current.withValue(lent) {
                                (try body(transaction), transaction.writesMetadata)
                            }
                        }
                        if writesMetadata { didSaveMetadata() }
                        content.partitions?.didSave(content.pool)
                        return result
                    } catch let error as PostgreSQLError where error.isUniqueViolation {
                        try taken(content)
                    }
                }
            } catch {
                throw PostgreSQLFailure.translated(error, .saving, url: url)
            }
            throw CocoaError(
                .persistentStoreSave,
                "The save was tried eight times, and each time other processes changed the same unique values.",
                url: place)
        }

        /// - Throws: ``SaveConflicts`` if rows of the plan have unique values of other rows.
        private func findConflicts(of plan: SavePlan, _ content: Content) throws {
            let conflicts = try content.pool.withConnection { connection in
                try content.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", in: connection)
                var finder = PostgreSQLConflictFinder(content: content, store: number, connection: connection)
                try finder.addTaken(plan)
                try connection.execute(script: "COMMIT")
                return finder.conflicts
            }
            // Other processes may have used keys that this store has reserved.
            if conflicts.taken.isEmpty { content.keys.drop() }
            guard conflicts.isEmpty else { throw conflicts }
        }
    }

    extension PostgreSQLStore.Content {
        /// Consecutive numbers of changes in the history: some that are left, or else others that are reserved in the transaction of the
        /// connection.
        func changeNumbers(_ count: Int64, in connection: PostgreSQLConnection) throws -> ClosedRange<Int64> {
            if let numbers = keys.take(count, ofRoot: HistoryTables.Number.change) { return numbers }
            let result = try connection.execute(
                "UPDATE Z_PRIMARYKEY SET Z_MAX = COALESCE(Z_MAX, 0) + $1 WHERE Z_ENT = \(HistoryTables.Number.change) RETURNING Z_MAX",
                [.integer(count)])
            let end = result.rowCount == 1 ? result.integer(0, 0) : count
            return (end - count + 1)...end
        }

        /// Sends the statements of a transaction with its commit, and notifies other processes.
        ///
        /// The lock in which histories are numbered is held without waiting for this process.
        ///
        /// - Parameter send: Sends the statements. Those after one that fails are not executed, the commit included.
        /// - Returns: False if nothing was committed. The work can then be repeated in another way, which finds out why.
        /// - Throws: Errors after which it must not be repeated.
        func committing(_ send: (PostgreSQLConnection, PostgreSQLPipeline) throws -> Void) throws -> Bool {
            let mark = UUID().uuidString.lowercased()
            var isSent = false
            do {
                return try pool.withConnection { connection in
                    guard !connection.isPooled else { return false }
                    try connection.beginWithNextStatements(beginning(mark))
                    isSent = true
                    do {
                        var count = 0
                        let outcome = try connection.pipelined { pipeline in
                            try send(connection, pipeline)
                            count = pipeline.statementCount
                            try pipeline.send("COMMIT")
                            // See ``PostgreSQLConnection/commit(notifying:)``.
                            try pipeline.send("NOTIFY \(PostgreSQLConnection.quoted(identifier))")
                        }
                        if outcome.results.count > count { return true }
                        // Who ends a statement, or limits its time, means the save: it does not wait once more.
                        if let failure = outcome.failure, failure.isConnectionLost || failure.hasEndedWaiting {
                            throw failure
                        }
                        try connection.rollBack()
                        return false
                    } catch {
                        if connection.isOpen { try? connection.rollBack() }
                        throw error
                    }
                }
            } catch var error as PostgreSQLError where error.isConnectionLost {
                pool.closeIdle()
                // A server that says why it ends the connection has told before whether it has committed.
                error.isOutcomeUnknown = isSent && error.state == nil
                guard try isCommitted(mark, after: error) else { return false }
                _ = try? pool.withConnection {
                    try $0.execute(script: "NOTIFY \(PostgreSQLConnection.quoted(identifier))")
                }
                return true
            }
        }

        /// The statements that begin the transaction of a save.
        ///
        /// Writers find rows by keys: without statistics, the planner would read a table of up to some hundred thousand rows instead.
        private func beginning(_ mark: String) -> [(sql: String, parameters: [PostgreSQLValue])] {
            let settings = Self.beginning + (derivesFromOthers ? PostgreSQLDerivedTriggers.reporting : [])
            var statements: [(sql: String, parameters: [PostgreSQLValue])] = []
            for sql in settings { statements.append((sql: sql, parameters: [])) }
            let marking = "INSERT INTO Z_SAVEMARK (Z_MARK) VALUES ($1::text::uuid)"
            statements.append((sql: marking, parameters: [.text(mark)]))
            for sql in marks.cleanUp { statements.append((sql: sql, parameters: [])) }
            return statements
        }

        /// Runs work in a transaction, and notifies other processes.
        ///
        /// The work is repeated in a new transaction if the server has ended the first one because of concurrent ones, or if
        /// the connection was lost and the server has not committed the transaction.
        ///
        /// - Parameters:
        ///   - isRepeatable: Whether the work may be repeated.
        ///   - body: The work. Its second parameter collects the rows whose derived attributes triggers change, if there are any;
        ///     texts of theirs are computed after the work.
        func writing<Result>(
            isRepeatable: Bool = true, _ body: (PostgreSQLConnection, DerivedNotices?) throws -> Result
        ) throws -> Result {
            var attempt = 0
            while true {
                attempt += 1
                let mark = UUID().uuidString.lowercased()
                var made: Result?
                var isCommitting = false
                do {
                    try pool.withConnection { connection in
                        // Ended if an error is thrown, because the pool closes connections in a transaction.
                        let notices = derivesFromOthers ? DerivedNotices() : nil
                        connection.notice = notices?.take
                        defer { connection.notice = nil }
                        do {
                            if connection.isPooled || keepsOldValues && !connection.keepsSession {
                                let notes = keepsOldValues ? PostgreSQLOldValues.setup(for: .transaction) + "; " : ""
                                let marking = "INSERT INTO Z_SAVEMARK (Z_MARK) VALUES ('\(mark)')"
                                let script =
                                    Self.beginning + (derivesFromOthers ? PostgreSQLDerivedTriggers.reporting : [])
                                try begin(
                                    script.joined(separator: "; ") + "; " + notes
                                        + ([marking] + marks.cleanUp).joined(separator: "; "), in: connection)
                            } else {
                                try connection.beginWithNextStatements(self.beginning(mark))
                            }
                            made = try body(connection, notices)
                            try notices?.writeTexts(of: schema, in: connection)
                        } catch {
                            if connection.isOpen { try? connection.rollBack() }
                            throw error
                        }
                        isCommitting = true
                        try connection.commit(notifying: identifier)
                    }
                } catch let error as PostgreSQLError where error.isSerializationFailure && isRepeatable && attempt < 20
                {
                    StoreObservation.report(.retry, error.state ?? "", count: attempt)
                    // Transactions that waited for each other should not begin again at the same time.
                    Thread.sleep(forTimeInterval: .random(in: 0...0.005) * Double(attempt))
                    continue
                } catch var error as PostgreSQLError where error.isConnectionLost {
                    pool.closeIdle()
                    error.isOutcomeUnknown = isCommitting
                    guard try isCommitted(mark, after: error) else {
                        error.isOutcomeUnknown = false
                        guard isRepeatable, attempt < 5 else { throw error }
                        StoreObservation.report(.retry, error.state ?? "", count: attempt)
                        continue
                    }
                    // The notification may have been lost with the connection.
                    _ = try? pool.withConnection {
                        try $0.execute(script: "NOTIFY \(PostgreSQLConnection.quoted(identifier))")
                    }
                }
                if let made { return made }
            }
        }

        private static let beginning = [
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", "SET LOCAL enable_seqscan = off",
        ]

        /// Whether a transaction was committed whose connection was lost.
        ///
        /// The mark is inserted once more: the server waits until the transaction has ended, if it still runs, and ignores the
        /// insertion if the mark exists. If it is inserted, the transaction can no longer be committed. It is inserted with a second
        /// mark then: the answer to the insertion may be lost like that to the commit, and the first mark exists when it is repeated.
        /// The mark of a commit is changed, because this is acknowledged when synchronous standbys have it, and then they have the
        /// transaction too.
        ///
        /// - Throws: The error of the transaction, if its outcome cannot be found out: the server cannot be reached for 30 seconds, or
        ///   the store has been migrated or moved since. The error of that, if the commit had not begun.
        private func isCommitted(_ mark: String, after lost: PostgreSQLError) throws -> Bool {
            do {
                return try waitingForServer { connection in
                    let marks: [PostgreSQLValue] = [.text(mark), .text(SaveMarks.refusal(of: mark))]
                    let refused = try connection.execute(SaveMarks.refuse, marks)
                    guard refused.affectedCount == 0 else { return false }
                    return try connection.execute(SaveMarks.confirm, marks).affectedCount == 1
                }
            } catch let error {
                throw lost.isOutcomeUnknown || error is PostgreSQLError ? lost : error
            }
        }

        /// Calls a block with a connection, possibly several times: again as long as the server cannot be reached, for
        /// at most 30 seconds, in which it is restarted or a standby is promoted.
        func waitingForServer<Result>(_ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
            let end = Date(timeIntervalSinceNow: 30)
            while true {
                do {
                    return try pool.withConnection(body)
                } catch let error as PostgreSQLError where error.isUnavailable && Date() < end {
                    pool.closeIdle()
                    Thread.sleep(forTimeInterval: 0.1)
                }
            }
        }
    }
#endif

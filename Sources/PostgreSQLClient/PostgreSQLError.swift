#if PostgreSQL
    /// An error of the server, or of the connection to it.
    package struct PostgreSQLError: Error, Sendable, CustomStringConvertible {
        /// The five characters of the SQLSTATE. Nil if the error is not from the server.
        package var state: String?
        /// The server's primary message, or libpq's.
        package var message: String
        package var detail: String?
        /// The violated constraint.
        package var constraint: String?
        /// Whether the connection has been lost: it is not known whether the server has executed the statement.
        package var isConnectionLost = false
        /// Whether the connection was lost during a commit, and it could not be determined whether it was executed.
        package var isOutcomeUnknown = false

        package init(_ message: String, state: String? = nil, isConnectionLost: Bool = false) {
            self.message = message
            self.state = state
            self.isConnectionLost = isConnectionLost
        }

        package var description: String {
            (state.map { "\($0): " } ?? "") + message + (detail.map { " (\($0))" } ?? "")
        }

        /// Another row already has the unique values.
        package var isUniqueViolation: Bool { state == "23505" }
        /// The server has rolled the transaction back because of concurrent ones (a serialization failure or a deadlock). It
        /// may be repeated.
        package var isSerializationFailure: Bool { state == "40001" || state == "40P01" }
        /// The statement was cancelled by a request or by a time limit.
        package var isCancelled: Bool { state == "57014" }
        /// The statement was cancelled, or has waited for a lock as long as it may.
        package var hasEndedWaiting: Bool { isCancelled || state == "55P03" }
        /// A table, column or schema does not exist.
        package var isUndefined: Bool { ["42P01", "42703", "3F000"].contains(state) }
        /// The server accepts no statements: it starts, stops, has too many clients, or is a standby for reading only.
        package var isUnavailable: Bool {
            isConnectionLost || state?.hasPrefix("57P0") == true || state?.hasPrefix("08") == true || state == "53300"
                || state == "25006"
        }
    }
#endif

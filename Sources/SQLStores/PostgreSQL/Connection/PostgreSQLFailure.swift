#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import PostgreSQLClient

    /// Translates the errors of PostgreSQL to Core Data's.
    enum PostgreSQLFailure {
        /// The key of the SQLSTATE in the user info.
        static let stateKey = "PostgreSQLState"

        /// Core Data's error for an error of PostgreSQL's. Other errors are returned unchanged.
        static func translated(_ error: any Error, _ activity: StoreActivity, url: URL?) -> any Error {
            guard let error = error as? PostgreSQLError else { return error }
            let (code, sentence) = description(of: error, activity)
            var userInfo: [String: Any] = [NSLocalizedFailureReasonErrorKey: error.description]
            userInfo[stateKey] = error.state
            return CocoaError(code, sentence, url: PostgreSQLLocation.withoutPassword(url), userInfo: userInfo)
        }

        private static func description(
            of error: PostgreSQLError, _ activity: StoreActivity
        ) -> (code: CocoaError.Code, sentence: String) {
            if error.isOutcomeUnknown {
                return (
                    .persistentStoreSave,
                    "The connection was lost during a commit, and the server did not answer afterwards. It is not known whether "
                        + "the transaction was committed: \(error.message)"
                )
            }
            if error.isCancelled {
                return (.persistentStoreTimeout, "The server has ended a statement: \(error.message)")
            }
            switch error.state?.prefix(2) {
            case "28": return (.fileReadNoPermission, "The server rejected the user: \(error.message)")
            case "3D": return (.fileReadNoSuchFile, "The server does not have the database: \(error.message)")
            case "53": return (.fileWriteOutOfSpace, "The server has insufficient resources: \(error.message)")
            case "42" where error.state == "42501":
                return (
                    activity == .saving ? .fileWriteNoPermission : .fileReadNoPermission,
                    "The user lacks a privilege: \(error.message)"
                )
            case "42":
                return (activity.code, "The tables of the store are not those of the model: \(error.message)")
            case "25" where error.state == "25P03" || error.state == "25P04":
                return (
                    .persistentStoreTimeout, "The server has ended a transaction that took too long: \(error.message)"
                )
            default: break
            }
            if error.isUnavailable {
                return (
                    .persistentStoreOpen, "The server cannot be reached, or accepts no statements: \(error.message)"
                )
            }
            return (activity.code, "PostgreSQL rejected a statement: \(error.message)")
        }
    }
#endif

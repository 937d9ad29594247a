import ArgumentParser
import Coral

/// A point in a history as a command line argument: a date, the number of a transaction, or a token in Base64.
struct HistoryPoint: ExpressibleByArgument {
    let text: String

    init?(argument: String) { text = argument }

    /// The description in the help.
    static let meaning = "a date such as 2026-01-31 or 2026-01-31T12:00:00Z, a transaction number, or a token in Base64"

    /// The point as a date; nil if the text is not a date. A day begins at midnight.
    ///
    /// - Parameter zone: The time zone of a date that does not state one; nil for UTC.
    func date(in zone: TimeZone? = nil) -> Date? { TypedConstants.date(text, in: zone) }

    /// The end of a part of a history.
    enum End {
        case date(Date)
        case number(Int64)

        /// A date is not included, and a transaction with a number is.
        func includes(_ transaction: NSPersistentHistoryTransaction) -> Bool {
            switch self {
            case .date(let date): transaction.timestamp < date
            case .number(let number): transaction.transactionNumber <= number
            }
        }
    }

    /// The point as the end of a part. Throws `CommandError` if the text is neither a date nor a number.
    func end(zone: TimeZone?) throws -> End {
        if let date = date(in: zone) { return .date(date) }
        if let number = Int64(text) { return .number(number) }
        throw CommandError(
            "\"\(text)\" is not an end of a history: give a date such as 2026-01-31, or the number of a transaction.")
    }

    /// The point at which reading starts.
    ///
    /// - Parameter zone: The time zone of a date that does not state one; nil for UTC.
    /// Throws `CommandError` if the text is not a point.
    func start(in open: OpenStore, zone: TimeZone? = nil) throws -> HistoryPages.Start {
        if let date = date(in: zone) { return .date(date) }
        return .token(try token(in: open))
    }

    /// The point as a token. Throws `CommandError` if the text is neither a number nor a token.
    func token(in open: OpenStore) throws -> NSPersistentHistoryToken {
        if let token = try? NSPersistentHistoryToken.token(from: text, storeUUID: open.store.identifier ?? "") {
            return token
        }
        throw CommandError("\"\(text)\" is not a point in a history. Give \(Self.meaning).")
    }
}

extension OpenStore {
    /// Rethrows errors of reading the history, with sentences for a store without a history and a point that has been
    /// deleted.
    func readingHistory<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as CocoaError where error.errorCode == NSPersistentStoreUnsupportedRequestTypeError {
            throw CommandError("\(url.storeName) keeps no history of its changes.")
        } catch let error as CocoaError where error.errorCode == NSPersistentHistoryTokenExpiredError {
            throw CommandError(
                "The history after that point is not complete: a part of it has been deleted, or the store has no such "
                    + "transaction. Without --since the remaining history is shown.")
        }
    }
}

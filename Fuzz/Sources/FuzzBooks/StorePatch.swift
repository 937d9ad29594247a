import Foundation
import GRDB

/// Changes a store with SQL, as another program could.
public struct StorePatch {
    private let url: URL

    public init(url: URL) { self.url = url }

    /// Runs a statement with one parameter, the value, as a blob or as text.
    public func run(_ statement: String, _ value: Data, asText: Bool = false) throws {
        let queue = try DatabaseQueue(path: url.path)
        let argument = asText ? String(decoding: value, as: UTF8.self).databaseValue : value.databaseValue
        try queue.writeWithoutTransaction { try $0.execute(sql: statement, arguments: [argument]) }
        try queue.close()
    }
}

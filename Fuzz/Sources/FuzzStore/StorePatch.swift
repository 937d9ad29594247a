import Foundation
import GRDB

/// A store as another program writes to it.
struct StorePatch {
    let url: URL

    func run(_ statement: String, _ value: Data) throws {
        let queue = try DatabaseQueue(path: url.path)
        try queue.writeWithoutTransaction { try $0.execute(sql: statement, arguments: [value]) }
        try queue.close()
    }
}

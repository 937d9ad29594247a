@testable import ManagedObjects

extension RowPage {
    /// The primary keys of all rows.
    var keys: [Int64] { (0..<count).map { primaryKey(ofRow: $0) } }

    /// The versions of all rows.
    var versions: [Int64] { (0..<count).map { version(ofRow: $0) } }
}

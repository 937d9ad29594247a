import Foundation
import GRDB

/// The values of one row of a store whose content is not trusted. A value is returned only in the type that it has; for any
/// other type the result is nil.
struct StoredRow {
    private let values: [DatabaseValue]

    init(_ values: [DatabaseValue]) { self.values = values }

    /// The integer in a column, counted from 0.
    func integer(_ column: Int) -> Int64? {
        if case .int64(let number) = values[column].storage { number } else { nil }
    }

    func text(_ column: Int) -> String? {
        if case .string(let text) = values[column].storage { text } else { nil }
    }

    /// The bytes of a blob, or of a UTF-8 text, which some programs write instead of a blob.
    func data(_ column: Int) -> Data? {
        switch values[column].storage {
        case .blob(let data): data
        case .string(let text): Data(text.utf8)
        case .null, .int64, .double: nil
        }
    }

    func isNull(_ column: Int) -> Bool { values[column].isNull }

    /// A primary key in the form used for objects: `p12`. A value that is not an integer is returned as an SQL literal.
    func key(_ column: Int) -> String {
        switch values[column].storage {
        case .int64(let number): "p\(number)"
        case .null: "NULL"
        case .double(let number): "\(number)"
        case .string(let text): "'\(text.prefix(40))'"
        case .blob(let data): "a blob of \(data.count) bytes"
        }
    }
}

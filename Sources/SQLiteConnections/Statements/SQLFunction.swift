import Foundation
import GRDB
import GRDBSQLite
import SQLStatements

/// A function that statements of a connection call. Texts are passed with their lengths: those of GRDB's functions end at the first
/// NUL, which a stored text may contain.
package struct SQLFunction {
    package let name: String
    private let argumentCount: Int
    private let isPure: Bool
    private let body: Body

    /// - Parameter isPure: Whether equal arguments always have equal results.
    package init(
        _ name: String, argumentCount: Int, isPure: Bool = false, _ compute: @escaping (Arguments) throws -> ColumnValue
    ) {
        self.name = name
        self.argumentCount = argumentCount
        self.isPure = isPure
        body = Body(compute)
    }

    private final class Body {
        let compute: (Arguments) throws -> ColumnValue

        init(_ compute: @escaping (Arguments) throws -> ColumnValue) { self.compute = compute }
    }

    /// Registers the function with a connection.
    package func add(to database: Database) throws {
        // SQLite calls the last closure in any case, on an error too.
        let code = sqlite3_create_function_v2(
            database.sqliteConnection, name, Int32(argumentCount), SQLITE_UTF8 | (isPure ? SQLITE_DETERMINISTIC : 0),
            Unmanaged.passRetained(body).toOpaque(),
            { context, count, values in
                guard let data = sqlite3_user_data(context) else { return }
                let body = Unmanaged<Body>.fromOpaque(data).takeUnretainedValue()
                do {
                    let arguments = Arguments(values: UnsafeBufferPointer(start: values, count: Int(count)))
                    SQLFunction.finish(context, try body.compute(arguments))
                } catch {
                    sqlite3_result_error(context, "\(error)", -1)
                }
            }, nil, nil,
            { data in if let data { Unmanaged<Body>.fromOpaque(data).release() } })
        guard code == SQLITE_OK else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "The function \(name) was not added.")
        }
    }

    private static func finish(_ context: OpaquePointer?, _ result: ColumnValue) {
        switch result {
        case .null: sqlite3_result_null(context)
        case .integer(let number): sqlite3_result_int64(context, number)
        case .real(let number): sqlite3_result_double(context, number)
        case .text(var text):
            text.withUTF8 { bytes in
                // Nil would be NULL.
                guard let start = bytes.baseAddress else {
                    sqlite3_result_text(context, "", 0, SQLite.transient)
                    return
                }
                start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                    sqlite3_result_text(context, $0, Int32(bytes.count), SQLite.transient)
                }
            }
        case .blob(let data):
            data.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { return sqlite3_result_zeroblob(context, 0) }
                sqlite3_result_blob(context, start, Int32(bytes.count), SQLite.transient)
            }
        }
    }

    /// The arguments of one call.
    package struct Arguments {
        fileprivate let values: UnsafeBufferPointer<OpaquePointer?>

        /// A text; nil for a value of another type.
        package func text(_ position: Int) -> String? {
            guard sqlite3_value_type(values[position]) == SQLITE_TEXT, let start = sqlite3_value_text(values[position])
            else { return nil }
            let count = Int(sqlite3_value_bytes(values[position]))
            return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
        }

        /// A whole number; nil for a value of another type.
        package func integer(_ position: Int) -> Int64? {
            sqlite3_value_type(values[position]) == SQLITE_INTEGER ? sqlite3_value_int64(values[position]) : nil
        }

        /// A value of any type.
        func value(_ position: Int) -> ColumnValue {
            switch sqlite3_value_type(values[position]) {
            case SQLITE_INTEGER: return .integer(sqlite3_value_int64(values[position]))
            case SQLITE_FLOAT: return .real(sqlite3_value_double(values[position]))
            case SQLITE_TEXT: return ColumnValue(text(position))
            case SQLITE_BLOB:
                guard let start = sqlite3_value_blob(values[position]) else { return .blob(Data()) }
                return .blob(Data(bytes: start, count: Int(sqlite3_value_bytes(values[position]))))
            default: return .null
            }
        }
    }
}

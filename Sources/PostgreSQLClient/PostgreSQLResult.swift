#if PostgreSQL
    import CPostgreSQL
    import Foundation

    /// Rows of a statement that have been received. Values are in the server's binary form.
    package final class PostgreSQLResult {
        private let handle: OpaquePointer
        package let rowCount: Int
        package let columnCount: Int
        let types: [PostgreSQLType?]

        /// Takes ownership of libpq's result.
        ///
        /// - Parameter types: The types of the columns, if they are known.
        init(_ handle: OpaquePointer, types: [PostgreSQLType?]? = nil) {
            self.handle = handle
            rowCount = Int(PQntuples(handle))
            let columnCount = Int(PQnfields(handle))
            self.columnCount = columnCount
            self.types = types ?? (0..<columnCount).map { PostgreSQLType(rawValue: PQftype(handle, Int32($0))) }
        }

        deinit { PQclear(handle) }

        /// The number of rows that a statement has inserted, changed or deleted.
        package var affectedCount: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

        package func type(ofColumn column: Int) -> PostgreSQLType? { types[column] }

        @inline(__always)
        package func isNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(handle, Int32(row), Int32(column)) != 0 }

        /// The bytes of a value, valid while the result exists; empty for NULL.
        @inline(__always)
        package func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(
                start: PQgetvalue(handle, Int32(row), Int32(column)),
                count: Int(PQgetlength(handle, Int32(row), Int32(column))))
        }

        /// A number; 0 for NULL and for other values. The fraction of a real is discarded.
        @inline(__always)
        package func integer(_ row: Int, _ column: Int) -> Int64 {
            let bytes = bytes(row, column)
            switch (types[column], bytes.count) {
            case (.integer, 8): return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
            case (.mediumInteger, 4): return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
            case (.smallInteger, 2): return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
            case (.boolean, 1): return Int64(bytes[0])
            case (.real, 8): return Int64(exactly: real(bytes).rounded(.towardZero)) ?? 0
            default: return 0
            }
        }

        /// A number; 0 for NULL and for other values.
        @inline(__always)
        package func real(_ row: Int, _ column: Int) -> Double {
            let bytes = bytes(row, column)
            if types[column] == .real, bytes.count == 8 { return real(bytes) }
            return Double(integer(row, column))
        }

        @inline(__always)
        private func real(_ bytes: UnsafeRawBufferPointer) -> Double {
            Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
        }

        /// A text; nil for NULL.
        package func text(_ row: Int, _ column: Int) -> String? {
            isNull(row, column) ? nil : String(decoding: bytes(row, column), as: UTF8.self)
        }

        /// Data; nil for NULL.
        package func data(_ row: Int, _ column: Int) -> Data? {
            isNull(row, column) ? nil : Data(bytes(row, column))
        }
    }
#endif

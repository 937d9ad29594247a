#if PostgreSQL
    import Foundation

    /// The parameters of a statement in the server's binary form.
    struct PostgreSQLParameters {
        private let values: [(type: UInt32, bytes: [UInt8]?)]

        /// The size of all values in bytes. The protocol has 32 bits for the length of a value and of a statement.
        let byteCount: Int

        /// - Parameter limit: The maximum of ``byteCount``.
        /// - Throws: A `PostgreSQLError` with the state `54000` (program_limit_exceeded). The bytes of an array are more than its
        ///   elements, so that their number is limited too.
        init(_ parameters: [PostgreSQLValue], limit: Int = Int(Int32.max)) throws {
            values = parameters.map(Self.encoded)
            byteCount = values.reduce(0) { $0 + ($1.bytes?.count ?? 0) }
            guard byteCount <= limit else {
                throw PostgreSQLError(
                    "The values of a statement have \(byteCount) bytes: more than the server accepts.", state: "54000")
            }
        }

        var types: [UInt32] { values.map(\.type) }

        private static func encoded(_ value: PostgreSQLValue) -> (type: UInt32, bytes: [UInt8]?) {
            switch value {
            case .null: (0, nil)
            case .integer(let number):
                (PostgreSQLType.integer.rawValue, withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) })
            case .real(let number):
                (PostgreSQLType.real.rawValue, withUnsafeBytes(of: number.bitPattern.bigEndian) { [UInt8]($0) })
            case .text(let text): (PostgreSQLType.text.rawValue, [UInt8](text.utf8))
            case .bytes(let data): (PostgreSQLType.bytes.rawValue, [UInt8](data))
            case .array(let array): (array.type.array, array.encoded)
            }
        }

        /// The arguments of libpq's functions, valid during a call.
        struct Pointers {
            let count: Int32
            let values: [UnsafePointer<CChar>?]
            let lengths: [Int32]
            /// All parameters are in the binary form.
            let formats: [Int32]
        }

        /// Calls a block with pointers to the parameters' bytes: in one block of memory, so that they are valid together.
        func withPointers<Result>(_ body: (Pointers) throws -> Result) rethrows -> Result {
            return try withUnsafeTemporaryAllocation(byteCount: byteCount + 1, alignment: 8) { memory in
                let base = memory.assumingMemoryBound(to: CChar.self)
                var used = 0
                var pointers: [UnsafePointer<CChar>?] = []
                var lengths: [Int32] = []
                for value in values {
                    guard let bytes = value.bytes, let start = base.baseAddress else {
                        pointers.append(nil)
                        lengths.append(0)
                        continue
                    }
                    UnsafeMutableRawBufferPointer(rebasing: memory[used..<(used + bytes.count)]).copyBytes(from: bytes)
                    pointers.append(UnsafePointer(start + used))
                    lengths.append(Int32(bytes.count))  // which is at most the size of all
                    used += bytes.count
                }
                return try body(
                    Pointers(
                        count: Int32(values.count), values: pointers, lengths: lengths,
                        formats: [Int32](repeating: 1, count: values.count)))
            }
        }
    }
#endif

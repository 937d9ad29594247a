#if PostgreSQL
    import Foundation

    /// The value of a parameter.
    package enum PostgreSQLValue: Sendable {
        case null
        case integer(Int64)
        case real(Double)
        case text(String)
        case bytes(Data)
        case array(PostgreSQLArray)
    }

    /// The types of values that parameters have, by the server's numbers.
    package enum PostgreSQLType: UInt32, Sendable {
        case boolean = 16
        case bytes = 17
        case name = 19
        case integer = 20
        case smallInteger = 21
        case mediumInteger = 23
        case text = 25
        case real = 701
        case varchar = 1043

        /// The number of the type of arrays of the type.
        var array: UInt32 {
            switch self {
            case .bytes: 1001
            case .integer: 1016
            case .real: 1022
            default: 1009
            }
        }
    }

    /// An array of one dimension in the server's binary form. Elements may be NULL.
    package struct PostgreSQLArray: Sendable {
        package let type: PostgreSQLType
        package private(set) var count = 0
        /// Space for the header, and the elements. Bytes, because appending to `Data` takes several times as long.
        private var content: [UInt8]

        /// The size of the header: the number of dimensions, whether there are NULLs, the type, the count, and the first index.
        private static let headerSize = 20
        /// An array without elements has no dimension.
        private static let emptyHeaderSize = 12

        /// - Parameter type: Integers, reals, texts or bytes.
        package init(of type: PostgreSQLType, capacity: Int = 0) {
            self.type = type
            content = [UInt8](repeating: 0, count: Self.headerSize)
            content.reserveCapacity(Self.headerSize + capacity * 12)
        }

        package init(_ numbers: some Sequence<Int64>) {
            self.init(of: .integer)
            for number in numbers { append(number) }
        }

        private mutating func append(bigEndian number: some FixedWidthInteger) {
            withUnsafeBytes(of: number.bigEndian) { content.append(contentsOf: $0) }
        }

        package mutating func appendNull() {
            count += 1
            append(bigEndian: Int32(-1))
        }

        package mutating func append(_ number: Int64) {
            count += 1
            let bits = UInt64(bitPattern: number)
            // The length and both halves are appended at once, because each append checks the capacity.
            let words = (
                UInt32(8).bigEndian, UInt32(truncatingIfNeeded: bits >> 32).bigEndian,
                UInt32(truncatingIfNeeded: bits).bigEndian
            )
            withUnsafeBytes(of: words) { content.append(contentsOf: $0) }
        }

        package mutating func append(_ number: Double) { append(Int64(bitPattern: number.bitPattern)) }

        package mutating func append(_ text: String) {
            var text = text
            text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
        }

        package mutating func append(_ bytes: UnsafeRawBufferPointer) {
            count += 1
            // An array with such an element or count is not sent: see ``PostgreSQLParameters``.
            append(bigEndian: Int32(truncatingIfNeeded: bytes.count))
            content.append(contentsOf: bytes)
        }

        /// The bytes of the parameter.
        var encoded: [UInt8] {
            let header = [count == 0 ? 0 : 1, 1, Int32(type.rawValue), Int32(truncatingIfNeeded: count), 1]
            var bytes = content
            for (index, number) in header.enumerated() {
                withUnsafeBytes(of: number.bigEndian) { bytes.replaceSubrange(index * 4..<(index + 1) * 4, with: $0) }
            }
            return count == 0 ? Array(bytes.prefix(Self.emptyHeaderSize)) : bytes
        }
    }
#endif

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
        private var content = Data()

        /// - Parameter type: Integers, reals, texts or bytes.
        package init(of type: PostgreSQLType, capacity: Int = 0) {
            self.type = type
            content.reserveCapacity(capacity * 12 + 20)
        }

        package init(_ numbers: some Sequence<Int64>) {
            self.init(of: .integer)
            for number in numbers { append(number) }
        }

        package mutating func appendNull() {
            count += 1
            content.append(bigEndian: Int32(-1))
        }

        package mutating func append(_ number: Int64) {
            count += 1
            content.append(bigEndian: Int32(8))
            content.append(bigEndian: number)
        }

        package mutating func append(_ number: Double) { append(Int64(bitPattern: number.bitPattern)) }

        package mutating func append(_ text: String) {
            var text = text
            text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
        }

        package mutating func append(_ bytes: UnsafeRawBufferPointer) {
            count += 1
            content.append(bigEndian: Int32(truncatingIfNeeded: bytes.count))
            content.append(contentsOf: bytes)
        }

        /// The bytes of the parameter: the number of dimensions, whether there are NULLs, the type, the count, the first
        /// index, the elements.
        var encoded: Data {
            var data = Data(capacity: content.count + 20)
            for number in [count == 0 ? 0 : 1, 1, Int32(type.rawValue)] { data.append(bigEndian: number) }
            guard count > 0 else { return data }
            data.append(bigEndian: Int32(truncatingIfNeeded: count))
            data.append(bigEndian: Int32(1))
            data.append(content)
            return data
        }
    }

    extension Data {
        mutating func append(bigEndian number: some FixedWidthInteger) {
            Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
        }
    }
#endif

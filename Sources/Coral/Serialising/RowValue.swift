#if !canImport(Darwin) && !CORAL_PUBLIC_API

    import CoreData
    import GraphDocuments
    @_spi(Stores) import ManagedObjects

    /// How a column of a row is read, and written as JSON.
    enum RowValue {
        case integer, boolean, double, float, text, uri, data, uuid
        case date(PlainLayout.DateForm)
        case decimal(PlainLayout.DecimalForm)

        /// The codec of an attribute in the plain shape; nil if rows do not contain its value.
        init?(_ attribute: NSAttributeDescription, layout: PlainLayout) {
            self.init(attribute, dates: layout.dates, decimals: layout.decimals)
        }

        /// The codec of an attribute; nil if rows do not contain its value.
        init?(
            _ attribute: NSAttributeDescription, dates: PlainLayout.DateForm = .exact,
            decimals: PlainLayout.DecimalForm = .number
        ) {
            guard !attribute.isTransient else { return nil }
            switch attribute.attributeType {
            case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: self = .integer
            case .booleanAttributeType: self = .boolean
            case .doubleAttributeType: self = .double
            case .floatAttributeType: self = .float
            case .stringAttributeType: self = .text
            case .binaryDataAttributeType: self = .data
            case .UUIDAttributeType: self = .uuid
            case .URIAttributeType: self = .uri
            case .dateAttributeType: self = .date(dates)
            case .decimalAttributeType: self = .decimal(decimals)
            default: return nil
            }
        }

        /// The codec of an attribute in a reference; nil for types that cannot be part of a key.
        init?(_ attribute: NSAttributeDescription, inKeyOf layout: PlainLayout) {
            self.init(attribute, layout: layout)
            switch self {
            case .integer, .boolean, .text, .uuid: return
            default: return nil
            }
        }

        /// The value for a record.
        func value(_ column: Int32, of row: RowCursor) -> GraphValue {
            if row.isNull(column) { return .null }
            switch self {
            case .integer: return .integer(row.integer(column))
            case .boolean: return .bool(row.integer(column) != 0)
            case .double: return .double(row.double(column))
            case .float: return .float(Float(row.double(column)))
            case .text: return .string(row.withText(column) { String(decoding: $0, as: UTF8.self) })
            case .uri: return Self.uri(column, of: row).map { .uri($0) } ?? .null
            case .data: return .data(row.withBytes(column) { Data($0) })
            case .uuid: return row.withBytes(column) { Self.uuid($0) }.map { .uuid($0) } ?? .null
            case .date: return .date(row.double(column))
            case .decimal: return .decimal(row.decimal(column) ?? .nan)
            }
        }

        /// A URI's text, nil if it is invalid.
        private static func uri(_ column: Int32, of row: RowCursor) -> String? {
            URL(string: row.withText(column) { String(decoding: $0, as: UTF8.self) })?.absoluteString
        }

        /// A UUID of sixteen bytes, or as text, as some other programs store it.
        private static func uuid(_ bytes: UnsafeRawBufferPointer) -> UUID? {
            if bytes.count == 16 { return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) }
            return bytes.count == 36 ? UUID(uuidString: String(decoding: bytes, as: UTF8.self)) : nil
        }

        @inline(__always)
        func write(_ column: Int32, of row: RowCursor, to writer: inout JSONWriter) throws {
            if row.isNull(column) { return try writer.null() }
            switch self {
            case .integer: try writer.integer(row.integer(column))
            case .boolean: try writer.bool(row.integer(column) != 0)
            case .double: try writer.double(row.double(column))
            case .float: try writer.float(Float(row.double(column)))
            case .text:
                try row.withText(column) { bytes in
                    // Invalid UTF-8 is repaired, as it is in objects.
                    if UTF8Check.firstInvalid(in: bytes) == nil {
                        try writer.string(validUTF8: bytes)
                    } else {
                        try writer.string(String(decoding: bytes, as: UTF8.self))
                    }
                }
            case .uri: try Self.uri(column, of: row).map { try writer.string($0) } ?? writer.null()
            case .data: try row.withBytes(column) { try writer.data($0) }
            case .uuid:
                try row.withBytes(column) { bytes in
                    if bytes.count == 16 { return try writer.uuid(bytes: bytes) }
                    guard let uuid = Self.uuid(bytes) else { return try writer.null() }
                    try writer.uuid(uuid)
                }
            case .date(.milliseconds): try writer.dateInMilliseconds(row.double(column))
            case .date(.exact): try writer.date(row.double(column))
            case .decimal(let form): try writer.decimal(row.decimal(column) ?? .nan, asNumber: form == .number)
            }
        }
    }

#endif

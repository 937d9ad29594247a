#if !canImport(Darwin) && !CORAL_PUBLIC_API

    import CoreData
    import GraphDocuments
    @_spi(Stores) import ManagedObjects

    /// How a column of a row is written as JSON.
    enum RowValue {
        case integer, boolean, double, float, text, data, uuid
        case date(PlainLayout.DateForm)
        case decimal(PlainLayout.DecimalForm)

        /// How an attribute is written; nil where rows do not tell.
        init?(_ attribute: NSAttributeDescription, layout: PlainLayout) {
            guard !attribute.isTransient else { return nil }
            switch attribute.attributeType {
            case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: self = .integer
            case .booleanAttributeType: self = .boolean
            case .doubleAttributeType: self = .double
            case .floatAttributeType: self = .float
            case .stringAttributeType: self = .text
            case .binaryDataAttributeType: self = .data
            case .UUIDAttributeType: self = .uuid
            case .dateAttributeType: self = .date(layout.dates)
            case .decimalAttributeType: self = .decimal(layout.decimals)
            default: return nil
            }
        }

        /// How an attribute is written as part of a reference; nil where rows do not tell.
        init?(_ attribute: NSAttributeDescription, inKeyOf layout: PlainLayout) {
            self.init(attribute, layout: layout)
            switch self {
            case .integer, .boolean, .text, .uuid: return
            default: return nil
            }
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
                    // What is no UTF-8 is repaired, as it is for objects.
                    if UTF8Check.firstInvalid(in: bytes) == nil {
                        try writer.string(validUTF8: bytes)
                    } else {
                        try writer.string(String(decoding: bytes, as: UTF8.self))
                    }
                }
            case .data: try row.withBytes(column) { try writer.data($0) }
            case .uuid:
                try row.withBytes(column) { bytes in
                    if bytes.count == 16 { return try writer.uuid(bytes: bytes) }
                    // As text, as some other programs write it.
                    guard bytes.count == 36, let uuid = UUID(uuidString: String(decoding: bytes, as: UTF8.self)) else {
                        return try writer.null()
                    }
                    try writer.uuid(uuid)
                }
            case .date(.milliseconds): try writer.dateInMilliseconds(row.double(column))
            case .date(.exact): try writer.date(row.double(column))
            case .decimal(let form): try writer.decimal(row.decimal(column) ?? .nan, asNumber: form == .number)
            }
        }
    }

#endif

import CoreData
import GraphDocuments
import XMLReading

/// Text. Texts are equal if their UTF-8 is, as for SQLite: canonically equivalent texts differ.
struct TextCodec: AttributeCodec {
    func value(of object: Any) -> GraphValue? { (object as? String).map { .string($0) } }

    func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        guard case .string(let text) = value else { return try UndeclaredCodec.object(for: value, folder: folder) }
        return text
    }

    func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        switch value {
        case .integer(let value): .string(String(value))
        case .double(let value): .string(Int64(exactly: value).map { String($0) } ?? value.description)
        case .float(let value): .string(value.description)
        case .decimal(let value): .string(value.description)
        case .bool(let value): .string(value ? "true" : "false")
        case .uuid(let value): .string(value.uuidString)
        case .uri(let value): .string(value)
        default: nil
        }
    }
}

#if !canImport(Darwin) && !CORAL_PUBLIC_API
    @_spi(Stores) import ManagedObjects

    extension TextCodec: RowCodec {
        var canIdentify: Bool { true }

        func read(_ column: Int32, of row: RowCursor) -> GraphValue {
            .string(String(decoding: row.text(column), as: UTF8.self))
        }

        func write(_ column: Int32, of row: RowCursor, to writer: inout JSONWriter) throws {
            let bytes = row.text(column)
            // Invalid UTF-8 is repaired, as for the values of objects.
            if UTF8Check.firstInvalid(in: bytes) == nil {
                try writer.string(validUTF8: bytes)
            } else {
                try writer.string(String(decoding: bytes, as: UTF8.self))
            }
        }

        func write(_ column: Int32, of row: RowCursor, to table: inout TableWriter) throws {
            try table.text(utf8: row.text(column))
        }

        func bind(_ value: GraphValue, to rows: RowBatch, _ row: Int, _ slot: Int) -> Bool {
            guard case .string(let text) = value else { return false }
            rows.set(text: text, row, slot)
            return true
        }

        func isSame(
            _ found: FoundRows, _ given: RowBatch, _ row: Int, _ slot: Int, by equality: ValueEquality
        ) -> Bool {
            found.text(slot).isSame(as: given.bytes(row, slot))
        }

        func add(_ found: FoundRows, _ slot: Int, to digest: inout KeyDigest) -> Bool {
            digest.add(found.text(slot))
            return true
        }
    }

    extension RowBatch {
        /// Sets a cell to a text.
        func set(text: String, _ row: Int, _ slot: Int) {
            var text = text
            text.withUTF8 { set(UnsafeRawBufferPointer($0), isText: true, row, slot) }
        }
    }

    extension UnsafeRawBufferPointer {
        /// Whether both contain the same bytes.
        func isSame(as other: UnsafeRawBufferPointer) -> Bool {
            guard count == other.count, let own = baseAddress, let others = other.baseAddress else {
                return count == other.count
            }
            return memcmp(own, others, count) == 0
        }
    }
#endif

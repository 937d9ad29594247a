import CoreData
import GraphDocuments

/// Bytes, also those of a file beside the document.
struct DataCodec: AttributeCodec {
    func value(of object: Any) -> GraphValue? { (object as? Data).map { .data($0) } }

    func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        guard case .data(let bytes) = value else { return try UndeclaredCodec.object(for: value, folder: folder) }
        return bytes
    }

    func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        guard case .string(let text) = value else { return nil }
        return Data(base64Encoded: text).map { .data($0) }
    }
}

#if !canImport(Darwin) && !CORAL_PUBLIC_API
    @_spi(Stores) import ManagedObjects

    extension DataCodec: RowCodec {
        func read(_ column: Int32, of row: RowCursor) -> GraphValue { .data(row.withBytes(column) { Data($0) }) }

        func write(_ column: Int32, of row: RowCursor, to writer: inout JSONWriter) throws {
            try row.withBytes(column) { try writer.data($0) }
        }

        func bind(_ value: GraphValue, to rows: RowBatch, _ row: Int, _ slot: Int) -> Bool {
            guard case .data(let bytes) = value else { return false }
            bytes.withUnsafeBytes { rows.set($0, isText: false, row, slot) }
            return true
        }

        func isSame(
            _ found: FoundRows, _ given: RowBatch, _ row: Int, _ slot: Int, by equality: ValueEquality
        ) -> Bool {
            found.bytes(slot).isSame(as: given.bytes(row, slot))
        }
    }
#endif

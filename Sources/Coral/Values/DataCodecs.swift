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
        func read(_ column: Int32, of row: RowCursor) -> GraphValue { .data(Data(row.bytes(column))) }

        func write(_ column: Int32, of row: RowCursor, to writer: inout JSONWriter) throws {
            try writer.data(row.bytes(column))
        }

        func write(_ column: Int32, of row: RowCursor, to table: inout TableWriter) throws {
            try table.base64(row.bytes(column))
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

/// UUIDs. Columns contain sixteen bytes; other programs also store the text.
struct UUIDCodec: AttributeCodec {
    func value(of object: Any) -> GraphValue? { (object as? UUID).map { .uuid($0) } }

    func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        guard case .uuid(let uuid) = value else { return try UndeclaredCodec.object(for: value, folder: folder) }
        return uuid
    }

    func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        switch value {
        case .string(let text):
            UUID(uuidString: text.trimmingCharacters(in: .whitespacesAndNewlines)).map { .uuid($0) }
        case .data(let bytes) where bytes.count == 16:
            bytes.withUnsafeBytes { .uuid(UUID(uuid: $0.loadUnaligned(as: uuid_t.self))) }
        default: nil
        }
    }
}

#if !canImport(Darwin) && !CORAL_PUBLIC_API
    @_spi(Stores) import ManagedObjects

    extension UUIDCodec: RowCodec {
        var canIdentify: Bool { true }

        /// The UUID in a column: sixteen bytes, or text. Nil for anything else, which is null in objects.
        private static func uuid(_ bytes: UnsafeRawBufferPointer) -> UUID? {
            if bytes.count == 16 { return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) }
            return bytes.count == 36 ? UUID(uuidString: String(decoding: bytes, as: UTF8.self)) : nil
        }

        func read(_ column: Int32, of row: RowCursor) -> GraphValue {
            Self.uuid(row.bytes(column)).map { .uuid($0) } ?? .null
        }

        func write(_ column: Int32, of row: RowCursor, to writer: inout JSONWriter) throws {
            let bytes = row.bytes(column)
            if bytes.count == 16 { return try writer.uuid(bytes: bytes) }
            guard let uuid = Self.uuid(bytes) else { return try writer.null() }
            try writer.uuid(uuid)
        }

        func bind(_ value: GraphValue, to rows: RowBatch, _ row: Int, _ slot: Int) -> Bool {
            guard case .uuid(let uuid) = value else { return false }
            withUnsafeBytes(of: uuid.uuid) { rows.set($0, isText: false, row, slot) }
            return true
        }

        func isSame(
            _ found: FoundRows, _ given: RowBatch, _ row: Int, _ slot: Int, by equality: ValueEquality
        ) -> Bool {
            let bytes = found.bytes(slot)
            if bytes.count == 16 { return bytes.isSame(as: given.bytes(row, slot)) }
            return Self.uuid(bytes).map { uuid in
                withUnsafeBytes(of: uuid.uuid) { $0.isSame(as: given.bytes(row, slot)) }
            } ?? false
        }

        /// A UUID that is stored as text is not found: SQLite compares bytes with bytes only.
        func add(_ found: FoundRows, _ slot: Int, to digest: inout KeyDigest) -> Bool {
            let bytes = found.bytes(slot)
            guard bytes.count == 16 else { return false }
            digest.add(bytes)
            return true
        }
    }
#endif

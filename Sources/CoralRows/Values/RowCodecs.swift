import Coral
import CoreData
import GraphDocuments
import ManagedObjects
import SQLStores
import XMLReading

extension IntegerCodec: RowCodec {
    var canIdentify: Bool { true }

    func read(_ column: Int32, of row: RowCursor) -> GraphValue { .integer(row.integer(column)) }

    func write(_ column: Int32, of row: RowCursor, to writer: inout JSONWriter) throws {
        try writer.integer(row.integer(column))
    }

    func bind(_ value: GraphValue, to rows: RowBatch, _ row: Int, _ slot: Int) -> Bool {
        guard case .integer(let number) = value else { return false }
        rows.set(number, row, slot)
        return true
    }

    func isSame(
        _ found: FoundRows, _ given: RowBatch, _ row: Int, _ slot: Int, by equality: ValueEquality
    ) -> Bool {
        found.integer(slot) == given.integer(row, slot)
    }
}

extension BooleanCodec: RowCodec {
    var canIdentify: Bool { true }

    func read(_ column: Int32, of row: RowCursor) -> GraphValue { .bool(row.integer(column) != 0) }

    func write(_ column: Int32, of row: RowCursor, to writer: inout JSONWriter) throws {
        try writer.bool(row.integer(column) != 0)
    }

    func bind(_ value: GraphValue, to rows: RowBatch, _ row: Int, _ slot: Int) -> Bool {
        guard case .bool(let flag) = value else { return false }
        rows.set(Int64(flag ? 1 : 0), row, slot)
        return true
    }

    func isSame(
        _ found: FoundRows, _ given: RowBatch, _ row: Int, _ slot: Int, by equality: ValueEquality
    ) -> Bool {
        (found.integer(slot) != 0) == (given.integer(row, slot) != 0)
    }
}

extension DoubleCodec: RowCodec {
    func read(_ column: Int32, of row: RowCursor) -> GraphValue { .double(row.double(column)) }

    func write(_ column: Int32, of row: RowCursor, to writer: inout JSONWriter) throws {
        try writer.double(row.double(column))
    }

    func bind(_ value: GraphValue, to rows: RowBatch, _ row: Int, _ slot: Int) -> Bool {
        guard case .double(let number) = value else { return false }
        rows.set(number, row, slot)
        return true
    }

    func isSame(
        _ found: FoundRows, _ given: RowBatch, _ row: Int, _ slot: Int, by equality: ValueEquality
    ) -> Bool {
        found.double(slot) == given.double(row, slot)
    }
}

extension FloatCodec: RowCodec {
    func read(_ column: Int32, of row: RowCursor) -> GraphValue { .float(Float(row.double(column))) }

    func write(_ column: Int32, of row: RowCursor, to writer: inout JSONWriter) throws {
        try writer.float(Float(row.double(column)))
    }

    func bind(_ value: GraphValue, to rows: RowBatch, _ row: Int, _ slot: Int) -> Bool {
        guard case .float(let number) = value else { return false }
        rows.set(Double(number), row, slot)
        return true
    }

    func isSame(
        _ found: FoundRows, _ given: RowBatch, _ row: Int, _ slot: Int, by equality: ValueEquality
    ) -> Bool {
        Float(found.double(slot)) == Float(given.double(row, slot))
    }
}

extension DecimalCodec: RowCodec {
    func read(_ column: Int32, of row: RowCursor) -> GraphValue { .decimal(row.decimal(column) ?? .nan) }

    func write(_ column: Int32, of row: RowCursor, to writer: inout JSONWriter) throws {
        try writer.decimal(row.decimal(column) ?? .nan, asNumber: form == .number)
    }

    func bind(_ value: GraphValue, to rows: RowBatch, _ row: Int, _ slot: Int) -> Bool {
        guard case .decimal(let number) = value else { return false }
        rows.set(number, row, slot)
        return true
    }

    func isSame(
        _ found: FoundRows, _ given: RowBatch, _ row: Int, _ slot: Int, by equality: ValueEquality
    ) -> Bool {
        // SQLite converts text to a number.
        found.double(slot) == given.double(row, slot)
    }
}

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

extension DateCodec: RowCodec {
    func read(_ column: Int32, of row: RowCursor) -> GraphValue { .date(row.double(column)) }

    func write(_ column: Int32, of row: RowCursor, to writer: inout JSONWriter) throws {
        switch form {
        case .milliseconds: try writer.dateInMilliseconds(row.double(column))
        case .exact: try writer.date(row.double(column))
        }
    }

    func bind(_ value: GraphValue, to rows: RowBatch, _ row: Int, _ slot: Int) -> Bool {
        guard case .date(let seconds) = value else { return false }
        rows.set(seconds, row, slot)
        return true
    }

    func isSame(
        _ found: FoundRows, _ given: RowBatch, _ row: Int, _ slot: Int, by equality: ValueEquality
    ) -> Bool {
        Self.isSame(found.double(slot), given.double(row, slot), by: equality)
    }
}

extension URICodec: RowCodec {
    /// The text of a URI as a managed object returns it; nil if it is invalid.
    private static func text(_ bytes: UnsafeRawBufferPointer) -> String? {
        URL(string: String(decoding: bytes, as: UTF8.self))?.absoluteString
    }

    func read(_ column: Int32, of row: RowCursor) -> GraphValue {
        Self.text(row.text(column)).map { .uri($0) } ?? .null
    }

    func write(_ column: Int32, of row: RowCursor, to writer: inout JSONWriter) throws {
        guard let text = Self.text(row.text(column)) else { return try writer.null() }
        try writer.string(text)
    }

    func bind(_ value: GraphValue, to rows: RowBatch, _ row: Int, _ slot: Int) -> Bool {
        guard case .uri(let text) = value, let url = URL(string: text) else { return false }
        rows.set(text: url.absoluteString, row, slot)
        return true
    }

    func isSame(
        _ found: FoundRows, _ given: RowBatch, _ row: Int, _ slot: Int, by equality: ValueEquality
    ) -> Bool {
        found.text(slot).isSame(as: given.bytes(row, slot))
    }
}

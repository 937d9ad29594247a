import CoreData
import GraphDocuments

/// URIs. Columns contain their text; an invalid one is null in objects.
struct URICodec: AttributeCodec {
    /// The attribute's name, for messages.
    var name: String

    func value(of object: Any) -> GraphValue? { (object as? URL).map { .uri($0.absoluteString) } }

    func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        guard case .uri(let text) = value else { return try UndeclaredCodec.object(for: value, folder: folder) }
        return try Self.url(text, name: name)
    }

    static func url(_ text: String, name: String?) throws -> URL {
        guard let url = URL(string: text) else {
            throw ImportError(.wrongValue, "\"\(text)\" is not a URI.", property: name)
        }
        return url
    }

    func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        if case .string(let text) = value { .uri(text) } else { nil }
    }
}

/// IDs of managed objects, which only transient attributes have, as their URIs.
struct ObjectIDCodec: AttributeCodec {
    func value(of object: Any) -> GraphValue? {
        (object as? NSManagedObjectID).map { .uri($0.uriRepresentation().absoluteString) }
    }

    func object(for value: GraphValue, folder: DocumentFolder) throws -> Any? {
        try UndeclaredCodec.object(for: value, folder: folder)
    }

    func convert(_ value: GraphValue, by conversion: ValueConversion) -> GraphValue? {
        if case .string(let text) = value { .uri(text) } else { nil }
    }
}

#if !canImport(Darwin) && !CORAL_PUBLIC_API
    @_spi(Stores) import ManagedObjects

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
#endif

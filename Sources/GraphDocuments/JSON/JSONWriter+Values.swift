extension JSONWriter {
    /// Writes an attribute's value: unchanged if it has the declared type, else tagged with its type.
    package mutating func value(_ value: GraphValue, declaredAs attribute: GraphSchema.Attribute?) throws {
        switch value {
        case .null: return try null()
        case .transformable(let value): return try transformable(value)
        case .file(let file):
            try beginObject()
            try key(value.tag.rawValue)
            try string(file.path)
            if let byteCount = file.byteCount {
                try key(ValueTag.size.rawValue)
                try integer(byteCount)
            }
            return try endObject()
        default: break
        }
        if value.fits(attribute?.type ?? .undefined) || (attribute?.type ?? .undefined == .undefined && value.isJSON) {
            return try plain(value, elements: attribute?.elements ?? [])
        }
        try beginObject()
        try key(value.tag.rawValue)
        try plain(value, elements: [])
        try endObject()
    }

    private mutating func plain(_ value: GraphValue, elements: [GraphSchema.Attribute]) throws {
        switch value {
        case .bool(let value): try bool(value)
        case .integer(let value): try integer(value)
        case .double(let value): try double(value)
        case .float(let value): try float(value)
        case .decimal(let value): try decimal(value)
        case .string(let value), .uri(let value): try string(value)
        case .date(let value): try date(value)
        case .data(let value): try data(value)
        case .uuid(let value): try uuid(value)
        case .composite(let members):
            try beginObject()
            for member in members {
                try key(member.name)
                try self.value(member.value, declaredAs: elements.first { $0.name == member.name })
            }
            try endObject()
        case .null, .transformable, .file: try self.value(value, declaredAs: nil)
        }
    }

    private mutating func transformable(_ value: TransformableValue) throws {
        try beginObject()
        if let archive = value.archive {
            try key(ValueTag.archive.rawValue)
            try data(archive)
        }
        if let readable = value.readable {
            try key(ValueTag.readable.rawValue)
            try tree(readable)
        }
        try endObject()
    }

    /// Writes a tree of plain values. A key that begins with `$` gets another `$`, to distinguish it from the tags of
    /// this library, unless `escapesKeys` is false because the keys are escaped already.
    package mutating func tree(_ value: ReadableValue, escapesKeys: Bool = true) throws {
        switch value {
        case .value(let value): try self.value(value, declaredAs: nil)
        case .array(let values):
            try beginArray()
            for value in values { try tree(value, escapesKeys: escapesKeys) }
            try endArray()
        case .dictionary(let members):
            try beginObject()
            for member in members {
                try key(escapesKeys ? TreeDocument.escapedKey(member.name) : member.name)
                try tree(member.value, escapesKeys: escapesKeys)
            }
            try endObject()
        }
    }
}

extension GraphValue {
    /// Whether JSON represents the value's type.
    fileprivate var isJSON: Bool {
        switch self {
        case .null, .bool, .integer, .string: true
        case .double(let value): value.isFinite
        default: false
        }
    }
}

/// The structure of documents in the plain layout, whatever their values come from: `PlainJSONWriter` writes those of
/// records, the toolkit also those of rows.
extension JSONWriter {
    /// Begins the document, an object of arrays.
    package mutating func beginPlainDocument() throws { try beginObject() }

    /// Ends the document and its output.
    package mutating func endPlainDocument() throws {
        try endObject()
        try endLine()
        try output.finish()
    }

    /// Begins the array of an entity's records, which is a member of the document.
    package mutating func beginPlainEntity(_ name: String) throws {
        try lineBreak()
        try key(name)
        try beginArray()
    }

    /// Begins a record, on a line of its own.
    package mutating func beginPlainRecord() throws {
        try lineBreak()
        try beginObject()
    }

    // Two methods, because a generic one with a closure, called from another module, looks up the types of its sequence
    // at run time for each reference, which took half of the time of an export.

    /// Begins a reference: the only value of a key, or the array of its values.
    package mutating func beginPlainReference(count: Int) throws {
        if count > 1 { try beginArray() }
    }

    /// Ends a reference of as many values.
    package mutating func endPlainReference(count: Int) throws {
        if count > 1 { try endArray() }
    }
}

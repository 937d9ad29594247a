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

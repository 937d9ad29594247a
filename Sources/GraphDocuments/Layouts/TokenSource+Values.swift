import Foundation

// Values that are tagged with their type, and trees of plain values, anywhere in a document.
extension TokenSource {
    /// Reads an attribute's value whose first token is given.
    mutating func readValue(
        _ token: DocumentToken, _ attribute: GraphSchema.Attribute, keepsMismatchedValues: Bool = false
    ) throws -> GraphValue {
        switch token {
        case .beginObject:
            return try readObject(attribute, keepsMismatchedValues)
        case .beginArray:
            guard attribute.type == .transformable else {
                throw DocumentError(.wrongType, "\(attribute.name) cannot be an array.", at: place)
            }
            return .transformable(TransformableValue(archive: nil, readable: try readTree(token)))
        default:
            return try readScalar(token, attribute, keepsMismatchedValues)
        }
    }

    private mutating func readScalar(
        _ token: DocumentToken, _ attribute: GraphSchema.Attribute, _ keepsMismatchedValues: Bool
    ) throws -> GraphValue {
        let value = try value(token, as: attribute.type)
        if value.fits(attribute.type) || attribute.type == .undefined || keepsMismatchedValues { return value }
        if attribute.type == .transformable {
            return .transformable(TransformableValue(archive: nil, readable: .value(value)))
        }
        if case .integer(let number) = value, let range = attribute.type.integerRange {
            throw DocumentError(
                .outOfRange,
                "\(attribute.name) must be from \(range.lowerBound) to \(range.upperBound), not \(number).", at: place)
        }
        let code: DocumentError.Code = token == .number ? .outOfRange : .wrongType
        throw DocumentError(
            code, "The value does not fit \(attribute.name), which is of type \(attribute.type.name).", at: place
        )
    }

    /// Reads an object in the position of a value: a composite, or a value that is tagged with its type.
    private mutating func readObject(_ attribute: GraphSchema.Attribute, _ keepsMismatchedValues: Bool) throws
        -> GraphValue
    {
        var elements: [GraphAttribute] = []
        var tagged: GraphValue?
        var size: Int64?
        var members: [ReadableValue.Member] = []
        while try next() == .key {
            let name = tokenText()
            if let tag = ValueTag(rawValue: name), elements.isEmpty, members.isEmpty {
                let token = try next()
                switch tag {
                case .size:
                    if case .integer(let value) = try value(token, as: .integer64) { size = value }
                case .readable:
                    var value = TransformableValue(archive: nil)
                    if case .transformable(let known) = tagged { value = known }
                    value.readable = try value.archive == nil ? readTree(token) : readForm(ofArchive: token)
                    tagged = .transformable(value)
                default:
                    tagged = try combined(tagged, readTagged(tag, token, attribute, keepsMismatchedValues))
                }
            } else if tagged == nil, attribute.type == .composite {
                let element =
                    attribute.elements.first { $0.name == name }
                    ?? GraphSchema.Attribute(name: name, type: .undefined)
                let token = try next()
                elements.append(
                    GraphAttribute(
                        name: name, value: try readValue(token, element, keepsMismatchedValues: keepsMismatchedValues)))
            } else if tagged == nil, attribute.type == .transformable {
                let token = try next()
                members.append(
                    .init(name: ReadableValue.unescaped(name), value: try readTree(token, level: 1)))
            } else {
                throw DocumentError(.wrongType, "\(attribute.name) cannot be an object.", at: place)
            }
        }
        if case .file(let file) = tagged { tagged = .file(file.with(byteCount: size)) }
        if let tagged { return tagged }
        if attribute.type == .composite { return .composite(elements) }
        if attribute.type == .transformable {
            return .transformable(TransformableValue(archive: nil, readable: .dictionary(members)))
        }
        throw DocumentError(.wrongType, "\(attribute.name) cannot be an object.", at: place)
    }

    /// The value of two tags of one object, which are in any order: of an archive and its readable form.
    private func combined(_ first: GraphValue?, _ second: GraphValue) throws -> GraphValue {
        guard let first else { return second }
        guard case .transformable(var value) = first, case .transformable(let other) = second, value.archive == nil
        else { throw DocumentError(.syntax, "A value has two types.", at: place) }
        value.archive = other.archive
        return .transformable(value)
    }

    /// Reads the value of a tag.
    private mutating func readTagged(
        _ tag: ValueTag, _ token: DocumentToken, _ attribute: GraphSchema.Attribute, _ keepsMismatchedValues: Bool
    ) throws
        -> GraphValue
    {
        if tag == .composite {
            guard token == .beginObject else { throw mistagged(tag) }
            let elements = attribute.type == .composite ? attribute.elements : []
            let element = GraphSchema.Attribute(name: tag.rawValue, type: .composite, elements: elements)
            // Composites inside composites that the schema does not describe nest up to the reader's limit, so their
            // depth is limited here.
            guard depth < 256 else {
                throw DocumentError(.limit, "Values nest deeper than 256 levels.", at: place)
            }
            return try readObject(element, keepsMismatchedValues)
        }
        let value = try value(token, as: tag.type)
        switch (tag, value) {
        case (.null, .bool(true)), (.formerNull, .bool(true)): return .null
        case (.archive, .data(let data)): return .transformable(TransformableValue(archive: data))
        case (.file, .string(let path)): return .file(ExternalFile(path: path))
        case (.missing, .string(let name)): return .file(ExternalFile(missing: name))
        case (.null, _), (.formerNull, _), (.archive, _), (.file, _), (.missing, _), (.utf8, _): throw mistagged(tag)
        default:
            guard value.fits(tag.type), !value.isNull else { throw mistagged(tag) }
            return value
        }
    }

    private func mistagged(_ tag: ValueTag) -> DocumentError {
        DocumentError(.wrongType, "The value of `\(tag.rawValue)` is not valid.", at: place)
    }

    /// Reads a tree of plain values whose first token is given. `depthLimit` levels at most: deallocating a tree is
    /// recursive. Keys with a doubled `$` are unescaped, unless `keepsKeys`.
    mutating func readTree(
        _ token: DocumentToken, level: Int = 0, depthLimit: Int = ReadableValue.depthLimit, keepsKeys: Bool = false
    ) throws -> ReadableValue {
        var deep = DeepValues.refused
        return try readTree(token, level, depthLimit, keepsKeys, &deep)
    }

    /// Reads the readable form of an archive; nil if it is deeper than the limit. Only the archive is used.
    private mutating func readForm(
        ofArchive token: DocumentToken, level: Int = 0, depthLimit: Int = ReadableValue.depthLimit
    ) throws -> ReadableValue? {
        var deep = DeepValues.skipped(isAny: false)
        let tree = try readTree(token, level, depthLimit, false, &deep)
        if case .skipped(isAny: true) = deep { return nil }
        return tree
    }

    private mutating func readTree(
        _ token: DocumentToken, _ level: Int, _ depthLimit: Int, _ keepsKeys: Bool, _ deep: inout DeepValues
    ) throws -> ReadableValue {
        guard level < depthLimit else {
            guard case .skipped = deep else {
                throw DocumentError(.limit, "A tree of plain values is deeper than \(depthLimit) levels.", at: place)
            }
            deep = .skipped(isAny: true)
            try skipValue(after: token)
            return .value(.null)
        }
        switch token {
        case .beginArray:
            var values: [ReadableValue] = []
            while case let next = try self.next(), next != .endArray {
                values.append(try readTree(next, level + 1, depthLimit, keepsKeys, &deep))
            }
            return .array(values)
        case .beginObject:
            var members: [ReadableValue.Member] = []
            var tagged: GraphValue?
            var size: Int64?
            while try self.next() == .key {
                let name = tokenText()
                let next = try self.next()
                if name == ValueTag.readable.rawValue, members.isEmpty {
                    var value = TransformableValue(archive: nil)
                    if case .transformable(let known) = tagged { value = known }
                    value.readable =
                        try value.archive == nil
                        ? readTree(next, level + 1, depthLimit, false, &deep)
                        : readForm(ofArchive: next, level: level + 1, depthLimit: depthLimit)
                    tagged = .transformable(value)
                } else if name == ValueTag.size.rawValue, members.isEmpty {
                    if case .integer(let count) = try value(next, as: .integer64) { size = count }
                } else if let tag = ValueTag(rawValue: name), members.isEmpty, tagged == nil || tag == .archive {
                    let untyped = GraphSchema.Attribute(name: name, type: .undefined)
                    tagged = try combined(tagged, readTagged(tag, next, untyped, false))
                } else {
                    let value = try readTree(next, level + 1, depthLimit, keepsKeys, &deep)
                    members.append(.init(name: keepsKeys ? name : ReadableValue.unescaped(name), value: value))
                }
            }
            if case .file(let file) = tagged { tagged = .file(file.with(byteCount: size)) }
            if let tagged { return .value(tagged) }
            return .dictionary(members)
        default:
            return .value(try value(token, as: .undefined))
        }
    }
}

/// What becomes of the values of a tree that are deeper than its limit.
private enum DeepValues {
    case refused
    case skipped(isAny: Bool)
}

extension ExternalFile {
    fileprivate func with(byteCount: Int64?) -> ExternalFile {
        var file = self
        file.byteCount = byteCount
        return file
    }
}

extension ReadableValue {
    /// A key without the `$` that was added by escaping.
    static func unescaped(_ name: String) -> String {
        name.hasPrefix("$$") ? String(name.dropFirst()) : name
    }
}

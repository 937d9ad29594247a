/// Reads *plain* JSON member by member, without creating records or strings: the counterpart of `PlainJSONWriter`.
///
/// Accepts only regular documents: an object of arrays by entity, whose records contain scalars, keys and arrays of
/// keys. Anything else is a step of its own, `irregular`, after which the caller reads the document again with
/// `JSONDocumentReader`, which implements all rules. Invalid JSON is an error in both, with the same position.
package struct PlainFieldReader {
    /// The next part of the document.
    package enum Step {
        /// The beginning of a record of the entity with this index.
        case record(entity: Int)
        /// An attribute of the record, by its index in the schema's entity; `token` is its value.
        case attribute(Int)
        /// A relationship, by its index in the schema's entity; `token` is the beginning of its value, and the caller
        /// reads the rest with `next()`.
        case relationship(Int)
        case endRecord
        case end
        /// Something that this reader does not support, in one sentence. There is no next step.
        case irregular(String)
    }

    private enum State {
        case start, document
        case group(entity: Int)
        case record(entity: Int, members: EntityMembers, previous: Int)
    }

    private var json: JSONReader
    private let members: [EntityMembers]
    private let numbers: [String: Int]
    private let options: ReadingOptions
    private let skipsUnknownMembers: Bool
    private var state = State.start
    /// The token that was read last.
    package private(set) var token = DocumentToken.end
    /// The number of records that have begun so far.
    package private(set) var recordCount = 0

    /// Creates a reader of a document with records of a schema; entities are identified by their index.
    package init(
        _ source: any ByteSource, schema: GraphSchema, options: ReadingOptions, skipsUnknownMembers: Bool
    ) {
        self.skipsUnknownMembers = skipsUnknownMembers
        json = JSONReader(
            source, options: .init(allowsTrailingCommas: options.allowsTrailingCommas, allowsManyValues: true),
            limits: options.limits)
        members = schema.entities.map { EntityMembers($0, keys: nil) }
        numbers = Dictionary(
            schema.entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.options = options
    }

    package var bytesRead: Int { json.bytesRead }
    package var byteCount: Int? { json.byteCount }

    /// Reads the next part. Throws `DocumentError` for invalid JSON.
    package mutating func step() throws -> Step {
        while true {
            switch state {
            case .record(let entity, let members, let previous):
                guard try next() == .key else {
                    state = .group(entity: entity)
                    return .endRecord
                }
                guard let member = members.member(after: previous, in: &json) else {
                    if let irregular = try skipUnknownMember() { return irregular }
                    continue
                }
                state = .record(entity: entity, members: members, previous: member)
                let value = try next()
                let relationship = member - members.attributes.count
                if relationship >= 0 { return .relationship(relationship) }
                if value == .beginObject || value == .beginArray {
                    return .irregular("A record contains an object, or an array where it has an attribute.")
                }
                return .attribute(member)
            case .group(let entity):
                switch try next() {
                case .beginObject:
                    guard recordCount < options.limits.recordCount else {
                        return .irregular("The document has more records than its limit.")
                    }
                    recordCount += 1
                    state = .record(entity: entity, members: members[entity], previous: -1)
                    return .record(entity: entity)
                case .endArray: state = .document
                default: return .irregular("An array of records contains a value that is not an object.")
                }
            case .start:
                guard try next() == .beginObject else { return .irregular("The document is not an object of arrays.") }
                state = .document
            case .document:
                guard try next() == .key else {
                    guard token == .endObject, try next() == .end else {
                        return .irregular("The document is followed by other content.")
                    }
                    return .end
                }
                if let irregular = try openGroup() { return irregular }
            }
        }
    }

    /// Begins the records of an entity, or skips a member that is not named after an entity.
    private mutating func openGroup() throws -> Step? {
        let name = json.tokenText()
        if let entity = numbers[name] {
            guard try next() == .beginArray else {
                return .irregular("The member of an entity is not an array of records.")
            }
            state = .group(entity: entity)
        } else {
            guard options.unknownEntities == .skip, !name.hasPrefix("$") else {
                return .irregular("The document has a member that is not named after an entity.")
            }
            try json.skipValue(after: next())
        }
        return nil
    }

    private mutating func skipUnknownMember() throws -> Step? {
        if !skipsUnknownMembers || json.text.first == UInt8(ascii: "$") {
            return .irregular("A record has a member that is not named after a property.")
        }
        try json.skipValue(after: next())
        return nil
    }

    /// Skips the rest of the record, from the token that was read last, so that the next step is the one after `endRecord`.
    ///
    /// - Returns: Whether that part contains no object, which may be a record.
    /// - Throws: `DocumentError` for invalid JSON.
    package mutating func skipRecord() throws -> Bool {
        guard case .record(let entity, _, _) = state else { return true }
        var isFlat = token != .beginObject || json.depth == Self.recordDepth
        while json.depth >= Self.recordDepth {
            if try next() == .beginObject { isFlat = false }
        }
        state = .group(entity: entity)
        return isFlat
    }

    /// The records of an entity are objects in an array in the document's object.
    private static let recordDepth = 3

    // MARK: - Values

    /// Reads the next token of a relationship's value.
    @discardableResult
    package mutating func next() throws -> DocumentToken {
        token = try json.next()
        return token
    }

    /// The text of the string or number that was read last, as UTF-8. Valid until the next step.
    package var text: UnsafeRawBufferPointer { json.text }
    /// The number that was read last, if it is a 64-bit integer.
    package var integer: Int64? { json.integer }
    /// The number that was read last as the nearest double, or nil on overflow.
    package var double: Double? { json.double }

    /// The scalar that was read last, converted to the declared type where possible; see `JSONDocumentReader`.
    package mutating func value(as type: GraphValueType) throws -> GraphValue { try json.value(token, as: type) }
}

/// Reads records from documents with a foreign format, using a mapping.
///
/// The document is an array of objects, one object, an object with an array for each entity, or any of these under the
/// mapping's root; with JSON Lines one object a line. With a keyed mapping, objects with keys replace the arrays. Memory holds one top-level object with its nested objects.
struct MappedDocumentReader<Source: TokenSource>: DocumentReader {
    var header: DocumentHeader? { nil }
    private var source: Source
    private let plan: MappingPlan
    private let rootEntity: String?
    private let depthLimit: Int
    private let recordLimit: Int
    private var maker: MappedRecordMaker
    private var state = State.array
    private var isInGroups = false
    private var entity: String?
    private var pointer = ""
    private var index = -1
    /// The records of the object that was read last, in reverse order.
    private var ready: [PlacedRecord] = []
    private var recordCount = 0

    private enum State { case array, keyed, groups, lines, rest, finished }

    /// Reads up to the first record. Throws `DocumentError`.
    init(_ source: Source, plan: MappingPlan, options: ReadingOptions) throws {
        self.source = source
        self.plan = plan
        rootEntity = options.rootEntity
        // Deallocating a tree is recursive, so its depth is limited.
        depthLimit = min(options.limits.depth, 4096)
        recordLimit = options.limits.recordCount
        maker = MappedRecordMaker(plan)
        try readStart(isLines: options.layout == .lines)
    }

    var bytesRead: Int { source.bytesRead }
    var byteCount: Int? { source.byteCount }

    mutating func nextPlaced() throws -> PlacedRecord? {
        do {
            while ready.isEmpty {
                guard try readObject() else { return nil }
            }
        } catch {
            state = .finished
            throw error
        }
        recordCount += 1
        guard recordCount <= recordLimit else {
            state = .finished
            throw DocumentError(.limit, "The document has more than \(recordLimit) records.", at: source.place)
        }
        return ready.removeLast()
    }

    // MARK: - The path to the objects

    private mutating func readStart(isLines: Bool) throws {
        if isLines {
            state = .lines
            entity = rootEntity
            return
        }
        var token = try source.next()
        for step in plan.root?.steps ?? [] {
            guard case .member(let name) = step else { continue }
            token = try descend(token, to: name)
            pointer += "/" + DocumentPlace.escaped(name)
        }
        switch token {
        case .beginArray:
            state = .array
            entity = rootEntity
        case .beginObject where plan.mapping.isKeyed:
            entity = rootEntity
            state = rootEntity == nil ? .groups : .keyed
            isInGroups = rootEntity == nil
        case .beginObject: try readFirstMember()
        case .end: throw DocumentError(.truncated, "The document is empty.", at: source.place)
        default: throw DocumentError(.syntax, "A document must begin with an object or an array.", at: source.place)
        }
    }

    private mutating func descend(_ token: DocumentToken, to name: String) throws -> DocumentToken {
        guard token == .beginObject else {
            throw DocumentError(.syntax, "The document has no object with a member \"\(name)\" here.", at: source.place)
        }
        while try source.next() == .key {
            let isWanted = source.tokenText() == name
            let value = try source.next()
            if isWanted { return value }
            try source.skipValue(after: value)
        }
        throw DocumentError(.syntax, "The document has no member \"\(name)\".", at: source.place)
    }

    /// A top-level object is an object of the root entity, or contains an array for each entity.
    private mutating func readFirstMember() throws {
        let place = source.place
        guard try source.next() == .key else {
            state = .rest
            if rootEntity != nil { try take(.dictionary([]), at: place) }
            return
        }
        let key = source.tokenText()
        let isMember = rootEntity.flatMap { plan.entity($0)?.allMembers.contains(key) } ?? false
        if !isMember, plan.entity(documentKey: key) != nil {
            state = .groups
            isInGroups = true
            return try openGroup(key)
        }
        entity = rootEntity
        state = .rest
        let first = try source.next()
        let value = try source.readPlainTree(first, depthLimit: depthLimit)
        var tree = try readMembers(after: .init(name: key, value: value))
        if case .dictionary(let members) = tree, members.isEmpty { tree = .dictionary([]) }
        try take(tree, at: place)
    }

    private mutating func readMembers(after first: ReadableValue.Member) throws -> ReadableValue {
        var members = [first]
        while try source.next() == .key {
            let name = source.tokenText()
            let token = try source.next()
            members.append(.init(name: name, value: try source.readPlainTree(token, depthLimit: depthLimit)))
        }
        return .dictionary(members)
    }

    private mutating func openGroup(_ key: String) throws {
        guard let plan = plan.entity(documentKey: key) else {
            throw DocumentError(.unknownEntity, "No entity has the document key \"\(key)\".", at: source.place)
        }
        let token = try source.next()
        guard token == .beginArray || (token == .beginObject && self.plan.mapping.isKeyed) else {
            throw DocumentError(.syntax, "The objects of \"\(key)\" are not an array.", at: source.place)
        }
        entity = plan.name
        pointer = (self.plan.root?.steps ?? []).reduce("") { path, step in
            if case .member(let name) = step { path + "/" + DocumentPlace.escaped(name) } else { path }
        }
        pointer += "/" + DocumentPlace.escaped(key)
        index = -1
        state = token == .beginArray ? .array : .keyed
    }

    // MARK: - Objects

    /// Reads the next top-level object; false at the end.
    private mutating func readObject() throws -> Bool {
        switch state {
        case .finished: return false
        case .rest:
            while try source.next() != .end {}
            state = .finished
            return false
        case .groups:
            guard try source.next() == .key else {
                state = .rest
                return true
            }
            try openGroup(source.tokenText())
            return true
        case .keyed:
            guard try source.next() == .key else {
                state = isInGroups ? .groups : .rest
                return true
            }
            let key = source.tokenText()
            index += 1
            let mark = source.mark
            let place = DocumentPlace(
                offset: mark.offset, line: mark.line, column: mark.column,
                container: pointer + "/" + DocumentPlace.escaped(key), index: -1, member: nil)
            let token = try source.next()
            var tree = try source.readPlainTree(token, depthLimit: depthLimit)
            if case .dictionary = tree {
            } else {
                tree = .dictionary([.init(name: MappedPath.Place.value.rawValue, value: tree)])
            }
            try take(tree, at: place, key: key)
            return true
        case .array, .lines:
            let token = try source.next()
            if token == .endArray, state == .array {
                state = isInGroups ? .groups : .rest
                return true
            }
            if token == .end {
                state = .finished
                return false
            }
            index += 1
            let mark = source.mark
            let place = DocumentPlace(
                offset: mark.offset, line: mark.line, column: mark.column, container: pointer, index: index, member: nil
            )
            try take(try source.readPlainTree(token, depthLimit: depthLimit), at: place)
            return true
        }
    }

    private mutating func take(_ tree: ReadableValue, at place: DocumentPlace, key: String? = nil) throws {
        guard let entity = entity ?? rootEntity else {
            throw DocumentError(.unknownEntity, "The entity of the document's objects is unknown.", at: place)
        }
        ready = try maker.records(of: tree, entity: entity, at: place, index: max(index, 0), key: key).reversed()
    }
}

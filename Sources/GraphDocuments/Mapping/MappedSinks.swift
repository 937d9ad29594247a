import KeyedArchives

/// Writes the top-level objects of a mapped document in one format.
protocol MappedSink {
    var style: TreeStyle { get }
    /// `way`: the members of the path to the objects.
    mutating func begin(_ way: [String]) throws
    /// `key`: the key of the object in a keyed document.
    mutating func write(_ tree: ReadableValue, key: String?, group: String?) throws
    mutating func finish() throws
}

/// JSON: an array, an array for each entity, or an object a line. Streams.
struct MappedJSON: MappedSink {
    let style = TreeStyle(style: .json)
    private var writer: JSONWriter
    private let isLines: Bool
    private let byEntity: Bool
    private let isKeyed: Bool
    private var depth = 0
    private var group: String?
    private var closedGroups: Set<String> = []

    init(_ output: ByteOutput, isLines: Bool, byEntity: Bool, isKeyed: Bool) throws {
        guard !(isLines && byEntity) else {
            throw DocumentError(.misuse, "JSON Lines have an object on each line, not an array for each entity.")
        }
        guard !(isLines && isKeyed) else {
            throw DocumentError(.misuse, "JSON Lines have an object on each line, without a key.")
        }
        self.isKeyed = isKeyed
        writer = JSONWriter(to: output)
        self.isLines = isLines
        self.byEntity = byEntity
    }

    mutating func begin(_ way: [String]) throws {
        if isLines { return }
        for name in way {
            try writer.beginObject()
            try writer.key(name)
            depth += 1
        }
        if byEntity { try writer.beginObject() } else { try beginObjects() }
    }

    private mutating func beginObjects() throws {
        if isKeyed { try writer.beginObject() } else { try writer.beginArray() }
    }

    private mutating func endObjects() throws {
        if isKeyed { try writer.endObject() } else { try writer.endArray() }
    }

    mutating func write(_ tree: ReadableValue, key: String?, group: String?) throws {
        if let group, group != self.group {
            try closeGroup()
            guard closedGroups.insert(group).inserted else {
                throw DocumentError(.misuse, "The objects of \(group) must be consecutive.")
            }
            try writer.lineBreak()
            try writer.key(group)
            try beginObjects()
            self.group = group
        }
        if !isLines { try writer.lineBreak() }
        if let key { try writer.key(key) }
        try writer.plainTree(tree)
        if isLines { try writer.endLine() }
    }

    private mutating func closeGroup() throws {
        guard group != nil else { return }
        try writer.endLine()
        try endObjects()
    }

    mutating func finish() throws {
        if !isLines {
            try closeGroup()
            if byEntity { try writer.endObject() } else { try endObjects() }
            for _ in 0..<depth { try writer.endObject() }
            try writer.endLine()
        }
        try writer.output.finish()
    }
}

/// Property lists. In memory until the end.
struct MappedPropertyList: MappedSink {
    let style: TreeStyle
    private var trees: MappedTrees
    private let encoding: PropertyListEncoding
    private let output: ByteOutput

    init(_ output: ByteOutput, encoding: PropertyListEncoding, byEntity: Bool, isKeyed: Bool) {
        self.output = output
        self.encoding = encoding
        style = TreeStyle(style: .propertyList, hasWholeSecondsOnly: encoding == .xml)
        trees = MappedTrees(byEntity: byEntity, isKeyed: isKeyed)
    }

    mutating func begin(_ way: [String]) throws { trees.way = way }
    mutating func write(_ tree: ReadableValue, key: String?, group: String?) throws {
        trees.add(tree, key: key, group: group)
    }

    mutating func finish() throws {
        switch encoding {
        case .binary:
            var limits = BinaryPropertyList.Limits()
            limits.depth = 4096
            do {
                let data = try BinaryPropertyList.write(trees.document.propertyList, limits: limits)
                try data.withUnsafeBytes { try output.write($0) }
            } catch let error as ArchiveError {
                throw DocumentError(.notRepresentable, error.message)
            }
        case .xml:
            var writer = XMLPropertyListWriter(to: output)
            try writer.write(trees.document)
        }
        try output.finish()
    }
}

/// Collected trees.
struct MappedTrees {
    var way: [String] = []
    private let byEntity: Bool
    private let isKeyed: Bool
    /// For each group its objects, with their keys in a keyed document.
    private var groups: [(name: String, objects: [ReadableValue.Member])] = []

    init(byEntity: Bool, isKeyed: Bool) {
        self.byEntity = byEntity
        self.isKeyed = isKeyed
    }

    mutating func add(_ tree: ReadableValue, key: String?, group: String?) {
        let name = group ?? ""
        // Several entities may have one group, and others may be written between them.
        let known = groups.last?.name == name ? groups.count - 1 : groups.firstIndex { $0.name == name }
        if known == nil { groups.append((name, [])) }
        groups[known ?? groups.count - 1].objects.append(.init(name: key ?? "", value: tree))
    }

    private func tree(of objects: [ReadableValue.Member]) -> ReadableValue {
        isKeyed ? .dictionary(objects) : .array(objects.map(\.value))
    }

    var document: ReadableValue {
        var document: ReadableValue =
            byEntity
            ? .dictionary(groups.map { .init(name: $0.name, value: tree(of: $0.objects)) })
            : tree(of: groups.flatMap(\.objects))
        for name in way.reversed() { document = .dictionary([.init(name: name, value: document)]) }
        return document
    }
}

/// Foundation objects.
struct MappedObjects: MappedSink {
    let style: TreeStyle
    private var trees: MappedTrees

    init(style: DictionaryStyle, byEntity: Bool, isKeyed: Bool) {
        self.style = TreeStyle(style: style)
        trees = MappedTrees(byEntity: byEntity, isKeyed: isKeyed)
    }

    var document: ReadableValue { trees.document }
    mutating func begin(_ way: [String]) throws { trees.way = way }
    mutating func write(_ tree: ReadableValue, key: String?, group: String?) throws {
        trees.add(tree, key: key, group: group)
    }
    mutating func finish() throws {}
}

extension JSONWriter {
    /// Writes a tree unchanged: keys are not escaped, values are not tagged with their type.
    fileprivate mutating func plainTree(_ tree: ReadableValue) throws {
        switch tree {
        case .value(.decimal(let decimal)): try self.decimal(decimal, asNumber: true)
        case .value(let value): try self.value(value, declaredAs: nil)
        case .array(let values):
            try beginArray()
            for value in values { try plainTree(value) }
            try endArray()
        case .dictionary(let members):
            try beginObject()
            for member in members {
                try key(member.name)
                try plainTree(member.value)
            }
            try endObject()
        }
    }
}

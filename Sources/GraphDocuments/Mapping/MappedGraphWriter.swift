/// Writes a graph as objects with a foreign format, using a mapping. Each top-level object is built as a tree and
/// passed to the sink.
///
/// A relationship whose only member is the enclosing object is omitted: it follows from the nesting. If there are others, the enclosing
/// object is among them, because a list that is read replaces the members.
struct MappedGraphWriter<Sink: MappedSink>: GraphWriter {
    private let plan: MappingPlan
    private let byEntity: Bool
    private(set) var sink: Sink
    private var open: [Object] = []
    /// The keys of the top-level objects of a keyed document, by group.
    private var keys: [String: Set<String>] = [:]

    /// An object that is being built, with its open relationship.
    private struct Object {
        var id: RecordID?
        var entity: EntityMappingPlan
        var members: [ReadableValue.Member] = []
        /// The tree of the whole object, if the mapping has `@value`.
        var value: ReadableValue?
        /// The object's key in a keyed relationship.
        var key: String?
        var relationship: RelationshipMappingPlan?
        /// Whether documents do not contain the open relationship.
        var isSkipping = false
        var isToMany = false
        var targets: [Target] = []
        /// The inverse of the relationship that contains this object.
        var wayBack: String?
        /// The number of targets before the enclosing object, if that was omitted from the open relationship.
        var parentPosition: Int?
    }

    /// An object in a relationship, with its key if that is keyed, or a reference to one.
    private struct Target {
        var tree: ReadableValue
        var key: String?
        var isReference = false
    }

    init(plan: MappingPlan, byEntity: Bool, to sink: Sink) throws {
        self.plan = plan
        self.byEntity = byEntity
        self.sink = sink
    }

    private var style: TreeStyle { sink.style }

    mutating func begin(_ header: DocumentHeader) throws {
        let way = (plan.root?.steps ?? []).compactMap { step in
            if case .member(let name) = step { name } else { nil }
        }
        try sink.begin(way)
    }

    mutating func beginObject(id: RecordID?, entity: String, isDeleted: Bool) throws {
        guard let mapped = plan.entity(entity) else {
            throw DocumentError(.unknownEntity, "The mapping has no entity \(entity).")
        }
        guard !isDeleted else {
            throw DocumentError(.notRepresentable, "A mapped document has no tombstones (\(entity)).")
        }
        var object = Object(id: id, entity: mapped)
        if let top = open.last, let relationship = top.relationship {
            object.wayBack = relationship.relationship.inverse
        }
        if let mark = mapped.choiceMark {
            object.members.put(.value(.string(mark.value)), at: mark.path.steps[...])
        }
        open.append(object)
    }

    mutating func attribute(_ name: String, _ value: GraphValue, declaredAs type: GraphSchema.Attribute?) throws {
        guard let top = open.indices.last, let attribute = open[top].entity.attribute(name) else { return }
        var rest: GraphValue? = value
        for element in attribute.elements {
            guard element.plan.write != nil else { continue }
            try write(value.element(at: element.path[...]) ?? .null, of: element.plan, in: top)
            rest = rest?.removing(element.path[...])
        }
        if let rest { try write(rest, of: attribute, in: top) }
    }

    private mutating func write(_ value: GraphValue, of attribute: AttributeMappingPlan, in top: Int) throws {
        guard let path = attribute.write else { return }
        let tree = try attribute.tree(of: value, style: style, decimals: plan.mapping.decimals)
        switch path.place {
        case .key?:
            if case .value(let leaf) = tree { open[top].key = TextValue.text(of: leaf) }
        case .value?: open[top].value = tree
        case .index?: break
        case nil: put(tree, at: path, in: top)
        }
    }

    private mutating func put(_ tree: ReadableValue, at path: MappedPath, in position: Int) {
        if tree == style.null, !plan.mapping.writesNulls { return }
        open[position].members.put(tree, at: path.steps[...])
    }

    // MARK: - Relationships

    mutating func beginRelationship(_ name: String, isToMany: Bool, isOrdered: Bool) throws {
        guard let top = open.indices.last else { throw DocumentError(.misuse, "No object is open.") }
        let relationship = open[top].entity.relationship(name)
        open[top].relationship = relationship
        open[top].isSkipping = relationship.map { $0.write == nil && $0.writeReferences == nil } ?? true
        open[top].isToMany = isToMany
        open[top].targets = []
        open[top].parentPosition = nil
    }

    mutating func reference(_ id: RecordID) throws {
        guard let top = open.indices.last, !open[top].isSkipping, let relationship = open[top].relationship else {
            return
        }
        if open[top].wayBack == relationship.relationship.name, top > 0, open[top - 1].id == id {
            open[top].parentPosition = open[top].targets.count
            return
        }
        open[top].targets.append(Target(tree: try reference(id, relationship), isReference: true))
    }

    private func reference(_ id: RecordID, _ relationship: RelationshipMappingPlan) throws -> ReadableValue {
        let destination = relationship.relationship.destination
        guard let values = id.keyValues, let leaves = plan.keyLeaves(of: destination), leaves.count == values.count
        else {
            throw DocumentError(
                .notRepresentable,
                "\(relationship.relationship.name) refers to \(id), whose entity \(destination) has no key: embed it, omit the relationship, or declare an identity."
            )
        }
        var key = Array(zip(leaves, values))
        if let identity = relationship.identity { key = try part(of: key, identity, relationship.relationship) }
        let parts = try key.map { leaf, text in
            let value = TextValue.anyValue(text, as: leaf.attribute.type) ?? .string(text)
            return try leaf.tree(of: value, style: style, decimals: plan.mapping.decimals)
        }
        return parts.count == 1 ? parts[0] : .array(parts)
    }

    /// The values of the attributes by which a relationship finds its objects, of the values in the key of their entity. Nothing else of
    /// a referenced object is known here.
    private func part(
        of key: [(AttributeMappingPlan, String)], _ names: [String], _ relationship: GraphSchema.Relationship
    ) throws -> [(AttributeMappingPlan, String)] {
        let entity = plan.entity(relationship.destination)
        return try names.map { name in
            // A key with relationships contains attributes of other entities.
            guard entity?.identity?.count == key.count, let position = entity?.identity?.firstIndex(of: name) else {
                throw DocumentError(
                    .notRepresentable,
                    "\(relationship.name) finds its objects by \"\(name)\", which is not in the key of \(relationship.destination): embed them, or make it part of the identity."
                )
            }
            return key[position]
        }
    }

    mutating func endRelationship() throws {
        guard let top = open.indices.last else { throw DocumentError(.misuse, "No relationship is open.") }
        defer {
            open[top].relationship = nil
            open[top].targets = []
        }
        guard !open[top].isSkipping, let relationship = open[top].relationship else { return }
        try addParent(to: relationship, in: top)
        let targets = open[top].targets
        if open[top].parentPosition != nil, targets.isEmpty { return }
        let hasObjects = targets.contains { !$0.isReference }
        let references = hasObjects ? nil : relationship.writeReferences
        // An empty relationship is written as objects if both forms are possible, because its form cannot be
        // determined.
        guard let path = targets.isEmpty ? relationship.write ?? references : references ?? relationship.write else {
            return
        }
        var tree: ReadableValue
        if relationship.isKeyed, hasObjects || (targets.isEmpty && references == nil) {
            tree = .dictionary(try members(targets, of: relationship.relationship))
        } else if open[top].isToMany {
            tree = .array(targets.map(\.tree))
        } else {
            tree = targets.first?.tree ?? style.null
        }
        if let write = relationship.functions?.write, tree != style.null { tree = try write(tree) ?? style.null }
        put(tree, at: path, in: top)
    }

    /// Adds the enclosing object to a relationship that has other targets, too.
    private mutating func addParent(to relationship: RelationshipMappingPlan, in top: Int) throws {
        guard top > 0, let position = open[top].parentPosition, !open[top].targets.isEmpty,
            let id = open[top - 1].id
        else { return }
        var parent: ReadableValue?
        if open[top].targets.allSatisfy(\.isReference) {
            parent = try reference(id, relationship)
        } else if !relationship.isKeyed {
            // Beside objects, which need no key, it may have none: then it follows from the nesting only.
            parent = try? reference(id, relationship)
        }
        if let parent { open[top].targets.insert(Target(tree: parent, isReference: true), at: position) }
    }

    /// The objects of a keyed relationship by their keys. In that form a reference would be an object.
    private func members(
        _ targets: [Target], of relationship: GraphSchema.Relationship
    ) throws -> [ReadableValue.Member] {
        var keys: Set<String> = []
        return try targets.enumerated().map { index, target in
            guard !target.isReference else {
                throw DocumentError(
                    .notRepresentable,
                    "\(relationship.name) has a key for each object, and some objects would be references.")
            }
            let key = target.key ?? "\(index)"
            try Self.add(key, to: &keys, of: relationship.destination)
            return .init(name: key, value: target.tree)
        }
    }

    /// Throws if there is such a key already.
    private static func add(_ key: String, to keys: inout Set<String>, of entity: String) throws {
        guard keys.insert(key).inserted else {
            throw DocumentError(.notRepresentable, "Two objects of \(entity) have the key \"\(key)\".")
        }
    }

    mutating func nullRelationship(_ name: String) throws {
        guard let top = open.indices.last, let path = open[top].entity.relationship(name)?.write else { return }
        put(style.null, at: path, in: top)
    }

    // MARK: - Ends

    mutating func endObject() throws {
        guard let object = open.popLast() else { throw DocumentError(.misuse, "No object is open.") }
        var tree = object.value ?? .dictionary(object.members)
        if let write = object.entity.functions?.write { tree = try write(tree) ?? tree }
        if let top = open.indices.last {
            open[top].targets.append(Target(tree: tree, key: object.key))
        } else {
            let group = byEntity ? object.entity.documentKey : nil
            try sink.write(tree, key: plan.mapping.isKeyed ? try key(of: object, in: group) : nil, group: group)
        }
    }

    /// The key of a top-level object in a keyed document: the value of the property that is mapped to `@key`, else the
    /// number of objects before it.
    private mutating func key(of object: Object, in group: String?) throws -> String {
        let key = object.key ?? "\(keys[group ?? ""]?.count ?? 0)"
        try Self.add(key, to: &keys[group ?? "", default: []], of: object.entity.name)
        return key
    }

    mutating func finish() throws {
        guard open.isEmpty else { throw DocumentError(.misuse, "An object is still open.") }
        try sink.finish()
    }
}

extension GraphValue {
    /// The element of a composite at a path; nil if there is none.
    fileprivate func element(at path: ArraySlice<String>) -> GraphValue? {
        guard let name = path.first else { return self }
        guard case .composite(let members) = self else { return nil }
        return members.first { $0.name == name }?.value.element(at: path.dropFirst())
    }

    /// A composite without the element at a path; nil if no element is left. Any other value is unchanged.
    fileprivate func removing(_ path: ArraySlice<String>) -> GraphValue? {
        guard let name = path.first, case .composite(var members) = self else { return self }
        if let position = members.firstIndex(where: { $0.name == name }) {
            if let rest = path.count == 1 ? nil : members[position].value.removing(path.dropFirst()) {
                members[position].value = rest
            } else {
                members.remove(at: position)
            }
        }
        return members.isEmpty ? nil : .composite(members)
    }
}

/// Writes a graph as dictionaries of Foundation objects with a foreign format, using a mapping. Everything is in
/// memory.
package struct MappedDictionaryWriter: ForwardingGraphWriter {
    var target: MappedGraphWriter<MappedObjects>

    /// Creates a writer of objects in a style; with `byEntity` they are in an array for each entity.
    package init(plan: MappingPlan, style: DictionaryStyle = .native, byEntity: Bool = false) throws {
        target = try MappedGraphWriter(
            plan: plan, byEntity: byEntity,
            to: MappedObjects(style: style, byEntity: byEntity, isKeyed: plan.mapping.isKeyed))
    }

    /// The document: an array of dictionaries, or with `byEntity`, a root, or a keyed mapping a dictionary.
    package var document: Any { target.sink.document.foundationObject }
}

/// Makes records of the objects in a document with a foreign format.
///
/// A nested object becomes a record of its own, which comes before that of the enclosing object. Iterative: depth uses
/// memory, not the stack.
package struct MappedRecordMaker {
    private let plan: MappingPlan
    private var recordCount = 0

    /// Creates a maker with a plan.
    package init(_ plan: MappingPlan) {
        self.plan = plan
    }

    /// An object that is not yet a record.
    private struct Pending {
        var tree: ReadableValue
        var entity: EntityMappingPlan
        var id: RecordID
        var place: DocumentPlace
        var key: String?
        var index: Int
        var identity: [String]?
        var isTop = false
    }

    /// The records of an object and its nested objects, in which the object's own comes last. A value that is not an
    /// object represents the object with that key. Throws `DocumentError` for an entity that the plan does not have;
    /// errors of single values are in the records' details.
    package mutating func records(
        of tree: ReadableValue, entity: String, at place: DocumentPlace, index: Int = 0, key: String? = nil
    ) throws -> [PlacedRecord] {
        guard let entity = plan.entity(entity) else {
            let message = NameSuggestion.noEntity(entity, in: plan.schema.entities.map(\.name))
            throw DocumentError(.unknownEntity, message, at: place)
        }
        var pending = [
            Pending(tree: tree, entity: entity, id: nextID(), place: place, key: key, index: index, isTop: true)
        ]
        var records: [PlacedRecord] = []
        while let next = pending.popLast() {
            if let record = try record(of: next, &pending) { records.append(record) }
        }
        return records.reversed()
    }

    private mutating func nextID() -> RecordID {
        recordCount += 1
        return RecordID("$\(recordCount)")
    }

    private mutating func record(of object: Pending, _ pending: inout [Pending]) throws -> PlacedRecord? {
        var draft = MappedRecordDraft()
        var entity = object.entity
        var tree = object.tree
        guard case .dictionary = tree else { return reference(object) }
        do {
            if let read = entity.functions?.read { tree = try read(tree) ?? tree }
            if let name = try entity.choose?(tree), name != entity.name {
                if let chosen = plan.entity(name), plan.schema.isEntity(name, kindOf: entity.name) {
                    entity = chosen
                } else {
                    draft.note(nil, "\(entity.name) has no sub-entity \"\(name)\".")
                }
            }
        } catch {
            draft.note(nil, "\(error)")
        }
        let isChosen = entity !== object.entity
        read(entity.attributes, tree, object, &draft)
        for plans in entity.inheritedAttributes { read(plans, ofDescendantsOf: entity, tree, object, &draft) }
        for relationship in entity.relationships { read(relationship, tree, object, &draft, &pending) }
        for plans in entity.inheritedRelationships {
            if let relationship = choose(plans, of: entity, tree, object, &draft) {
                read(relationship, tree, object, &draft, &pending)
            }
        }
        return PlacedRecord(
            record: GraphRecord(
                id: object.id, entity: entity.name, attributes: draft.attributes, relationships: draft.relationships),
            place: object.place, hasOwnID: false, hasOwnEntity: isChosen,
            unknownMembers: unknownMembers(of: tree, entity, object.place),
            details: MappedDetails(
                isTop: object.isTop, key: object.identity, references: draft.references, defaults: draft.defaults,
                relationshipsByKey: draft.relationshipsByKey, mistakes: draft.mistakes, isReference: false,
                keys: entity.keys))
    }

    private func unknownMembers(
        of tree: ReadableValue, _ entity: EntityMappingPlan, _ place: DocumentPlace
    ) -> [PlacedRecord.UnknownMember] {
        guard case .dictionary(let members) = tree else { return [] }
        return members.compactMap { member in
            guard !entity.allMembers.contains(member.name), member.name != MappedPath.Place.value.rawValue else {
                return nil
            }
            let value: GraphValue? = if case .value(let value) = member.value { value } else { nil }
            return .init(name: member.name, value: value, place: place.member(member.name))
        }
    }

    /// The value of the first path that exists.
    private func find(_ paths: [MappedPath], in tree: ReadableValue, _ object: Pending) -> ReadableValue? {
        for path in paths { if let found = value(at: path, in: tree, object) { return found } }
        return nil
    }

    private func value(at path: MappedPath, in tree: ReadableValue, _ object: Pending) -> ReadableValue? {
        switch path.place {
        case .key?: object.key.map { .value(.string($0)) }
        case .index?: .value(.integer(Int64(object.index)))
        case .value?: tree.member(MappedPath.Place.value.rawValue)
        case nil: tree.value(at: path.steps)
        }
    }

    /// The first path that exists.
    private func path(_ paths: [MappedPath], in tree: ReadableValue, _ object: Pending) -> MappedPath? {
        paths.first { value(at: $0, in: tree, object) != nil }
    }

    // MARK: - Attributes

    private func read(
        _ attributes: [AttributeMappingPlan], _ tree: ReadableValue, _ object: Pending,
        _ draft: inout MappedRecordDraft
    ) {
        for attribute in attributes {
            do {
                if let value = try value(of: attribute, in: tree, object) {
                    draft.attributes.append(GraphAttribute(name: attribute.attribute.name, value: value))
                } else if let value = attribute.defaultValue {
                    draft.defaults.append(GraphAttribute(name: attribute.attribute.name, value: value))
                }
            } catch {
                draft.note(attribute.attribute.name, "\(error)")
            }
        }
    }

    /// Reads an attribute of entities below that of the object, by the first of their plans whose key exists.
    private func read(
        _ plans: [AttributeMappingPlan], ofDescendantsOf entity: EntityMappingPlan, _ tree: ReadableValue,
        _ object: Pending, _ draft: inout MappedRecordDraft
    ) {
        var found: (plan: AttributeMappingPlan, path: MappedPath, value: Result<GraphValue?, any Error>)?
        for plan in plans {
            guard let path = path(plan.read + plan.elements.flatMap(\.plan.read), in: tree, object) else { continue }
            if let found, found.path != path { continue }
            let result = Result { try value(of: plan, in: tree, object) }
            guard let first = found else {
                found = (plan, path, result)
                continue
            }
            switch (first.value, result) {
            case (.success(let one?), .success(let other?)) where first.plan.agrees(one, with: plan, other): continue
            case (.success(nil), .success(nil)), (.failure, .failure): continue
            default: return noteConflict(of: plan.attribute.name, at: path, below: entity, &draft)
            }
        }
        guard let found else { return }
        do {
            guard let value = try found.value.get() else { return }
            draft.attributes.append(GraphAttribute(name: found.plan.attribute.name, value: value))
        } catch {
            draft.note(found.plan.attribute.name, "\(error)")
        }
    }

    /// Entities below that of the object read one value in different ways, and it is not known which of them the object has.
    private func noteConflict(
        of name: String, at path: MappedPath, below entity: EntityMappingPlan, _ draft: inout MappedRecordDraft
    ) {
        draft.note(name, "Entities below \(entity.name) read \"\(path.text)\" in different ways. Choose the entity.")
    }

    /// The value of an attribute, with the elements that have their own keys; nil if no key exists.
    private func value(
        of attribute: AttributeMappingPlan, in tree: ReadableValue, _ object: Pending
    ) throws -> GraphValue? {
        let own = try find(attribute.read, in: tree, object).map(attribute.value)
        var members: [GraphAttribute] = if case .composite(let members)? = own { members } else { [] }
        var isFound = false
        for element in attribute.elements {
            guard let found = find(element.plan.read, in: tree, object) else { continue }
            isFound = true
            let value = try element.plan.value(of: found)
            members.put(value, at: element.path[...], of: attribute.attribute.elements)
        }
        guard isFound else { return own }
        return members.isNull ? .null : .composite(members)
    }

    // MARK: - Relationships

    /// The first of the plans of entities below that of the object whose key exists.
    private func choose(
        _ plans: [RelationshipMappingPlan], of entity: EntityMappingPlan, _ tree: ReadableValue, _ object: Pending,
        _ draft: inout MappedRecordDraft
    ) -> RelationshipMappingPlan? {
        var found: (plan: RelationshipMappingPlan, path: MappedPath)?
        for plan in plans {
            guard let path = path(plan.read + plan.readReferences, in: tree, object) else { continue }
            guard let first = found else {
                found = (plan, path)
                continue
            }
            let (one, other) = (first.plan.relationship, plan.relationship)
            let isRelated =
                self.plan.schema.isEntity(one.destination, kindOf: other.destination)
                || self.plan.schema.isEntity(other.destination, kindOf: one.destination)
            if first.path == path,
                !isRelated || one.isToMany != other.isToMany || first.plan.isKeyed != plan.isKeyed
                    || first.plan.identity != plan.identity
            {
                noteConflict(of: one.name, at: path, below: entity, &draft)
                return nil
            }
        }
        return found?.plan
    }

    private mutating func read(
        _ relationship: RelationshipMappingPlan, _ tree: ReadableValue, _ object: Pending,
        _ draft: inout MappedRecordDraft,
        _ pending: inout [Pending]
    ) {
        let name = relationship.relationship.name
        guard
            var found = find(relationship.read, in: tree, object) ?? find(relationship.readReferences, in: tree, object)
        else { return }
        do {
            if let read = relationship.functions?.read { found = try read(found) ?? .value(.null) }
        } catch {
            return draft.note(name, "\(error)")
        }
        guard let destination = plan.entity(relationship.relationship.destination) else { return }
        let place = object.place.member(relationship.read.first?.text ?? name)
        var ids: [RecordID] = []
        var hasObjects = false
        func add(_ element: ReadableValue, _ index: Int, _ key: String?, _ maker: inout MappedRecordMaker) -> Bool {
            switch element {
            case .value(.null): return true
            case .dictionary:
                let id = maker.nextID()
                let pointer = relationship.relationship.isToMany ? place.element(key ?? "\(index)") : place
                pending.append(
                    Pending(
                        tree: element, entity: destination, id: id, place: pointer, key: key, index: index,
                        identity: relationship.identity))
                ids.append(id)
                hasObjects = true
                return true
            case .value, .array:
                do {
                    ids.append(try maker.reference(to: destination, by: relationship.identity, element, &draft))
                    return true
                } catch {
                    draft.note(name, "\(error)")
                    return false
                }
            }
        }
        switch found {
        case .value(.null):
            let target = relationship.relationship.isToMany ? RelationshipTarget.nullToMany : .toOne(nil)
            draft.add(relationship.relationship, target)
            return
        case .dictionary(let members) where relationship.isKeyed:
            for (index, member) in members.enumerated() {
                var element = member.value
                if case .dictionary = element {
                } else {
                    element = .dictionary([.init(name: MappedPath.Place.value.rawValue, value: element)])
                }
                guard add(element, index, member.name, &self) else { return }
            }
        case .array(let elements) where relationship.relationship.isToMany:
            for (index, element) in elements.enumerated() {
                guard add(element, index, nil, &self) else { return }
            }
        case .dictionary where !relationship.relationship.isToMany,
            .value where !relationship.relationship.isToMany,
            .array where !relationship.relationship.isToMany && keyCount(of: destination, relationship.identity) > 1:
            guard add(found, 0, nil, &self) else { return }
        default:
            return draft.note(
                name,
                relationship.relationship.isToMany ? "\(name) needs an array." : "\(name) needs an object or a key.")
        }
        if !hasObjects { draft.relationshipsByKey.insert(name) }
        draft.add(relationship.relationship, relationship.relationship.isToMany ? .toMany(ids) : .toOne(ids.first))
    }

    // MARK: - Keys

    private func keyCount(of entity: EntityMappingPlan, _ identity: [String]?) -> Int {
        identity?.count ?? plan.keyLeaves(of: entity.name)?.count ?? 0
    }

    /// The id of an object that is referenced by its key.
    private func reference(
        to entity: EntityMappingPlan, by identity: [String]?, _ tree: ReadableValue, _ draft: inout MappedRecordDraft
    ) throws -> RecordID {
        let leaves: [AttributeMappingPlan]? =
            if let identity { identity.compactMap(entity.attribute) } else { plan.keyLeaves(of: entity.name) }
        guard let leaves, !leaves.isEmpty else {
            throw MappedValueError("\(entity.name) has no key by which it could be found.")
        }
        let parts = if case .array(let elements) = tree { elements } else { [tree] }
        guard parts.count == leaves.count else {
            throw MappedValueError("A reference to \(entity.name) needs \(leaves.count) key values.")
        }
        let values = try zip(leaves, parts).map { GraphAttribute(name: $0.attribute.name, value: try $0.value(of: $1)) }
        let texts = try values.map { part in
            // An object whose key has no value cannot be referred to, and an empty text is another key.
            guard let text = TextValue.text(of: part.value) else {
                throw MappedValueError("A key value of \(entity.name), \(part.name), is null or not a single value.")
            }
            return text
        }
        // A key with relationships is represented by the text of its parts; a key of one attribute by its value.
        if identity == nil,
            entity.identity?.count != leaves.count
                || entity.identity?.contains(where: { entity.attribute($0) == nil }) == true
        {
            return .key(entity: entity.name, values: texts)
        }
        let id = RecordID("$=" + RecordID.key(entity: entity.name, values: values.map(\.name) + texts).text)
        draft.references[id] = .init(entity: entity.name, key: values)
        return id
    }

    /// A top-level value that is not an object: the record of the object with this key.
    private func reference(_ object: Pending) -> PlacedRecord? {
        var draft = MappedRecordDraft()
        if object.tree == .value(.null) { return nil }
        do {
            let id = try reference(to: object.entity, by: object.identity, object.tree, &draft)
            draft.attributes = draft.references[id]?.key ?? []
            if draft.attributes.isEmpty { draft.note(nil, "Expected an object, found a key.") }
            draft.references = [:]
        } catch {
            draft.note(nil, "\(error)")
        }
        return PlacedRecord(
            record: GraphRecord(id: object.id, entity: object.entity.name, attributes: draft.attributes),
            place: object.place, hasOwnID: false, hasOwnEntity: false,
            details: MappedDetails(
                isTop: object.isTop, key: nil, references: [:], defaults: [], relationshipsByKey: [],
                mistakes: draft.mistakes, isReference: true, keys: [:]))
    }
}

extension [GraphAttribute] {
    /// Sets an element of a composite, in the order in which the model declares the elements.
    fileprivate mutating func put(
        _ value: GraphValue, at path: ArraySlice<String>, of elements: [GraphSchema.Attribute]
    ) {
        guard let name = path.first, let position = elements.firstIndex(where: { $0.name == name }) else { return }
        let rest = path.dropFirst()
        let known = firstIndex { $0.name == name }
        var new = value
        if !rest.isEmpty {
            var inner: [GraphAttribute] =
                if let known, case .composite(let inner) = self[known].value { inner } else { [] }
            inner.put(value, at: rest, of: elements[position].elements)
            new = .composite(inner)
        }
        if let known {
            self[known] = GraphAttribute(name: name, value: new)
        } else {
            let later = Set(elements[position...].map(\.name))
            insert(GraphAttribute(name: name, value: new), at: firstIndex { later.contains($0.name) } ?? endIndex)
        }
    }

    /// Whether all elements are null.
    fileprivate var isNull: Bool {
        allSatisfy { if case .composite(let inner) = $0.value { inner.isNull } else { $0.value.isNull } }
    }
}

/// The values found in one object of a document, before a record is made of them.
struct MappedRecordDraft {
    var attributes: [GraphAttribute] = []
    var relationships: [GraphRelationship] = []
    var references: [RecordID: MappedDetails.Reference] = [:]
    var defaults: [GraphAttribute] = []
    var relationshipsByKey: Set<String> = []
    var mistakes: [MappedDetails.Mistake] = []

    mutating func add(_ relationship: GraphSchema.Relationship, _ target: RelationshipTarget) {
        relationships.append(
            GraphRelationship(name: relationship.name, target: target, isOrdered: relationship.isOrdered))
    }

    mutating func note(_ property: String?, _ message: String) {
        mistakes.append(.init(property: property, message: message))
    }
}

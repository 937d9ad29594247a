import CoreData
import GraphDocuments

/// Makes values of uniqueness constraints unique before copies are created, so that saving the copies succeeds.
final class UniqueValues {
    private let context: NSManagedObjectContext
    private let rule: CopyRules.Uniqueness
    private let countsUpNumbers: Bool
    private let isSubset: Bool
    private let schema: GraphSchema
    private let graph: CopyGraph
    private let links: CopyLinks
    private var known: [UniquenessConstraint: KnownKeys] = [:]

    typealias Key = [GraphValue]

    /// What is known of a constraint's keys in this run.
    private struct KnownKeys {
        /// The keys of copies that are not created yet, or were created in this run.
        private(set) var own: Set<Key> = []
        /// The largest whole number at each position of a key: of `own`, and of all objects once they were asked for.
        private var largest: [Int: Int64] = [:]
        private var fetched: Set<Int> = []

        /// Adds a key of a copy. False if another copy has it.
        mutating func insert(_ key: Key) -> Bool {
            guard own.insert(key).inserted else { return false }
            for (position, part) in key.enumerated() {
                if case .integer(let number) = part { add(number, at: position) }
            }
            return true
        }

        private mutating func add(_ number: Int64, at position: Int) {
            largest[position] = max(largest[position] ?? number, number)
        }

        /// The largest number at a position; 0 if there is no positive one. `stored` is called once for each position.
        mutating func largest(at position: Int, stored: () throws -> Int64?) rethrows -> Int64 {
            if !fetched.contains(position) {
                if let number = try stored() { add(number, at: position) }
                fetched.insert(position)
            }
            return max(largest[position] ?? 0, 0)
        }

        /// Notes a number that a copy gets.
        mutating func assign(_ number: Int64, at position: Int) { add(number, at: position) }
    }

    init(
        context: NSManagedObjectContext, model: NSManagedObjectModel, rules: CopyRules, graph: CopyGraph,
        links: CopyLinks
    ) {
        self.context = context
        self.graph = graph
        self.links = links
        isSubset = rules.isSubset
        rule = rules.uniqueness
        countsUpNumbers = rules.countsUpNumbers
        schema = GraphSchema(model)
    }

    /// Makes the values of some copies unique.
    ///
    /// Throws `CopyError` if a value cannot be made unique. Cost: for each constraint one fetch, and one for each
    /// round of suffixes that are taken.
    ///
    /// - Parameter followed: Whether to process the constraints with values from ancestors, or the others.
    func makeUnique(_ drafts: [CopyDraft], followed: Bool) throws {
        if rule == .unchecked { return }
        var order: [UniquenessConstraint] = []
        var members: [UniquenessConstraint: [CopyDraft]] = [:]
        for draft in drafts {
            for constraint in draft.entity.constraints
            where constraint.followsParent == followed && !constraint.hasNewUUID {
                if members[constraint] == nil { order.append(constraint) }
                members[constraint, default: []].append(draft)
            }
        }
        for constraint in order { try makeUnique(members[constraint] ?? [], constraint) }
    }

    private func makeUnique(_ drafts: [CopyDraft], _ constraint: UniquenessConstraint) throws {
        let keyed = drafts.compactMap { draft in key(of: draft, constraint).map { (draft, $0) } }
        let existing = try existing(keyed.map(\.0), constraint)
        // The keys that remain are known before new ones are made.
        let others = keyed.filter { existing.contains($1) || !known[constraint, default: KnownKeys()].insert($1) }
        var clashing: [Candidate] = []
        for (draft, _) in others {
            if let candidate = try candidate(for: draft, constraint) { clashing.append(candidate) }
        }
        try makeUnique(clashing, constraint)
    }

    // MARK: - Suffixes

    /// A copy whose text must be made unique by a suffix.
    private struct Candidate {
        var draft: CopyDraft
        var attribute: String
        var stem: String
        var number = 0
    }

    /// The text of a copy that can be made unique. Nil if a new UUID or number has made the key unique.
    private func candidate(for draft: CopyDraft, _ constraint: UniquenessConstraint) throws -> Candidate? {
        let place = "\(draft.entity.target.name ?? "").\(constraint.properties.joined(separator: ", "))"
        guard case .suffix(let suffix, _) = rule else {
            let advice = " Another value has the same substitute: use a token, which is unique."
            throw notUnique(draft, place, isSubset ? advice : "")
        }
        let parts = constraint.properties.compactMap { name in
            draft.entity.attributes.first { $0.target.name == name && !$0.followsParent }?.target
        }
        if let part = parts.last(where: { $0.attributeType == .UUIDAttributeType }) {
            draft.set(UUID(), for: part.name)
            note(draft, constraint)
            return nil
        }
        if countsUpNumbers, let part = parts.last(where: \.isWholeNumber) {
            draft.set(NSNumber(value: try nextNumber(part, constraint, draft, at: place)), for: part.name)
            note(draft, constraint)
            return nil
        }
        guard let part = parts.last(where: { $0.attributeType == .stringAttributeType }),
            let text = draft.value(part.name) as? String
        else {
            let isNumber = parts.contains(where: \.isWholeNumber)
            throw notUnique(
                draft, place, " Set its value by a closure\(isNumber ? ", or set countsUpNumbers" : "").")
        }
        return Candidate(draft: draft, attribute: part.name, stem: UniqueValues.stem(of: text, suffix))
    }

    /// Notes the key of a copy with a new UUID or number.
    private func note(_ draft: CopyDraft, _ constraint: UniquenessConstraint) {
        if let key = key(of: draft, constraint) { _ = known[constraint, default: KnownKeys()].insert(key) }
    }

    /// The number after the largest one of all objects, saved and unsaved, and of all copies of this run.
    private func nextNumber(
        _ attribute: NSAttributeDescription, _ constraint: UniquenessConstraint, _ draft: CopyDraft, at place: String
    ) throws -> Int64 {
        guard let position = constraint.properties.firstIndex(of: attribute.name) else {
            throw notUnique(draft, place, "")
        }
        let highest = try known[constraint, default: KnownKeys()].largest(at: position) {
            let request = NSFetchRequest<NSManagedObject>(entityName: constraint.entity)
            request.sortDescriptors = [NSSortDescriptor(key: attribute.name, ascending: false)]
            request.fetchLimit = 1
            return (try context.fetch(request).first?.value(forKey: attribute.name) as? NSNumber)?.int64Value
        }
        guard highest < attribute.largestNumber else {
            throw notUnique(draft, place, " There is no larger number.")
        }
        known[constraint, default: KnownKeys()].assign(highest + 1, at: position)
        return highest + 1
    }

    private func makeUnique(_ candidates: [Candidate], _ constraint: UniquenessConstraint) throws {
        guard case .suffix(let suffix, let limit) = rule else { return }
        var waiting = candidates
        var taken: Set<Key> = []
        while !waiting.isEmpty {
            var proposed: [(Candidate, Key)] = []
            for var candidate in waiting {
                while true {
                    candidate.number += 1
                    guard candidate.number <= limit else {
                        throw notUnique(
                            candidate.draft, "\(candidate.draft.entity.target.name ?? "").\(candidate.attribute)",
                            " \(limit) suffixes are taken.")
                    }
                    let number = candidate.number == 1 ? "" : " \(candidate.number)"
                    candidate.draft.set(candidate.stem + suffix + number, for: candidate.attribute)
                    guard let key = key(of: candidate.draft, constraint) else { break }
                    if taken.contains(key) || !known[constraint, default: KnownKeys()].insert(key) { continue }
                    proposed.append((candidate, key))
                    break
                }
            }
            taken = try existing(proposed.map(\.0.draft), constraint)
            waiting = proposed.filter { taken.contains($0.1) }.map(\.0)
        }
    }

    /// The text without a suffix from an earlier copy: the copy of `List copy` is `List copy 2`.
    private static func stem(of text: String, _ suffix: String) -> String {
        var stem = Substring(text)
        let digits = stem.reversed().prefix { $0.isASCII && $0.isNumber }.count
        if digits > 0, stem.dropLast(digits).last == " ", stem.dropLast(digits + 1).hasSuffix(suffix) {
            stem = stem.dropLast(digits + 1)
        }
        guard !suffix.isEmpty, stem.hasSuffix(suffix), stem.count > suffix.count else { return text }
        return String(stem.dropLast(suffix.count))
    }

    private func notUnique(_ draft: CopyDraft, _ place: String, _ advice: String) -> CopyError {
        CopyError(
            .notUnique,
            "The copy of \(draft.original.objectID.uriRepresentation().absoluteString) has the same \(place) as "
                + "another object, which must be unique.\(advice)",
            at: place)
    }

    // MARK: - Keys

    /// The values of a constraint's properties; nil if one is null, because nulls are never equal.
    private func key(of draft: CopyDraft, _ constraint: UniquenessConstraint) -> Key? {
        key(constraint) { name in
            guard let (relationship, target) = linkedObject(of: draft, name) else { return .value(draft.value(name)) }
            if let number = graph.index[target] { return .copy(number) }
            return .object(links.object(for: target, by: relationship))
        }
    }

    /// The value of a property in a key.
    private enum Part {
        case value(Any?)
        case object(NSManagedObject?)
        /// The copy of the object with an index, to which only copies can be related.
        case copy(Int)
    }

    private func key(_ constraint: UniquenessConstraint, _ part: (String) -> Part) -> Key? {
        guard let entity = schema.entity(constraint.entity) else { return nil }
        var key: Key = []
        for name in constraint.properties {
            switch part(name) {
            case .value(let value):
                guard let attribute = entity.attribute(name) else { return nil }
                key.append(GraphValue(value, declaredAs: attribute))
            case .object(let object):
                key.append(object.map { .uri($0.objectID.uriRepresentation().absoluteString) } ?? .null)
            case .copy(let number): key.append(.integer(Int64(number)))
            }
            if key.last?.isNull == true { return nil }
        }
        return key
    }

    /// The destination of an original's to-one relationship; nil for an attribute, and for an empty relationship.
    private func linkedObject(of draft: CopyDraft, _ name: String) -> (RelationshipCopy, NSManagedObjectID)? {
        guard let index = draft.entity.relationships.firstIndex(where: { $0.target.name == name }),
            let target = graph.nodes[draft.node].targets[index].first
        else { return nil }
        return (draft.entity.relationships[index], target)
    }

    /// The keys of existing objects in the context that may equal a key of the drafts.
    private func existing(_ drafts: [CopyDraft], _ constraint: UniquenessConstraint) throws -> Set<Key> {
        // The most selective property gives the smallest result.
        let distinct = constraint.properties.map { name in
            var met: Set<GraphValue> = []
            let values = drafts.compactMap { draft -> Any? in
                guard let value = fetchable(name, of: draft), let key = key(of: draft, constraint),
                    let index = constraint.properties.firstIndex(of: name), met.insert(key[index]).inserted
                else { return nil }
                return value
            }
            return (name, values)
        }
        guard let best = distinct.max(by: { $0.1.count < $1.1.count }), !best.1.isEmpty else { return [] }
        let request = NSFetchRequest<NSManagedObject>(entityName: constraint.entity)
        request.predicate = NSPredicate(format: "%K IN %@", argumentArray: [best.0, best.1])
        request.returnsObjectsAsFaults = false
        var keys: Set<Key> = []
        for object in try context.fetch(request) {
            let relationships = object.entity.relationshipsByName
            let key = key(constraint) { name in
                relationships[name] == nil
                    ? .value(object.value(forKey: name)) : .object(object.value(forKey: name) as? NSManagedObject)
            }
            if let key { keys.insert(key) }
        }
        return keys
    }

    /// A property's value for a predicate; nil if no other object can have it.
    private func fetchable(_ name: String, of draft: CopyDraft) -> Any? {
        guard let (relationship, target) = linkedObject(of: draft, name) else { return draft.value(name) }
        return graph.index[target] == nil ? links.object(for: target, by: relationship) : nil
    }
}

extension NSAttributeDescription {
    fileprivate var isWholeNumber: Bool {
        [.integer16AttributeType, .integer32AttributeType, .integer64AttributeType].contains(attributeType)
    }

    /// The largest number that the attribute can hold.
    fileprivate var largestNumber: Int64 {
        switch attributeType {
        case .integer16AttributeType: Int64(Int16.max)
        case .integer32AttributeType: Int64(Int32.max)
        default: Int64.max
        }
    }
}

/// A uniqueness constraint on attributes and to-one relationships.
package struct UniquenessConstraint: Hashable {
    /// The entity that declares it: no two of its objects, or of entities that inherit from it, may have equal values.
    package let entity: String
    package let properties: [String]
    /// Whether a relationship is among them.
    package let hasRelationships: Bool
    /// Whether one of the attributes of a copy is a new UUID, so that its values are unique.
    package let hasNewUUID: Bool
    /// Whether one of the attributes takes its value from an ancestor in the graph.
    package let followsParent: Bool

    /// The constraints of an entity, including inherited ones, without those that have attributes that are not copied.
    package static func all(
        of entity: NSEntityDescription, attributes: [AttributeCopy], relationships: [RelationshipCopy]
    ) -> [UniquenessConstraint] {
        let followed = Set(attributes.lazy.filter(\.followsParent).map(\.target.name))
        let made = Set(
            attributes.lazy.filter { if case .newUUID = $0.source { true } else { false } }.map(\.target.name))
        let related = Set(relationships.lazy.map(\.target).filter { !$0.isToMany }.map(\.name))
        let copied = related.union(attributes.lazy.map(\.target.name))
        var constraints: [UniquenessConstraint] = []
        var declared: Set<[String]> = []
        // Starts at the root entity, so that a constraint that subentities repeat is used once, for the topmost entity.
        for ancestor in Array(sequence(first: entity, next: { $0.superentity })).reversed() {
            for constraint in ancestor.uniquenessConstraints {
                let names = constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
                guard !names.isEmpty, names.allSatisfy(copied.contains), declared.insert(names).inserted else {
                    continue
                }
                constraints.append(
                    UniquenessConstraint(
                        entity: ancestor.name ?? "", properties: names,
                        hasRelationships: names.contains(where: related.contains),
                        hasNewUUID: names.contains(where: made.contains),
                        followsParent: names.contains(where: followed.contains)))
            }
        }
        return constraints
    }
}

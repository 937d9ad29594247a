import CoreData

/// The objects to copy, and the destinations of their relationships: determined before any copy is created.
///
/// Memory grows with the number of IDs, not with the contents of objects.
final class CopyGraph {
    /// An object to copy.
    struct Node {
        var id: NSManagedObjectID
        var entity: EntityCopy
        /// The object from which it was first reached; nil for the requested objects.
        var parent: Int?
        /// The destinations of each relationship of the entity, without those that the rules omit.
        var targets: [[NSManagedObjectID]]
    }

    private(set) var nodes: [Node] = []
    private(set) var index: ObjectIDTable<Int> = [:]
    /// Originals that were never saved.
    private(set) var unsaved: [(NSManagedObject, Int)] = []

    private let blueprint: CopyBlueprint
    private let names = ObjectNames()
    private var roots: Set<NSManagedObjectID> = []
    private var isAmongLinkedObjects = false
    private var parents: ObjectIDTable<Int> = [:]

    init(_ blueprint: CopyBlueprint) {
        self.blueprint = blueprint
    }

    /// Walks from some objects along the relationships that are copied.
    ///
    /// - Parameter willLoad: Called before each batch; throws to cancel.
    func walk(from roots: [NSManagedObjectID], loader: ObjectLoader, willLoad: @escaping (Int) throws -> Void) throws {
        self.roots = Set(roots)
        try GraphWalker(loader: loader, willLoad: willLoad, following: visit).ids(from: roots)
        if blueprint.rules.takesLinkedObjects { try walkToLinkedObjects(loader, willLoad) }
        parents = [:]
        for root in roots where index[root] == nil {
            throw CopyError(
                .missingObject, "The object \(root.uriRepresentation().absoluteString) does not exist.",
                at: root.entity.name ?? "")
        }
    }

    /// Continues the walk to linked objects, and from there to required ones.
    private func walkToLinkedObjects(_ loader: ObjectLoader, _ willLoad: @escaping (Int) throws -> Void) throws {
        var outside: [NSManagedObjectID] = []
        var met: Set<NSManagedObjectID> = []
        for id in nodes.lazy.flatMap(\.targets).joined() where index[id] == nil && met.insert(id).inserted {
            outside.append(id)
        }
        isAmongLinkedObjects = true
        try GraphWalker(loader: loader, willLoad: willLoad, following: visit).ids(from: outside)
    }

    /// Records an object, and returns the objects that are copied for its sake.
    private func visit(_ object: NSManagedObject) throws -> [NSManagedObjectID] {
        let id = object.objectID
        // The walk to linked objects may reach an object that is already copied.
        guard index[id] == nil else { return [] }
        let isRoot = roots.contains(id)
        let entity = try blueprint.copy(of: object.entity)
        if !isRoot, let condition = entity.condition, try !condition(object) { return [] }
        let number = nodes.count
        var copied: [NSManagedObjectID] = []
        var targets: [[NSManagedObjectID]] = []
        targets.reserveCapacity(entity.relationships.count)
        for relationship in entity.relationships {
            guard !(isRoot ? relationship.isLeftOutAtRoots : relationship.listsEmbedding) else {
                targets.append([])
                continue
            }
            var ids = self.targets(of: object, by: relationship)
            if let choice = relationship.choice, let context = object.managedObjectContext {
                let rules = try ids.map { try choice(object, context.object(with: $0)) }
                copied += zip(ids, rules).filter { $0.1 == .embed }.map(\.0)
                ids = zip(ids, rules).filter { $0.1 != .omit }.map(\.0)
            } else if isAmongLinkedObjects ? relationship.isMandatory : relationship.rule == .embed {
                copied += ids
            }
            targets.append(ids)
        }
        for target in copied where parents[target] == nil && !roots.contains(target) { parents[target] = number }
        nodes.append(Node(id: id, entity: entity, parent: parents[id], targets: targets))
        index[id] = number
        if id.isTemporaryID { unsaved.append((object, number)) }
        return copied
    }

    /// Whether an object refers to a copied object that does not refer back, although both sides are to-one. Stores of Core
    /// Data may contain such references. The copies get only the one side, because setting the inverse would change another
    /// copy.
    func isOneSided(_ relationship: RelationshipCopy, from node: Node) -> Bool {
        guard !relationship.relationship.isToMany, let inverse = relationship.relationship.inverseRelationship,
            !inverse.isToMany,
            let number = node.entity.relationships.firstIndex(where: { $0.name == relationship.name }),
            let target = node.targets[number].first.flatMap({ index[$0] }).map({ nodes[$0] }),
            let back = target.entity.relationships.firstIndex(where: { $0.name == inverse.name }),
            // The rules for single objects may have omitted the inverse.
            target.entity.relationships[back].choice == nil, !target.entity.relationships[back].isLeftOutAtRoots
        else { return false }
        return !target.targets[back].contains(node.id)
    }

    /// The destinations of a relationship. Those of an unordered relationship are sorted by primary key, so that copies are
    /// created in a deterministic order.
    private func targets(of object: NSManagedObject, by relationship: RelationshipCopy) -> [NSManagedObjectID] {
        let ids = object.destinations(of: relationship.relationship)
        let included = blueprint.includesAllEntities ? ids : ids.filter { blueprint.includes($0.entity) }
        guard relationship.relationship.isToMany, !relationship.relationship.isOrdered, included.count > 1 else {
            return included
        }
        return included.map { (names.name(of: $0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }
}

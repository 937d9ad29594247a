import Coral
import CoreData
import GraphDocuments

/// Finds objects with equal values of a uniqueness constraint that is new. Memory: the values of all objects.
final class UniquenessRehearsal {
    private let entity: NSEntityDescription
    private let names: [String]
    private let correspondence: ModelCorrespondence
    private var met: Set<[GraphValue]> = []
    let check: RowRehearsalCheck

    private init(_ entity: NSEntityDescription, _ names: [String], _ correspondence: ModelCorrespondence) {
        self.entity = entity
        self.names = names
        self.correspondence = correspondence
        let list = names.joined(separator: ",")
        check = RowRehearsalCheck(
            .notUnique, entity.name, list, isBreaking: true,
            "Another object has equal values, and a new uniqueness constraint forbids that. Merge or change the objects."
        ) { _ in [] }
    }

    /// The constraints that the newer version has and the older has not.
    static func new(in correspondence: ModelCorrespondence) -> [UniquenessRehearsal] {
        correspondence.destination.sortedEntities.flatMap { after in
            constraints(of: after).compactMap { names in
                if let before = correspondence.source(of: after) {
                    let sources = correspondence.properties(from: before, to: after)
                    let old = Set(names.compactMap { sources[$0] })
                    let known = sequence(first: before) { $0.superentity }.flatMap(constraints(of:)).map(Set.init)
                    if old.count == names.count, known.contains(old) { return nil }
                }
                return UniquenessRehearsal(after, names, correspondence)
            }
        }
    }

    private static func constraints(of entity: NSEntityDescription) -> [[String]] {
        entity.uniquenessConstraints.map { constraint in
            constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
        }.filter { !$0.isEmpty }
    }

    /// Whether the constraint applies to the objects of a source entity.
    func concerns(_ source: NSEntityDescription) -> Bool {
        correspondence.destination(of: source)?.isKindOf(entity: entity) ?? false
    }

    /// The object if an earlier one has the same values. Objects without one of the values may be repeated.
    func duplicates(_ object: NSManagedObject) -> [NSManagedObjectID] {
        guard let after = correspondence.destination(of: object.entity) else { return [] }
        let sources = correspondence.properties(from: object.entity, to: after)
        var key: [GraphValue] = []
        for name in names {
            let value: GraphValue
            if let source = sources[name], let relationship = object.entity.relationshipsByName[source] {
                let destination = relationship.isToMany ? nil : object.value(forKey: source) as? NSManagedObject
                value = destination.map { .uri($0.objectID.uriRepresentation().absoluteString) } ?? .null
            } else if let source = sources[name], let attribute = object.entity.attributesByName[source] {
                value = GraphValue(object.value(forKey: source), declaredAs: GraphSchema.Attribute(attribute))
            } else if let attribute = after.attributesByName[name] {
                // A new attribute: all objects get the default value.
                value = GraphValue(attribute.defaultValue, declaredAs: GraphSchema.Attribute(attribute))
            } else {
                value = .null
            }
            if value.isNull { return [] }
            key.append(value)
        }
        return met.insert(key).inserted ? [] : [object.objectID]
    }
}

import Coral

/// A model with every kind of relationship: a tree in order, many to many, one to one, one way, and inheritance.
enum WebModel {
    static func make() -> NSManagedObjectModel {
        let thing = entity("Thing", [("name", .stringAttributeType), ("number", .integer64AttributeType)])
        let special = entity("Special", [("extra", .stringAttributeType)])
        let place = entity("Place", [("name", .stringAttributeType)])
        thing.subentities = [special]
        relate(thing, "children", .toMany(ordered: true), thing, "parent", .toOne, rule: .cascadeDeleteRule)
        relate(thing, "friends", .toMany(ordered: false), thing, "friendOf", .toMany(ordered: true))
        relate(thing, "partner", .toOne, special, "partnerOf", .toOne)
        relate(thing, "rival", .toOne, special, "rivalOf", .toMany(ordered: false))
        relate(place, "inhabitants", .toMany(ordered: false), thing, "place", .toOne, rule: .cascadeDeleteRule)
        let pointer = NSRelationshipDescription()
        pointer.name = "pointer"
        pointer.destinationEntity = place
        pointer.maxCount = 1
        pointer.isOptional = true
        pointer.deleteRule = .nullifyDeleteRule
        thing.properties.append(pointer)
        let model = NSManagedObjectModel()
        model.entities = [thing, special, place]
        return model
    }

    static func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = "NSManagedObject"
        entity.properties = attributes.map { attribute($0, $1) }
        return entity
    }

    static func attribute(
        _ name: String, _ type: NSAttributeType, optional: Bool = true, userInfo: [String: String] = [:]
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        attribute.userInfo = userInfo
        return attribute
    }

    enum Arity {
        case toOne
        case toMany(ordered: Bool)
    }

    static func relate(
        _ source: NSEntityDescription, _ name: String, _ arity: Arity, _ destination: NSEntityDescription,
        _ inverseName: String, _ inverseArity: Arity, rule: NSDeleteRule = .nullifyDeleteRule
    ) {
        let there = relationship(name, arity, destination, rule)
        let back = relationship(inverseName, inverseArity, source, .nullifyDeleteRule)
        there.inverseRelationship = back
        back.inverseRelationship = there
        source.properties.append(there)
        destination.properties.append(back)
    }

    private static func relationship(
        _ name: String, _ arity: Arity, _ destination: NSEntityDescription, _ rule: NSDeleteRule
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.isOptional = true
        relationship.deleteRule = rule
        switch arity {
        case .toOne: relationship.maxCount = 1
        case .toMany(let ordered):
            relationship.maxCount = 0
            relationship.isOrdered = ordered
        }
        return relationship
    }
}

/// Numbers that look random and are the same each time.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// Fills a context with objects of any model, related at random. The same seed gives the same graph.
struct GraphGenerator {
    private var numbers: SeededNumbers

    init(seed: UInt64) { numbers = SeededNumbers(seed: seed) }

    mutating func objects(_ count: Int, in context: NSManagedObjectContext, _ model: NSManagedObjectModel)
        -> [NSManagedObject]
    {
        let entities = model.entities.filter { !$0.isAbstract }.sorted { ($0.name ?? "") < ($1.name ?? "") }
        let objects = (0..<count).map { number in
            let object = context.insert(entities[Int.random(in: 0..<entities.count, using: &numbers)].name ?? "")
            for (name, attribute) in object.entity.attributesByName.sorted(by: { $0.key < $1.key }) {
                switch attribute.attributeType {
                case .stringAttributeType: object.setValue("\(name) \(number)", forKey: name)
                case .integer64AttributeType: object.setValue(Int64(number), forKey: name)
                default: break
                }
            }
            return object
        }
        for object in objects {
            for (name, relationship) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
                let fitting = objects.filter { other in
                    relationship.destinationEntity.map { other.entity.isKindOf(entity: $0) } ?? false
                }
                guard !fitting.isEmpty, Bool.random(using: &numbers) else { continue }
                let wanted = relationship.isToMany ? Int.random(in: 0...3, using: &numbers) : 1
                let targets = (0..<wanted).map { _ in fitting[Int.random(in: 0..<fitting.count, using: &numbers)] }
                if !relationship.isToMany {
                    object.setValue(targets.first, forKey: name)
                } else if relationship.isOrdered {
                    object.setValue(NSOrderedSet(array: targets), forKey: name)
                } else {
                    object.setValue(NSSet(array: targets), forKey: name)
                }
            }
        }
        return objects
    }
}

/// What an object holds, with related objects by what `name` calls them.
func contents(
    of object: NSManagedObject, name: (NSManagedObject) -> String = { $0.objectID.uriRepresentation().absoluteString }
) -> [String: String] {
    var contents: [String: String] = ["entity": object.entity.name ?? ""]
    for key in object.entity.attributesByName.keys { contents[key] = object.value(forKey: key).map { "\($0)" } }
    for (key, relationship) in object.entity.relationshipsByName {
        if !relationship.isToMany {
            contents[key] = (object.value(forKey: key) as? NSManagedObject).map(name)
        } else if relationship.isOrdered {
            let members = (object.value(forKey: key) as? NSOrderedSet)?.array ?? []
            contents[key] = members.compactMap { ($0 as? NSManagedObject).map(name) }.joined(separator: " ")
        } else {
            let members = (object.value(forKey: key) as? NSSet)?.allObjects ?? []
            contents[key] = members.compactMap { ($0 as? NSManagedObject).map(name) }.sorted().joined(separator: " ")
        }
    }
    return contents
}

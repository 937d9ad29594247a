import Foundation

@testable import EngineTesting

@testable import ManagedObjects

/// A model with interrelated entities, and random changes of its objects.
enum Tangle {
    static func model() -> NSManagedObjectModel {
        let knot = NotesModel.entity("Knot", [NotesModel.attribute("name", .stringAttributeType)])
        let bow = NotesModel.entity("Bow", [NotesModel.attribute("colour", .stringAttributeType)])
        knot.subentities = [bow]
        NotesModel.relate(knot, "next", many: false, knot, "previous", many: false, rule: .nullifyDeleteRule)
        NotesModel.relate(
            knot, "parts", many: true, ordered: true, knot, "whole", many: false, rule: .cascadeDeleteRule)
        NotesModel.relate(knot, "held", many: true, bow, "holders", many: true, rule: .nullifyDeleteRule)
        NotesModel.relate(knot, "row", many: true, ordered: true, knot, "rows", many: true, rule: .nullifyDeleteRule)
        NotesModel.relate(bow, "pin", many: false, knot, "pinned", many: false, rule: .cascadeDeleteRule)
        for (name, isToMany) in [("twin", false), ("friends", true)] {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.destinationEntity = knot
            relationship.inverseRelationship = relationship
            relationship.maxCount = isToMany ? 0 : 1
            relationship.isOptional = true
            relationship.deleteRule = .nullifyDeleteRule
            knot.properties += [relationship]
        }
        let drawer = NSRelationshipDescription()
        drawer.name = "drawer"
        drawer.destinationEntity = bow
        drawer.maxCount = 0
        drawer.isOptional = true
        drawer.deleteRule = .nullifyDeleteRule
        knot.properties += [drawer]
        let model = NSManagedObjectModel()
        model.entities = [knot, bow]
        return model
    }

    /// Makes a random change and returns its description. New objects have unique names.
    static func change(
        _ context: NSManagedObjectContext, naming name: String, by random: inout SeededGenerator
    ) throws -> String? {
        let knots = try context.all("Knot", sortedBy: "name")
        if knots.count < 4 || Int.random(in: 0..<8, using: &random) == 0 {
            let entity = Bool.random(using: &random) ? "Knot" : "Bow"
            _ = context.insert(entity, ["name": name])
            return "insert \(entity) \(name)"
        }
        guard let object = knots.randomElement(using: &random) else { return nil }
        let own = object.value(forKey: "name") ?? ""
        if Int.random(in: 0..<10, using: &random) == 0 {
            context.delete(object)
            return "delete \(own)"
        }
        if Int.random(in: 0..<8, using: &random) == 0 {
            object.setValue(name, forKey: "name")
            return "\(own) is called \(name)"
        }
        let relationships = object.entity.relationshipsByName.sorted { $0.key < $1.key }.map(\.value)
        guard let relationship = relationships.randomElement(using: &random) else { return nil }
        let others = knots.filter { $0.entity.isKindOf(entity: relationship.destinationEntity ?? object.entity) }
        guard let other = others.randomElement(using: &random) else { return nil }
        let what = "\(relationship.name) of \(own): \(other.value(forKey: "name") ?? "")"
        if !relationship.isToMany {
            let isNone = Int.random(in: 0..<4, using: &random) == 0
            object.setValue(isNone ? nil : other, forKey: relationship.name)
            return isNone ? "no \(what)" : what
        }
        if relationship.isOrdered {
            let set = object.mutableOrderedSetValue(forKey: relationship.name)
            guard set.contains(other) else {
                set.insert(other, at: Int.random(in: 0...set.count, using: &random))
                return "into \(what)"
            }
            guard Bool.random(using: &random) else {
                set.moveObjects(
                    at: IndexSet(integer: set.index(of: other)), to: Int.random(in: 0..<set.count, using: &random))
                return "moves in \(what)"
            }
            set.remove(other)
            return "out of \(what)"
        }
        let set = object.mutableSetValue(forKey: relationship.name)
        guard set.contains(other) else {
            set.add(other)
            return "into \(what)"
        }
        set.remove(other)
        return "out of \(what)"
    }

    /// All references, by object and property.
    static func content(of context: NSManagedObjectContext) throws -> [String: [String]] {
        var content: [String: [String]] = [:]
        func uri(_ object: NSManagedObject) -> String {
            "\(object.value(forKey: "name") ?? "") (\(object.objectID.uriRepresentation().lastPathComponent))"
        }
        for object in try context.all("Knot") {
            content[uri(object)] = []
            for (name, relationship) in object.entity.relationshipsByName {
                let related: [NSManagedObject]
                switch object.value(forKey: name) {
                case let set as NSOrderedSet: related = set.array.compactMap { $0 as? NSManagedObject }
                case let set as NSSet: related = set.allObjects.compactMap { $0 as? NSManagedObject }
                case let one as NSManagedObject: related = [one]
                default: related = []
                }
                let uris = related.map(uri)
                content["\(uri(object)).\(name)"] = relationship.isOrdered ? uris : uris.sorted()
            }
        }
        return content
    }

    /// The unexpected differences between the states of two contexts.
    static func differences(of seen: [String: [String]], from expected: [String: [String]]) -> [String] {
        Set(seen.keys).union(expected.keys).sorted().compactMap { name in
            guard seen[name] != expected[name] else { return nil }
            func text(_ value: [String]?) -> String { value.map { "\($0)" } ?? "nothing" }
            return "\(name) is \(text(seen[name])), not \(text(expected[name]))"
        }
    }
}

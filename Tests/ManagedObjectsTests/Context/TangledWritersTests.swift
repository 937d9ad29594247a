import Foundation
import Testing

@testable import ManagedObjects

/// Two contexts change and save the same objects by turns, over a model with every shape of relationship: one-to-one with
/// others and with itself, ordered, many-to-many with itself, one-way, in subentities. Whatever the merge policy, what they
/// leave behind is whole, and once told of everything they show it.
@Suite("Two writers of a tangle") struct TangledWritersTests {
    private static let seeds: [UInt64] = {
        let count = ProcessInfo.processInfo.environment["CORAL_RANDOM_SEEDS"].flatMap(UInt64.init) ?? 4
        return Array(1...max(1, count))
    }()

    @Test(
        arguments: seeds,
        [
            NSMergePolicyType.errorMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
            .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType, .rollbackMergePolicyType,
        ])
    func `two contexts leave a whole store`(seed: UInt64, policy: NSMergePolicyType) throws {
        var random = SeededGenerator(seed: seed)
        let stack = try TestStack(model: Tangle.model())
        let contexts = (0..<2).map { _ in
            let context = stack.context()
            context.mergePolicy = NSMergePolicy(merge: policy)
            return context
        }
        let news = contexts.map(SavesOf.init)
        var told = [0, 0]
        var log: [String] = []
        func tell(_ index: Int) {
            let saves = news[1 - index].notifications
            for notification in saves[told[index]...] {
                contexts[index].mergeChanges(fromContextDidSave: notification)
            }
            told[index] = saves.count
            log.append("\(index) is told")
        }
        func save(_ index: Int) {
            log.append("\(index) saves")
            do {
                try contexts[index].save()
            } catch {
                contexts[index].rollback()
                tell(index)
            }
        }
        for _ in 0..<150 {
            let index = Int.random(in: 0..<2, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 0: save(index)
            case 1: tell(index)
            default:
                if let what = try Tangle.change(contexts[index], by: &random) { log.append("\(index): \(what)") }
                contexts[index].processPendingChanges()
            }
        }
        for index in [0, 1, 0, 1, 0, 1] {
            tell(index)
            save(index)
        }
        for index in 0..<2 { tell(index) }
        let fresh = stack.context()
        let stored = try Tangle.content(of: fresh)
        var wrong = fresh.brokenInvariants()
        for context in contexts {
            wrong += context.brokenInvariants()
            if context.hasChanges { wrong.append("there still are changes") }
            let seen = try Tangle.content(of: context)
            for (name, value) in stored where seen[name] != value {
                wrong.append("\(name): \(seen[name] ?? []), stored \(value)")
            }
            for name in seen.keys where stored[name] == nil { wrong.append("\(name) is not stored") }
        }
        if !wrong.isEmpty {
            Issue.record(
                "seed \(seed), \(policy): \(wrong.joined(separator: "\n"))\n\(log.suffix(60).joined(separator: "\n"))")
        }
    }
}

/// What a context has told of its saves.
private final class SavesOf: @unchecked Sendable {  // because the test is one thread
    private(set) var notifications: [Notification] = []
    private var token: (any NSObjectProtocol)?

    init(_ context: NSManagedObjectContext) {
        token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: context, queue: nil
        ) { [unowned self] in notifications.append($0) }
    }

    deinit { if let token { NotificationCenter.default.removeObserver(token) } }
}

/// A model of knots, and random changes to what is made of it.
private enum Tangle {
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

    /// Makes a random change; says which.
    static func change(_ context: NSManagedObjectContext, by random: inout SeededGenerator) throws -> String? {
        let knots = try context.all("Knot", sortedBy: "name")
        let name = "\(random.next() % 1_000_000_000)"
        if knots.count < 4 || Int.random(in: 0..<8, using: &random) == 0 {
            _ = context.insert(Bool.random(using: &random) ? "Knot" : "Bow", ["name": name])
            return "insert \(name)"
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
            if set.contains(other) {
                if Bool.random(using: &random) {
                    set.remove(other)
                } else {
                    set.moveObjects(
                        at: IndexSet(integer: set.index(of: other)), to: Int.random(in: 0..<set.count, using: &random))
                }
            } else {
                set.insert(other, at: Int.random(in: 0...set.count, using: &random))
            }
            return "places in \(what)"
        }
        let set = object.mutableSetValue(forKey: relationship.name)
        if set.contains(other) { set.remove(other) } else { set.add(other) }
        return "in or out: \(what)"
    }

    /// What everything is and refers to, by URI and property.
    static func content(of context: NSManagedObjectContext) throws -> [String: [String]] {
        var content: [String: [String]] = [:]
        func uri(_ object: NSManagedObject) -> String { object.objectID.uriRepresentation().lastPathComponent }
        for object in try context.all("Knot") {
            content["\(uri(object)).name"] = ["\(object.value(forKey: "name") ?? "")"]
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
}

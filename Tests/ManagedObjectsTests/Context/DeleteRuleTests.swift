import CoreDataErrors
import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects

/// Every small graph of one entity, every pair of delete rules, every cardinality, with an inverse and without,
/// including cycles and loops: a context has the same result as a dozen lines of reference code.
@Suite("Delete rules, exhaustively")
struct DeleteRuleTests {
    private static let rules: [NSDeleteRule] = [
        .noActionDeleteRule, .nullifyDeleteRule, .cascadeDeleteRule, .denyDeleteRule,
    ]
    private static let size = 3

    /// A kind of relationship between nodes.
    struct Kind: CustomTestStringConvertible {
        var many: Bool
        /// Nil without an inverse.
        var inverseMany: Bool?

        var testDescription: String {
            "to-\(many ? "many" : "one"), inverse \(inverseMany.map { "to-\($0 ? "many" : "one")" } ?? "none")"
        }
    }

    private static let kinds =
        [false, true].flatMap { many in [nil, false, true].map { Kind(many: many, inverseMany: $0) } }

    private static func model(_ kind: Kind, rule: NSDeleteRule, inverseRule: NSDeleteRule) -> NSManagedObjectModel {
        let node = NotesModel.entity("Node", [NotesModel.attribute("number", .integer32AttributeType)])
        if let inverseMany = kind.inverseMany {
            NotesModel.relate(node, "next", many: kind.many, node, "previous", many: inverseMany, rule: rule)
            node.relationshipsByName["previous"]?.deleteRule = inverseRule
        } else {
            let next = NSRelationshipDescription()
            next.name = "next"
            next.destinationEntity = node
            next.maxCount = kind.many ? 0 : 1
            next.deleteRule = rule
            node.properties += [next]
        }
        let model = NSManagedObjectModel()
        model.entities = [node]
        return model
    }

    /// The possible graphs of the relationship: sets of edges, each 3 × source + target.
    private static func graphs(_ kind: Kind) -> [Set<Int>] {
        // A one-way to-many relationship is stored in its members, so each of them has one owner.
        let inverseMany = kind.inverseMany ?? !kind.many
        return (0..<512).compactMap { bits in
            let edges = Set((0..<9).filter { bits & (1 << $0) != 0 })
            // Exchanging the two nodes that are not deleted gives an isomorphic graph.
            let mirrored = edges.reduce(0) { $0 | 1 << (3 * [0, 2, 1][$1 / 3] + [0, 2, 1][$1 % 3]) }
            guard bits <= mirrored else { return nil }
            for node in 0..<size {
                if !kind.many, edges.count(where: { $0 / 3 == node }) > 1 { return nil }
                if !inverseMany, edges.count(where: { $0 % 3 == node }) > 1 { return nil }
            }
            return edges
        }
    }

    /// The expected result of deleting node 0: nil where a rule denies it.
    private static func reference(
        _ edges: Set<Int>, _ kind: Kind, rule: NSDeleteRule, inverseRule: NSDeleteRule
    ) -> (nodes: Set<Int>, edges: Set<Int>)? {
        let inverseRule = kind.inverseMany == nil ? .nullifyDeleteRule : inverseRule
        var deleted: Set<Int> = [0]
        var edges = edges
        var pending = [0]
        while !pending.isEmpty {
            let round = pending
            pending = []
            for node in round {
                for edge in edges.sorted() {
                    for (isSource, end, other, rule) in [
                        (true, edge / 3, edge % 3, rule), (false, edge % 3, edge / 3, inverseRule),
                    ] where end == node && (isSource || kind.inverseMany != nil) {
                        if rule == .cascadeDeleteRule, deleted.insert(other).inserted { pending.append(other) }
                    }
                }
            }
        }
        for edge in edges {
            for (isSource, end, other, rule) in [
                (true, edge / 3, edge % 3, rule), (false, edge % 3, edge / 3, inverseRule),
            ] where deleted.contains(end) && !deleted.contains(other) && (isSource || kind.inverseMany != nil) {
                if rule == .denyDeleteRule { return nil }
            }
        }
        edges = edges.filter { !deleted.contains($0 / 3) && !deleted.contains($0 % 3) }
        return (Set(0..<size).subtracting(deleted), edges)
    }

    @Test(arguments: kinds) func `delete rules hold for every small graph`(kind: Kind) throws {
        for rule in Self.rules {
            for inverseRule in kind.inverseMany == nil ? [.nullifyDeleteRule] : Self.rules {
                let stack = try TestStack(
                    model: Self.model(kind, rule: rule, inverseRule: inverseRule), type: NSInMemoryStoreType)
                for edges in Self.graphs(kind) {
                    try check(edges, kind, rule, inverseRule, in: stack)
                }
            }
        }
    }

    private func check(
        _ edges: Set<Int>, _ kind: Kind, _ rule: NSDeleteRule, _ inverseRule: NSDeleteRule, in stack: TestStack
    ) throws {
        let label: Comment = "\(kind.testDescription), \(rule.rawValue) and \(inverseRule.rawValue), \(edges.sorted())"
        let context = stack.context()
        let nodes = (0..<Self.size).map { context.insert("Node", ["number": $0]) }
        for (number, node) in nodes.enumerated() {
            let targets = edges.filter { $0 / 3 == number }.map { nodes[$0 % 3] }
            node.setValue(kind.many ? NSSet(array: targets) : targets.first, forKey: "next")
        }
        try context.save()
        context.delete(nodes[0])
        let expected = Self.reference(edges, kind, rule: rule, inverseRule: inverseRule)
        if let expected {
            do { try context.save() } catch { Issue.record("\(label): \(error)") }
            // With the rule No Action, the other side still refers to the deleted object.
            if rule != .noActionDeleteRule, inverseRule != .noActionDeleteRule {
                #expect(context.brokenInvariants() == [], label)
            }
            let reader = stack.context()
            var left: [NSManagedObjectID: Int] = [:]
            for node in try reader.all("Node") { left[node.objectID] = node.value(forKey: "number") as? Int }
            #expect(Set(left.values) == expected.nodes, label)
            var found: Set<Int> = []
            for node in try reader.all("Node") {
                for target in node.objectIDs(forRelationshipNamed: "next") {
                    if let from = left[node.objectID], let to = left[target] { found.insert(3 * from + to) }
                }
            }
            #expect(found == expected.edges, label)
        } else {
            // Not `#expect(throws:)`, which would describe all objects of the error, a thousand times.
            do {
                try context.save()
                Issue.record("\(label): nothing is denied")
            } catch let error as NSError {
                let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error]
                #expect(details.allSatisfy { $0.code == NSValidationRelationshipDeniedDeleteError }, label)
            }
            context.rollback()
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Node")) == Self.size, label)
        }
        // An empty store for the next graph.
        let sweeper = stack.context()
        for node in try sweeper.all("Node") { node.setValue(nil, forKey: "next") }
        try sweeper.save()
        for node in try sweeper.all("Node") { sweeper.delete(node) }
        sweeper.validatesChanges = false
        try sweeper.save()
    }
}

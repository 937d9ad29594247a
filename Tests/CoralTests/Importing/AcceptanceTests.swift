import Coral
import Testing

/// Graphs that other libraries import incompletely or twice.
struct AcceptanceTests {
    private func things(_ context: NSManagedObjectContext) throws -> [String: NSManagedObject] {
        let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing"))
        return Dictionary(found.map { ($0.value(forKey: "name") as? String ?? "", $0) }, uniquingKeysWith: { $1 })
    }

    private func name(_ object: Any?) -> String? { (object as? NSManagedObject)?.value(forKey: "name") as? String }

    /// A tree of four levels by one relationship, with a diamond; two relationships between the same two entities, one
    /// of them without an inverse; and a subentity as destination of an inverse.
    private func makeWeb(_ context: NSManagedObjectContext) -> NSManagedObject {
        func thing(_ name: String, _ entity: String = "Thing") -> NSManagedObject {
            context.insert(entity, ["name": name])
        }
        let root = thing("1")
        var parents = [root]
        for _ in 2...4 {
            parents = parents.flatMap { parent in
                (1...2).map { number in
                    let child = thing(
                        "\(parent.value(forKey: "name") ?? "").\(number)", number == 2 ? "Special" : "Thing")
                    child.setValue(parent, forKey: "parent")
                    return child
                }
            }
        }
        let shared = thing("shared", "Special")
        for parent in parents { parent.setValue(shared, forKey: "rival") }
        parents[0].setValue(shared, forKey: "partner")
        let place = context.insert("Place", ["name": "home"])
        root.setValue(place, forKey: "pointer")
        shared.setValue(place, forKey: "place")
        return root
    }

    @Test(
        arguments: [
            (GraphFormat.json, DocumentLayout.flat), (.json, .nested), (.jsonLines, .lines), (.xml, .flat),
            (.xml, .nested), (.propertyList, .nested), (.xmlPropertyList, .flat),
        ])
    func `trees, diamonds, parallel and one-way relationships, and subentities are imported`(
        _ format: GraphFormat, _ layout: DocumentLayout
    ) throws {
        let context = try makeContext(WebModel.make())
        let document = try context.performAndWait {
            try makeWeb(context).encoded(as: format, layout: layout, shape: .everything)
        }
        let other = try makeContext(WebModel.make())
        try other.performAndWait {
            try other.importObjects(from: document)
            try other.save()
            other.reset()
            let things = try things(other)
            #expect(things.count == 16, "Fifteen in the tree, and the shared one once.")
            let shared = things["shared"]
            #expect(shared?.entity.name == "Special")
            let leaf = things["1.1.2.1"]
            #expect(name(leaf?.value(forKey: "parent")) == "1.1.2")
            #expect((leaf?.value(forKey: "parent") as? NSManagedObject)?.entity.name == "Special")
            #expect(leaf?.value(forKey: "rival") as? NSManagedObject === shared)
            #expect(leaf?.value(forKey: "partner") == nil)
            #expect(name(shared?.value(forKey: "partnerOf")) == "1.1.1.1")
            #expect((shared?.value(forKey: "rivalOf") as? NSSet)?.count == 8)
            #expect(name(things["1"]?.value(forKey: "pointer")) == "home")
            #expect(
                shared?.value(forKey: "place") as? NSManagedObject === things["1"]?.value(forKey: "pointer")
                    as? NSManagedObject)
            let children = (things["1.2"]?.value(forKey: "children") as? NSOrderedSet)?.array.map { name($0) }
            #expect(children == ["1.2.1", "1.2.2"])
        }
    }

    @Test func `nested tombstones delete, and the list contains the remaining members`() throws {
        let shop = try Shop()
        try shop.take(
            #"{"Order": [{"number": 1, "lines": [{"position": 1}, {"position": 2}], "labels": [{"word": "a"}]}]}"#)
        let plan = try shop.plan(
            #"{"Order": [{"number": 1, "lines": [{"position": 1, "$deleted": true}, {"position": 2, "text": "x"}]}]}"#)
        #expect(plan.deletions.kept.map(\.reason) == [.tombstone])
        #expect(plan.errors.isEmpty)
        try shop.context.performAndWait {
            try plan.apply()
            try shop.context.save()
        }
        #expect(try shop.texts("Line", "text") == ["x"])
        #expect(try shop.objects("Line", sortedBy: "position").count == 1)
        #expect(try shop.objects("Label", sortedBy: "word").count == 1)
    }

    @Test func `importing overlapping documents again changes nothing`() throws {
        let shop = try Shop()
        let one = #"{"Order": [{"number": 1, "labels": [{"word": "a"}, {"word": "b"}]}]}"#
        let two =
            #"{"Order": [{"number": 2, "labels": [{"word": "b"}, {"word": "c"}]}, {"number": 1, "labels": ["a", "b"]}]}"#
        for json in [one, two, one, two] { try shop.take(json) }
        #expect(try shop.texts("Label", "word") == ["a", "b", "c"])
        #expect(try shop.plan(one).isEmpty && shop.plan(two).isEmpty)
    }
}

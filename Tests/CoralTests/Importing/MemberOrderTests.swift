import Coral
import Testing

/// The members of a JSON object are in any order: documents whose members another program has reordered.
struct MemberOrderTests {
    /// A thing with a child of a subentity, which has a partner of that entity too.
    private func makeThing(_ context: NSManagedObjectContext) -> NSManagedObject {
        let partner = context.insert("Special", ["name": "partner", "extra": "p"])
        let child = context.insert("Special", ["name": "child", "extra": "c", "partner": partner])
        let other = context.insert("Thing", ["name": "other"])
        return context.insert("Thing", ["name": "root", "children": NSOrderedSet(array: [child, other])])
    }

    private func expectGraph(_ root: NSManagedObject) {
        #expect(root.value(forKey: "name") as? String == "root")
        let children = (root.value(forKey: "children") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
        #expect(children.map { $0.entity.name } == ["Special", "Thing"])
        #expect(children.first?.value(forKey: "extra") as? String == "c")
        #expect(children.first?.value(forKeyPath: "partner.extra") as? String == "p")
    }

    @Test(arguments: [DictionaryStyle.json, .propertyList])
    func `a graph with objects of a subentity survives any order of members`(style: DictionaryStyle) throws {
        let context = try makeContext(WebModel.make())
        let dictionary = try context.performAndWait {
            try makeThing(context).dictionary(style: style, shape: .everything)
        }
        let documents =
            style == .propertyList
            ? [try PropertyListSerialization.data(fromPropertyList: dictionary, format: .binary, options: 0)]
            : [
                try JSONSerialization.data(withJSONObject: dictionary), try reversedJSON(dictionary),
                try JSONSerialization.data(withJSONObject: dictionary, options: [.prettyPrinted, .sortedKeys]),
            ]
        for document in documents {
            let other = try makeContext(WebModel.make())
            try other.performAndWait { expectGraph(try other.importObject(from: document)) }
        }
    }

    @Test(arguments: [DocumentLayout.flat, .nested])
    func `a document survives any order of members`(layout: DocumentLayout) throws {
        let context = try makeContext(WebModel.make())
        let document = try context.performAndWait {
            let thing = makeThing(context)
            try context.save()
            return try thing.encoded(layout: layout, shape: .everything)
        }
        let reversed = try reversedJSON(JSONSerialization.jsonObject(with: document))
        #expect(!reversed.text.hasPrefix("{\"$header"))
        let other = try makeContext(WebModel.make())
        try other.performAndWait {
            // The root is the one that the header states, also if it is the last member.
            let objects = try other.importObjects(from: reversed)
            #expect(objects.count == 1)
            if let root = objects.first { expectGraph(root) }
        }
        // The same store finds the objects by their ids, whose store is in the header.
        try context.performAndWait {
            let plan = try GraphImporter(into: context).plan(reversed)
            #expect(plan.isEmpty && plan.errors.isEmpty, "\(plan.summary)")
        }
    }

    @Test func `a delta survives any order of members`() throws {
        let context = try makeContext(WebModel.make())
        try context.performAndWait {
            let thing = context.insert("Thing", ["name": "a"])
            try context.save()
            let before = try thing.encoded()
            thing.setValue("b", forKey: "name")
            let delta = try thing.changes(since: before)
            let reversed = try JSONSerialization.data(
                withJSONObject: JSONSerialization.jsonObject(with: delta.encoded()), options: .sortedKeys)
            #expect(!reversed.text.hasPrefix("{\"$header"))
            #expect(try GraphDelta(reversed) == delta)
        }
    }

    @Test func `deeply nested objects without an entity are searched once`() throws {
        // A search of each object up to its end would read a million bytes six hundred times.
        let depth = 600
        let name = String(repeating: "n", count: 2000)
        let open = String(repeating: #"{"name":"\#(name)","partner":"#, count: depth)
        let close = String(repeating: #","$entity":"Special"}"#, count: depth)
        let other = try makeContext(WebModel.make())
        try other.performAndWait {
            let plan: ImportPlan<NSManagedObject> = try GraphImporter(into: other).plan(
                Data("\(open)null\(close)".utf8))
            #expect(plan.inserts.count == depth && plan.errors.isEmpty)
        }
    }
}

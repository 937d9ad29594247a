import Coral
import CoralTesting
import Testing

/// For every graph the copy is isomorphic to the original, shares no object with it, and leaves it unchanged.
@Suite struct CopyIsomorphismTests {
    private func check(
        _ objects: [NSManagedObject], copiedBy copier: GraphCopier, into target: NSManagedObjectContext? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let source = try #require(objects.first?.managedObjectContext)
        let before = objects.map { ObjectContents($0) }
        let copies = try copier.copy(objects, into: target)
        #expect(objects.map { ObjectContents($0) } == before, sourceLocation: sourceLocation)
        if objects.allSatisfy({ !$0.isInserted }) {
            #expect(source.updatedObjects.isEmpty, sourceLocation: sourceLocation)
        }
        #expect(copies.count == objects.count, sourceLocation: sourceLocation)
        #expect(copies.omissions.count == 0, sourceLocation: sourceLocation)
        let originals = Set(objects)
        for original in objects {
            let copy = try #require(copies[original], sourceLocation: sourceLocation)
            #expect(!originals.contains(copy), sourceLocation: sourceLocation)
            #expect(copy.managedObjectContext === target ?? source, sourceLocation: sourceLocation)
            let wanted = ObjectContents(original) { copies[$0]?.objectID.uriRepresentation().absoluteString ?? "?" }
            let actual = (target ?? source).performAndWait { ObjectContents(copy) }
            #expect(actual == wanted, sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: 0..<40) func `random graphs, unsaved`(seed: Int) throws {
        let model = WebModel.make()
        let context = try makeContext(model)
        try context.performAndWait {
            var generator = GraphGenerator(seed: UInt64(seed))
            let objects = try generator.objects(1 + seed, in: context)
            try check(objects, copiedBy: GraphCopier(shape: .everything, batchSize: 1 + seed % 7))
        }
    }

    @Test(arguments: 0..<40) func `random graphs, saved, and the copies save too`(seed: Int) throws {
        let model = WebModel.make()
        let context = try makeContext(model)
        try context.performAndWait {
            var generator = GraphGenerator(seed: UInt64(seed))
            let objects = try generator.objects(1 + seed, in: context)
            try context.save()
            if seed % 2 == 0 { context.refreshAllObjects() }
            try check(objects, copiedBy: GraphCopier(shape: .everything, batchSize: 1 + seed % 7))
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            let places = NSFetchRequest<NSManagedObject>(entityName: "Place")
            #expect(try context.count(for: request) + context.count(for: places) == 2 * objects.count)
        }
    }

    @Test(arguments: 0..<10) func `random graphs, to another store`(seed: Int) throws {
        let model = WebModel.make()
        let (context, other) = (try makeContext(model), try makeContext(WebModel.make()))
        try context.performAndWait {
            var generator = GraphGenerator(seed: UInt64(100 + seed))
            let objects = try generator.objects(20, in: context)
            if seed % 2 == 0 { try context.save() }
            try check(objects, copiedBy: GraphCopier(shape: .everything), into: other)
            #expect(
                try other.performAndWait {
                    try other.save()
                    return other.insertedObjects.isEmpty
                })
        }
    }

    /// All graphs of three things with a one-to-one and an ordered relationship.
    @Test func `every small graph`() throws {
        let model = WebModel.make()
        let context = try makeContext(model)
        try context.performAndWait {
            for choice in 0..<(4 * 4 * 4) {
                let objects = (0..<3).map { context.insert("Special", ["name": "\($0)"]) }
                for (place, object) in objects.enumerated() {
                    let target = (choice >> (2 * place)) & 3
                    guard target < 3 else { continue }
                    object.setValue(objects[target], forKey: "partner")
                    object.setValue(objects[target], forKey: "parent")
                    object.mutableOrderedSetValue(forKey: "friendOf").add(objects[target])
                }
                try check(objects, copiedBy: GraphCopier(shape: .everything))
                context.reset()
            }
        }
    }

    @Test func `a chain of a hundred thousand links`() throws {
        let context = try makeContext(WebModel.make())
        try context.performAndWait {
            context.undoManager = nil
            var last = context.insert("Thing", ["number": 0])
            let first = last
            for number in 1..<100_000 {
                let next = context.insert("Thing", ["number": Int64(number)])
                next.setValue(last, forKey: "parent")
                last = next
            }
            let copies = try GraphCopier(batchSize: 5000).copy([first])
            #expect(copies.count == 100_000)
            let copy = try #require(copies[last])
            #expect(copy.value(forKey: "number") as? Int64 == 99_999)
            #expect(
                copy.value(forKey: "parent") as? NSManagedObject !== last.value(forKey: "parent") as? NSManagedObject)
        }
    }
}

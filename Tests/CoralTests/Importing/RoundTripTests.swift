import Coral
import Testing

/// Exported documents are imported without loss.
struct RoundTripTests {
    private func fill(_ context: NSManagedObjectContext) throws {
        try context.performAndWait {
            let roots = (0..<3).map {
                context.insert("Thing", ["name": "root \($0)", "number": Int64.max - Int64($0)])
            }
            for (index, root) in roots.enumerated() {
                var parent = root
                for level in 0..<4 {
                    let child = context.insert(level == 2 ? "Special" : "Thing", ["name": "\(index).\(level)"])
                    child.setValue(parent, forKey: "parent")
                    parent = child
                }
                root.setValue(NSSet(array: roots), forKey: "friends")
                let place = context.insert("Place", ["name": "place \(index)"])
                root.setValue(place, forKey: "pointer")
                place.setValue(NSSet(array: [roots[0], parent]), forKey: "inhabitants")
            }
            try context.save()
        }
    }

    private func document(
        _ context: NSManagedObjectContext, _ format: GraphFormat = .json, layout: DocumentLayout? = nil
    ) throws -> Data {
        let sink = MemorySink()
        guard let coordinator = context.persistentStoreCoordinator else { return Data() }
        var exporter = GraphExporter(format: format, shape: .everything)
        exporter.layout = layout
        try exporter.exportStore(of: coordinator, to: sink)
        return sink.data
    }

    @Test(arguments: [
        (GraphFormat.json, DocumentLayout.flat), (.json, .nested), (.jsonLines, .lines), (.propertyList, .flat),
        (.xmlPropertyList, .nested), (.xml, .flat),
    ])
    func `a graph round-trips in every format`(_ format: GraphFormat, _ layout: DocumentLayout) throws {
        let original = try makeContext(WebModel.make())
        try fill(original)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).\(format.rawValue)")
        defer { try? FileManager.default.removeItem(at: file) }
        try document(original, format, layout: layout).write(to: file)
        let restored = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).sqlite")
        defer { StoreCreation.removeStore(at: restored, model: WebModel.make()) }
        if Engine.current.choosesKeys {
            let plan = try StoreRestorer(model: WebModel.make()).restore(.file(file), to: restored)
            #expect(plan.inserts.count == 18)
            let copy = try makeContext(WebModel.make(), at: restored)
            #expect(try document(copy).text == (try document(original).text))
            // A second import changes nothing.
            #expect(try StoreRestorer(model: WebModel.make()).restore(.file(file), to: restored).isEmpty)
        }
        let other = try makeContext(WebModel.make())
        try other.performAndWait {
            let imported = try GraphImporter(into: other).plan(.file(file))
            #expect(imported.errors.isEmpty)
            try imported.apply()
            try other.save()
        }
        #expect(try shape(of: other) == shape(of: original))
    }

    /// The graph by names, which are unique here.
    private func shape(of context: NSManagedObjectContext) throws -> [String: [String]] {
        try context.performAndWait {
            var shape: [String: [String]] = [:]
            for entity in ["Thing", "Place"] {
                for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) {
                    let name = object.value(forKey: "name") as? String ?? ""
                    for (key, relationship) in object.entity.relationshipsByName {
                        let value = object.value(forKey: key)
                        let targets =
                            (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? value.map { [$0] } ?? []
                        let names = targets.map { ($0 as? NSManagedObject)?.value(forKey: "name") as? String ?? "" }
                        // An ordered inverse of an unordered relationship has the order of the import.
                        let isGiven = relationship.isOrdered && key != "friendOf"
                        shape["\(entity) \(name).\(key)"] = isGiven ? names : names.sorted()
                    }
                }
            }
            return shape
        }
    }

    @Test func `a large document is imported in batches`() throws {
        let shop = try Shop()
        var json = #"{"Remark": ["#
        for index in 0..<300 { json += #"{"$id": "r\#(index)", "text": "\#(index)", "order": "o\#(index / 3)"},"# }
        json.removeLast()
        json += #"], "Order": ["#
        for index in 0..<100 {
            json += #"{"$id": "o\#(index)", "number": \#(index), "labels": [{"word": "w\#(index % 7)"}]},"#
        }
        json.removeLast()
        json += "]}"
        let coordinator = try #require(shop.context.persistentStoreCoordinator)
        var options = ImportOptions()
        options.identity.usesDeclaredKeys = false
        options.identity.keys["Order"] = ["number"]
        let importer = BatchImporter(into: coordinator, options: options, batchSize: 40)
        let progress = Progress(totalUnitCount: 0)
        let result = try importer.importDocument(.data(Data(json.utf8)), progress: progress)
        #expect(result.insertCount == 407)
        #expect(result.linkCount == 400)
        #expect(result.recordCount == 500)
        #expect(result.savedBatchCount > 20)
        #expect(progress.fractionCompleted == 1)
        let labels = try shop.objects("Label", sortedBy: "word")
        #expect(labels.count == 7)
        #expect(labels.reduce(0) { $0 + (($1.value(forKey: "orders") as? NSSet)?.count ?? 0) } == 100)
        #expect(try shop.objects("Remark", sortedBy: "text").allSatisfy { $0.value(forKey: "order") != nil })
    }
}

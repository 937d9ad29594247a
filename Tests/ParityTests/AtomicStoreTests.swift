import CoreData
import Testing

/// The calls to an atomic store of the program, and the features that work with its cache nodes.
@Suite(.serialized) struct AtomicStoreTests {
    /// Keeps its rows in a property list: the entity's name and the values, by reference object.
    final class ListStore: NSAtomicStore, @unchecked Sendable {  // because a test calls from one thread
        nonisolated(unsafe) static var log = CallLog()
        nonisolated(unsafe) static var failsToSave = false
        private var lastNumber = 0

        override var type: String { "List" }

        override func loadMetadata() throws {
            Self.log.add("loadMetadata")
            metadata = [NSStoreTypeKey: "List", NSStoreUUIDKey: "2E25C2E5-0E0B-4B8C-9F3A-1D6C5B1A7E10"]
        }

        override func load() throws {
            Self.log.add("load")
            guard let url, let data = try? Data(contentsOf: url),
                let rows = try PropertyListSerialization.propertyList(from: data, options: [], format: nil)
                    as? [String: [String: Any]],
                let model = persistentStoreCoordinator?.managedObjectModel
            else { return }
            var nodes: [String: NSAtomicStoreCacheNode] = [:]
            for (reference, row) in rows.sorted(by: { $0.key < $1.key }) {
                guard let entity = model.entitiesByName[row["entity"] as? String ?? ""] else { continue }
                let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: reference))
                for name in entity.attributesByName.keys { node.setValue(row[name], forKey: name) }
                nodes[reference] = node
                lastNumber = max(lastNumber, Int(reference.dropFirst(3)) ?? 0)
            }
            for (reference, row) in rows {
                guard let node = nodes[reference] else { continue }
                for (name, relationship) in node.objectID.entity.relationshipsByName {
                    let members = (row[name] as? [String] ?? []).compactMap { nodes[$0] }
                    if members.isEmpty { continue }
                    node.setValue(
                        !relationship.isToMany
                            ? members[0]
                            : relationship.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members),
                        forKey: name)
                }
            }
            addCacheNodes(Set(nodes.values))
        }

        override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
            lastNumber += 1
            Self.log.add("newReferenceObject \(managedObject.entity.name ?? "") \(lastNumber)")
            return String(format: "row%03d", lastNumber)
        }

        override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
            Self.log.add("newCacheNode \(referenceObject(for: managedObject.objectID))")
            return super.newCacheNode(for: managedObject)
        }

        override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
            if cacheNode(for: managedObject.objectID) != nil {
                Self.log.add("updateCacheNode \(referenceObject(for: node.objectID))")
            }
            super.updateCacheNode(node, from: managedObject)
        }

        override func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
            Self.log.add("addCacheNodes \(cacheNodes.count)")
            super.addCacheNodes(cacheNodes)
        }

        override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
            Self.log.add("willRemoveCacheNodes \(cacheNodes.count)")
        }

        private static func nodes(in value: Any?) -> [NSAtomicStoreCacheNode] {
            switch value {
            case let node as NSAtomicStoreCacheNode: [node]
            case let set as NSOrderedSet: set.array.compactMap { $0 as? NSAtomicStoreCacheNode }
            case let set as NSSet: set.allObjects.compactMap { $0 as? NSAtomicStoreCacheNode }
            case let set as Set<NSAtomicStoreCacheNode>: Array(set)
            default: []
            }
        }

        override func save() throws {
            Self.log.add("save")
            if Self.failsToSave { throw CocoaError(.fileWriteOutOfSpace) }
            var rows: [String: [String: Any]] = [:]
            for node in cacheNodes() {
                var row: [String: Any] = ["entity": node.objectID.entity.name ?? ""]
                for name in node.objectID.entity.attributesByName.keys { row[name] = node.value(forKey: name) }
                for name in node.objectID.entity.relationshipsByName.keys {
                    row[name] = Self.nodes(in: node.value(forKey: name)).map { "\(referenceObject(for: $0.objectID))" }
                }
                rows["\(referenceObject(for: node.objectID))"] = row
            }
            guard let url else { return }
            try PropertyListSerialization.data(fromPropertyList: rows, format: .xml, options: 0)
                .write(to: url, options: .atomic)
        }
    }

    init() {
        NSPersistentStoreCoordinator.registerStoreClass(ListStore.self, forStoreType: "List")
        ListStore.log = CallLog()
        ListStore.failsToSave = false
    }

    private func reopened(_ diary: Diary) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: DiaryModel.make())
        try coordinator.addPersistentStore(
            ofType: "List", configurationName: nil, at: diary.store.url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// The order of Apple's "Atomic Store Programming Topics".
    @Test func `calls are made in the documented order`() throws {
        let diary = try Diary("List")
        #expect(ListStore.log.take() == ["loadMetadata", "load"])
        let context = diary.context()
        let note = context.insert("Note", ["title": "One"])
        let item = context.insert("Item", ["name": "First"])
        item.setValue(note, forKey: "note")
        #expect(ListStore.log.take() == [])
        try context.save()
        #expect(
            ListStore.log.take() == [
                "newReferenceObject Note 1", "newReferenceObject Item 2", "newCacheNode row001", "newCacheNode row002",
                "addCacheNodes 2", "save",
            ])
        note.setValue("Two", forKey: "title")
        try context.save()
        #expect(ListStore.log.take() == ["updateCacheNode row001", "save"])
        context.delete(note)
        try context.save()
        // The item is deleted with its note.
        #expect(ListStore.log.take() == ["willRemoveCacheNodes 2", "save"])
    }

    @Test func `saved objects are read again`() throws {
        let diary = try Diary("List")
        let context = diary.context()
        let note = context.insert("Note", ["title": "One", "rank": 7])
        let items = ["c", "a", "b"].map { context.insert("Item", ["name": $0, "price": 1.5]) }
        note.setValue(NSOrderedSet(array: items), forKey: "items")
        let tag = context.insert("Tag", ["name": "x"])
        note.setValue(NSSet(array: [tag]), forKey: "tags")
        try context.save()

        let other = try reopened(diary)
        try other.performAndWait {
            let read = try #require(try other.all("Note").first)
            #expect(read.value(forKey: "title") as? String == "One")
            #expect((read.value(forKey: "rank") as? NSNumber)?.intValue == 7)
            let names = (read.value(forKey: "items") as? NSOrderedSet)?.array.compactMap {
                ($0 as? NSManagedObject)?.value(forKey: "name") as? String
            }
            #expect(names == ["c", "a", "b"])
            let tags = read.value(forKey: "tags") as? NSSet
            #expect((tags?.anyObject() as? NSManagedObject)?.value(forKey: "name") as? String == "x")
            #expect(read.objectID.uriRepresentation() == note.objectID.uriRepresentation())
            #expect(read.objectID.uriRepresentation().lastPathComponent == "prow001")
        }
    }

    @Test func predicatesOrderGroupsAndRelationshipsWork() throws {
        let diary = try Diary("List")
        let context = diary.context()
        for rank in 0..<6 {
            let note = context.insert("Note", ["title": "Note \(rank)", "rank": rank])
            for number in 0..<rank {
                context.insert("Item", ["name": "i\(number)", "price": Double(number)]).setValue(note, forKey: "note")
            }
        }
        try context.save()
        let other = diary.context()
        try other.performAndWait {
            let many = try other.all("Note", sortedBy: "rank", NSPredicate(format: "items.@count >= 4"))
            #expect(many.map { $0.value(forKey: "title") as? String } == ["Note 4", "Note 5"])
            let dear = try other.all("Note", sortedBy: "rank", NSPredicate(format: "ANY items.price > 3"))
            #expect(dear.map { $0.value(forKey: "title") as? String } == ["Note 5"])
            let items = try other.all("Item", sortedBy: nil, NSPredicate(format: "note.rank == 3"))
            #expect(items.count == 3)
            let request = NSFetchRequest<NSDictionary>(entityName: "Item")
            request.resultType = .dictionaryResultType
            let sum = NSExpressionDescription()
            sum.name = "sum"
            sum.expression = NSExpression(
                forFunction: "sum:", arguments: [NSExpression(forKeyPath: "price")])
            sum.expressionResultType = .doubleAttributeType
            request.propertiesToFetch = ["name", sum]
            request.propertiesToGroupBy = ["name"]
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let groups = try other.fetch(request).map {
                "\($0["name"] as? String ?? "") \(($0["sum"] as? NSNumber)?.doubleValue ?? -1)"
            }
            #expect(groups == ["i0 0.0", "i1 4.0", "i2 6.0", "i3 6.0", "i4 4.0"])
            #expect(try other.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == 15)
        }
    }

    /// If `save()` throws, nothing has changed, and the save can be repeated.
    @Test func `a failed save leaves the cache unchanged`() throws {
        let diary = try Diary("List")
        let context = diary.context()
        let note = context.insert("Note", ["title": "One"])
        try context.save()
        ListStore.failsToSave = true
        note.setValue("Two", forKey: "title")
        let new = context.insert("Note", ["title": "Three"])
        #expect(throws: (any Error).self) { try context.save() }
        let other = diary.context()
        let kept = try other.performAndWait { try other.names("Note", "title") }
        #expect(kept == ["One"])
        ListStore.failsToSave = false
        try context.save()
        let third = diary.context()
        let saved = try third.performAndWait { try third.names("Note", "title") }
        #expect(saved == ["Three", "Two"])
        _ = new
    }

    @Test func `two writers conflict`() throws {
        let diary = try Diary("List")
        let context = diary.context()
        let note = context.insert("Note", ["title": "One"])
        try context.save()
        let other = diary.context()
        try other.performAndWait {
            let same = try other.existingObject(with: note.objectID)
            _ = same.value(forKey: "title")
            note.setValue("Here", forKey: "title")
            try context.save()
            same.setValue("There", forKey: "title")
            let error = #expect(throws: CocoaError.self) { try other.save() }
            #expect(error?.errorCode == 133020)
            other.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
            try other.save()
        }
        #expect(try diary.context().names("Note", "title") == ["There"])
    }
}

import CoreData
import Testing

/// The calls to a program's own incremental store, and their order, which is that of Core Data according to tests of
/// other stores.
@Suite(.serialized) struct IncrementalStoreTests {
    /// Keeps rows in memory, by reference object.
    class RowsStore: NSIncrementalStore, @unchecked Sendable {  // because a test calls from one thread
        struct Row {
            var entity: String
            var values: [String: Any] = [:]
            var references: [String: [String]] = [:]
            var version: UInt64 = 1
        }

        nonisolated(unsafe) static var log = CallLog()
        nonisolated(unsafe) static var rows: [String: Row] = [:]
        /// Whether rows contain their to-one relationships, or these are requested separately.
        nonisolated(unsafe) static var givesToOne = true
        private var lastNumber = 0

        override var type: String { "Rows" }

        override func loadMetadata() throws {
            Self.log.add("loadMetadata")
            metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: "77A1C3B4-3C55-47A6-8E0A-0D6F5E2B9C01"]
        }

        func name(_ id: NSManagedObjectID) -> String { "\(referenceObject(for: id))" }

        override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any
        {
            switch request.requestType {
            case .fetchRequestType:
                guard let fetch = request as? NSFetchRequest<NSFetchRequestResult>, let entity = fetch.entity else {
                    return []
                }
                Self.log.add("fetch \(entity.name ?? "")" + (fetch.predicate.map { " \($0.predicateFormat)" } ?? ""))
                var found = Self.rows.filter { $0.value.entity == entity.name }
                if let predicate = fetch.predicate {
                    found = found.filter { predicate.evaluate(with: $0.value.values as NSDictionary) }
                }
                let ids = found.keys.sorted().map { newObjectID(for: entity, referenceObject: $0) }
                switch fetch.resultType {
                case .countResultType: return [NSNumber(value: ids.count)]
                case .managedObjectIDResultType: return ids
                case .dictionaryResultType:
                    return found.sorted { $0.key < $1.key }.map { $0.value.values as NSDictionary }
                default: return ids.compactMap { context?.object(with: $0) }
                }
            case .saveRequestType:
                guard let save = request as? NSSaveChangesRequest else { return [] }
                Self.log.add(
                    "save \(save.insertedObjects?.count ?? 0) \(save.updatedObjects?.count ?? 0) "
                        + "\(save.deletedObjects?.count ?? 0)")
                for object in (save.insertedObjects ?? []).union(save.updatedObjects ?? []) { write(object) }
                for object in save.deletedObjects ?? [] { Self.rows[name(object.objectID)] = nil }
                return []
            default:
                throw CocoaError(CocoaError.Code(rawValue: 134091))
            }
        }

        private func write(_ object: NSManagedObject) {
            let entity = object.entity
            var row = Self.rows[name(object.objectID)] ?? Row(entity: entity.name ?? "", version: 0)
            row.version += 1
            for name in entity.attributesByName.keys { row.values[name] = object.value(forKey: name) }
            for (key, relationship) in entity.relationshipsByName {
                // Members that were not read have not changed, and reading them would be another call.
                if relationship.isToMany, object.hasFault(forRelationshipNamed: key) { continue }
                let value = object.value(forKey: key)
                let members: [Any] =
                    !relationship.isToMany
                    ? value.map { [$0] } ?? [] : (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? []
                row.references[key] = members.compactMap { ($0 as? NSManagedObject).map { name($0.objectID) } }
                if !relationship.isOrdered { row.references[key]?.sort() }
            }
            Self.rows[name(object.objectID)] = row
        }

        func node(_ id: NSManagedObjectID) throws -> NSIncrementalStoreNode {
            guard let row = Self.rows[name(id)] else { throw CocoaError(CocoaError.Code(rawValue: 133000)) }
            var values = row.values
            if Self.givesToOne {
                for relationship in id.entity.relationshipsByName.values where !relationship.isToMany {
                    values[relationship.name] = destination(row, relationship) ?? NSNull()
                }
            }
            return NSIncrementalStoreNode(objectID: id, withValues: values, version: row.version)
        }

        private func destination(_ row: Row, _ relationship: NSRelationshipDescription) -> NSManagedObjectID? {
            row.references[relationship.name]?.first.flatMap { reference in
                relationship.destinationEntity.map { newObjectID(for: $0, referenceObject: reference) }
            }
        }

        func members(_ id: NSManagedObjectID, _ relationship: NSRelationshipDescription) -> [NSManagedObjectID] {
            (Self.rows[name(id)]?.references[relationship.name] ?? []).compactMap { reference in
                relationship.destinationEntity.map { newObjectID(for: $0, referenceObject: reference) }
            }
        }

        override func newValuesForObject(
            with objectID: NSManagedObjectID, with context: NSManagedObjectContext
        ) throws -> NSIncrementalStoreNode {
            Self.log.add("values \(name(objectID))")
            return try node(objectID)
        }

        override func newValue(
            forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
            with context: NSManagedObjectContext?
        ) throws -> Any {
            Self.log.add("value \(name(objectID)).\(relationship.name)")
            if relationship.isToMany { return members(objectID, relationship) }
            return Self.rows[name(objectID)].flatMap { destination($0, relationship) } ?? NSNull()
        }

        override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
            Self.log.add("obtainPermanentIDs \(array.count)")
            return array.map { object in
                lastNumber += 1
                return newObjectID(for: object.entity, referenceObject: String(format: "new%03d", lastNumber))
            }
        }

        override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
            Self.log.add("register \(objectIDs.map(name).sorted().joined(separator: " "))")
        }

        override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
            Self.log.add("unregister \(objectIDs.map(name).sorted().joined(separator: " "))")
        }
    }

    private let diary: Diary

    init() throws {
        NSPersistentStoreCoordinator.registerStoreClass(RowsStore.self, forStoreType: "Rows")
        RowsStore.log = CallLog()
        RowsStore.rows = [:]
        RowsStore.givesToOne = true
        diary = try Diary("Rows")
        #expect(RowsStore.log.take() == ["loadMetadata"])
    }

    private func fill(notes: Int, itemsEach: Int) {
        for note in 0..<notes {
            let names = (0..<itemsEach).map { "i\(note)-\($0)" }
            RowsStore.rows["n\(note)"] = RowsStore.Row(
                entity: "Note", values: ["title": "Note \(note)", "rank": note], references: ["items": names])
            for name in names {
                RowsStore.rows[name] = RowsStore.Row(
                    entity: "Item", values: ["name": name, "price": 1.0], references: ["note": ["n\(note)"]])
            }
        }
    }

    @Test func `a fetch is one call, and a row is read when its fault fires`() throws {
        fill(notes: 2, itemsEach: 2)
        let context = diary.context()
        let notes = try context.all("Note", sortedBy: "title", NSPredicate(format: "rank >= 0"))
        #expect(RowsStore.log.take() == ["fetch Note rank >= 0"])
        #expect(notes.allSatisfy { $0.isFault })
        #expect(notes[0].value(forKey: "title") as? String == "Note 0")
        #expect(RowsStore.log.take() == ["values n0", "register n0"])
        #expect((notes[0].value(forKey: "rank") as? NSNumber)?.intValue == 0)
        #expect(RowsStore.log.take() == [])
        #expect(notes[1].isFault)
    }

    @Test func `a to-many relationship is requested once`() throws {
        fill(notes: 1, itemsEach: 3)
        let context = diary.context()
        let note = try #require(try context.all("Note").first)
        _ = note.value(forKey: "title")
        _ = RowsStore.log.take()
        let items = try #require((note.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject])
        #expect(items.count == 3)
        #expect(RowsStore.log.take() == ["value n0.items"])
        _ = note.value(forKey: "items")
        #expect(RowsStore.log.take() == [])
        #expect(items[1].value(forKey: "name") as? String == "i0-1")
        #expect((items[1].value(forKey: "note") as? NSManagedObject) === note)
        #expect(RowsStore.log.take() == ["values i0-1", "register i0-1"])
    }

    /// A to-one relationship that is missing in the row costs a call while the row is read.
    @Test func `a to-one relationship that is missing in the row is requested`() throws {
        RowsStore.givesToOne = false
        fill(notes: 1, itemsEach: 1)
        let context = diary.context()
        let item = try #require(try context.all("Item").first)
        _ = RowsStore.log.take()
        _ = item.value(forKey: "name")
        #expect(RowsStore.log.take() == ["values i0-0", "value i0-0.note", "register i0-0"])
        #expect((item.value(forKey: "note") as? NSManagedObject)?.value(forKey: "title") as? String == "Note 0")
    }

    @Test func aSaveObtainsIDsThenSavesThenRegisters() throws {
        let context = diary.context()
        let note = context.insert("Note", ["title": "One"])
        let item = context.insert("Item", ["name": "First"])
        item.setValue(note, forKey: "note")
        #expect(RowsStore.log.take() == [])
        #expect(note.objectID.isTemporaryID)
        try context.save()
        #expect(
            RowsStore.log.take() == ["obtainPermanentIDs 2", "save 2 0 0", "register new001 new002"])
        #expect(!note.objectID.isTemporaryID)
        #expect(RowsStore.rows["new001"]?.references["items"] == ["new002"])
        note.setValue("Two", forKey: "title")
        try context.save()
        #expect(RowsStore.log.take() == ["save 0 1 0"])
        #expect(RowsStore.rows["new001"]?.values["title"] as? String == "Two")
        context.delete(item)
        try context.save()
        #expect(RowsStore.rows["new002"] == nil)
        #expect(RowsStore.rows["new001"]?.references["items"] == [])
    }

    @Test func `an object is read before it is changed`() throws {
        fill(notes: 1, itemsEach: 0)
        let context = diary.context()
        let note = try #require(try context.all("Note").first)
        _ = RowsStore.log.take()
        note.setValue("Other", forKey: "title")
        try context.save()
        let calls = RowsStore.log.take()
        #expect(calls.prefix(2) == ["values n0", "register n0"])
        #expect(calls.last == "save 0 1 0")
        #expect(RowsStore.rows["n0"]?.values["title"] as? String == "Other")
        #expect(RowsStore.rows["n0"]?.version == 2)
    }

    @Test func aSaveWithoutChangesReachesTheStore() throws {
        let context = diary.context()
        try context.save()
        #expect(RowsStore.log.take() == ["save 0 0 0"])
    }

    @Test func aResetAndTheEndOfAContextUnregister() throws {
        fill(notes: 2, itemsEach: 0)
        var context: NSManagedObjectContext? = diary.context()
        for note in try context?.all("Note") ?? [] { _ = note.value(forKey: "title") }
        _ = RowsStore.log.take()
        context?.reset()
        #expect(RowsStore.log.take() == ["unregister n0 n1"])
        _ = try context?.all("Note").first?.value(forKey: "title")
        _ = RowsStore.log.take()
        context = nil
        #expect(RowsStore.log.take() == ["unregister n0"])
    }

    @Test func `counts, IDs and dictionaries are computed by the store`() throws {
        fill(notes: 3, itemsEach: 0)
        let context = diary.context()
        #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == 3)
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Note")
        ids.resultType = .managedObjectIDResultType
        #expect(try context.fetch(ids).count == 3)
        let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Note")
        dictionaries.resultType = .dictionaryResultType
        dictionaries.propertiesToFetch = ["title"]
        #expect(
            try context.fetch(dictionaries).compactMap { $0["title"] as? String }.sorted() == [
                "Note 0", "Note 1", "Note 2",
            ])
        #expect(RowsStore.log.take() == ["fetch Note", "fetch Note", "fetch Note"])
    }

    /// URIs contain reference objects escaped as paths; the returned ones are not unescaped, and slashes are kept.
    @Test func urisEscapeReferenceObjects() throws {
        let store = try #require(diary.store as? RowsStore)
        let entity = try #require(diary.coordinator.managedObjectModel.entitiesByName["Note"])
        func back(_ reference: Any) throws -> (URL, Any) {
            let uri = store.newObjectID(for: entity, referenceObject: reference).uriRepresentation()
            let id = try #require(diary.coordinator.managedObjectID(forURIRepresentation: uri))
            #expect(id.entity.name == "Note")
            return (uri, store.referenceObject(for: id))
        }
        let plain = try back("abc")
        #expect(plain.0.absoluteString == "x-coredata://77A1C3B4-3C55-47A6-8E0A-0D6F5E2B9C01/Note/pabc")
        #expect(plain.1 as? String == "abc")
        let escaped = try back("key with/slash")
        #expect(escaped.0.absoluteString.hasSuffix("/Note/pkey%20with/slash"))
        #expect(escaped.1 as? String == "key%20with/slash")
        let number = try back(NSNumber(value: 42))
        #expect(number.0.lastPathComponent == "p42")
        #expect("\(number.1)" == "42")
        #expect(
            store.newObjectID(for: entity, referenceObject: "abc")
                == store.newObjectID(
                    for: entity, referenceObject: "abc"))
        #expect(
            store.newObjectID(for: entity, referenceObject: "abc")
                != store.newObjectID(
                    for: entity, referenceObject: "abd"))
    }

    @Test func `a missing row is an error`() throws {
        fill(notes: 1, itemsEach: 0)
        let context = diary.context()
        let note = try #require(try context.all("Note").first)
        let other = diary.context()
        RowsStore.rows = [:]
        let error = #expect(throws: CocoaError.self) { try other.existingObject(with: note.objectID) }
        #expect(error?.errorCode == 133000)
    }

    @Test func `requests of an unknown type are refused`() throws {
        let context = diary.context()
        let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Note"))
        let error = #expect(throws: CocoaError.self) { try context.execute(request) }
        #expect(error?.errorCode == 134091)
    }

    /// A store whose own type differs from the type it is added with.
    @Test func aStoreOfAnotherTypeIsRefused() throws {
        NSPersistentStoreCoordinator.registerStoreClass(RowsStore.self, forStoreType: "Others")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: DiaryModel.make())
        let error = #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(
                ofType: "Others", configurationName: nil, at: URL(fileURLWithPath: "/tmp/others"), options: nil)
        }
        #expect(error?.errorCode == 134010)
    }

    @Test func `children and unsaved changes work with such a store`() throws {
        fill(notes: 2, itemsEach: 1)
        let context = diary.context()
        let child = diary.context(of: context)
        try child.performAndWait {
            let notes = try child.all("Note", sortedBy: "title")
            notes[0].setValue("Changed", forKey: "title")
            _ = child.insert("Note", ["title": "A new one"])
            #expect(try child.names("Note", "title") == ["A new one", "Changed", "Note 1"])
            try child.save()
        }
        try context.performAndWait { try context.save() }
        #expect(RowsStore.rows["n0"]?.values["title"] as? String == "Changed")
        #expect(RowsStore.rows.values.filter { $0.entity == "Note" }.count == 3)
    }
}

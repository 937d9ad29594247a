import CoreData
import Testing

/// The behaviour that programs rely on when reading a history.
@Suite struct HistoryTests {
    private static var tracking: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: true as NSNumber] }

    private func history(
        _ request: NSPersistentHistoryChangeRequest, in context: NSManagedObjectContext
    ) throws -> [NSPersistentHistoryTransaction] {
        let result = try context.execute(request) as? NSPersistentHistoryResult
        return try #require(result?.result as? [NSPersistentHistoryTransaction])
    }

    private func all(_ context: NSManagedObjectContext) throws -> [NSPersistentHistoryTransaction] {
        try history(.fetchHistory(after: nil as NSPersistentHistoryToken?), in: context)
    }

    /// NSPersistentHistoryTransaction: author, time and changes. Only an update has "updatedProperties".
    /// https://developer.apple.com/documentation/coredata/nspersistenthistorytransaction
    @Test func `a transaction contains its author and its changes`() throws {
        let diary = try Diary(options: Self.tracking)
        let context = diary.context()
        context.name = "editor"
        context.transactionAuthor = "Ada"
        let before = Date()
        let note = context.insert("Note", ["title": "a", "rank": 1])
        try context.save()
        note.setValue("b", forKey: "title")
        try context.save()
        context.transactionAuthor = nil
        context.delete(note)
        try context.save()
        let transactions = try all(context)
        #expect(transactions.map(\.author) == ["Ada", "Ada", nil])
        #expect(transactions.map(\.contextName) == ["editor", "editor", "editor"])
        #expect(transactions.allSatisfy { $0.processID == ProcessInfo.processInfo.processName })
        #expect(transactions.allSatisfy { $0.storeID == diary.store.identifier && $0.timestamp >= before })
        #expect(transactions.map(\.transactionNumber) == transactions.map(\.transactionNumber).sorted())
        let changes = transactions.flatMap { $0.changes ?? [] }
        #expect(changes.map(\.changeType) == [.insert, .update, .delete])
        #expect(changes.allSatisfy { $0.changedObjectID == note.objectID })
        #expect(changes.map { $0.updatedProperties.map { Set($0.map(\.name)) } } == [nil, ["title"], nil])
        #expect(changes.allSatisfy { $0.tombstone == nil })
        #expect(changes[1].transaction == transactions[1])
    }

    /// An object occurs once in a transaction, whatever its changes.
    @Test func anObjectOccursOnceInATransaction() throws {
        let diary = try Diary(options: Self.tracking)
        let context = diary.context()
        let note = context.insert("Note", ["title": "a"])
        note.setValue("b", forKey: "title")
        let gone = context.insert("Tag", ["name": "gone"])
        context.delete(gone)
        try context.save()
        let items = (0..<3).map { context.insert("Item", ["name": "\($0)", "note": note]) }
        note.setValue("c", forKey: "title")
        try context.save()
        items[0].setValue("x", forKey: "name")
        context.delete(items[0])
        context.delete(items[1])
        try context.save()
        let kinds = try all(context).map { transaction in
            (transaction.changes ?? []).map { "\($0.changeType.rawValue) \($0.changedObjectID.entity.name ?? "")" }
        }
        #expect(kinds[0] == ["0 Note"])
        #expect(kinds[1].sorted() == ["0 Item", "0 Item", "0 Item", "1 Note"])
        #expect(kinds[2].filter { $0.hasPrefix("2") } == ["2 Item", "2 Item"])
        #expect(
            Set(try all(context).map { Set(($0.changes ?? []).map(\.changedObjectID)).count })
                == Set(try all(context).map { $0.changes?.count ?? 0 }))
    }

    /// fetchHistory(after:) with a token returns later transactions, also with an archived token.
    /// https://developer.apple.com/documentation/coredata/nspersistenthistorytoken
    @Test func `a token marks a position and can be archived`() throws {
        let diary = try Diary(options: Self.tracking)
        let context = diary.context()
        let start = try #require(diary.coordinator.currentPersistentHistoryToken(fromStores: nil))
        for name in ["a", "b", "c"] {
            _ = context.insert("Tag", ["name": name])
            try context.save()
        }
        let transactions = try history(.fetchHistory(after: start), in: context)
        #expect(transactions.count == 3)
        let data = try NSKeyedArchiver.archivedData(withRootObject: transactions[1].token, requiringSecureCoding: true)
        let token = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data))
        #expect(token == transactions[1].token)
        #expect(try history(.fetchHistory(after: token), in: context) == [transactions[2]])
        #expect(try history(.fetchHistory(after: transactions[0]), in: context).count == 2)
        #expect(try history(.fetchHistory(after: transactions[1].timestamp), in: context).last == transactions[2])
        let current = diary.coordinator.currentPersistentHistoryToken(fromStores: [diary.store])
        #expect(current == transactions[2].token)
        #expect(try history(.fetchHistory(after: current), in: context).isEmpty)
    }

    /// NSPersistentHistoryResultType: the content of a result.
    /// https://developer.apple.com/documentation/coredata/nspersistenthistoryresulttype
    @Test func `a result has the content of its type`() throws {
        let diary = try Diary(options: Self.tracking)
        let context = diary.context()
        for name in ["a", "b"] { _ = context.insert("Tag", ["name": name]) }
        try context.save()
        _ = context.insert("Note")
        try context.save()
        func result(_ type: NSPersistentHistoryResultType) throws -> Any? {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
            #expect(request.resultType == .transactionsAndChanges)
            request.resultType = type
            let result = try #require(try context.execute(request) as? NSPersistentHistoryResult)
            #expect(result.resultType == type)
            return result.result
        }
        #expect(try result(.statusOnly) as? Bool == true)
        #expect(try result(.count) as? Int == 3)
        #expect((try result(.objectIDs) as? [NSManagedObjectID])?.count == 3)
        #expect(
            (try result(.changesOnly) as? [NSPersistentHistoryChange])?.map(\.changeType) == [
                .insert, .insert, .insert,
            ])
        let bare = try #require(try result(.transactionsOnly) as? [NSPersistentHistoryTransaction])
        #expect(bare.map(\.changes) == [nil, nil])
        let full = try #require(try result(.transactionsAndChanges) as? [NSPersistentHistoryTransaction])
        #expect(full.map { $0.changes?.count } == [2, 1])
        #expect(
            bare[0].objectIDNotification().userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID>
                == full[0].objectIDNotification().userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID>)
    }

    /// fetchHistory(withFetch:): transactions by author, changes of an object.
    /// https://developer.apple.com/documentation/coredata/nspersistenthistorychangerequest
    @Test func `a fetch request filters the history`() throws {
        let diary = try Diary(options: Self.tracking)
        let context = diary.context()
        var notes: [NSManagedObject] = []
        for author in ["Ada", nil, "Bob", "Ada"] {
            context.transactionAuthor = author
            notes.append(context.insert("Note", ["title": author ?? ""]))
            notes[0].setValue(notes.count, forKey: "rank")
            try context.save()
        }
        func authors(_ format: String, _ argument: String) throws -> [String?] {
            let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
            fetch.predicate = NSPredicate(format: format, argument)
            return try history(.fetchHistory(withFetch: fetch), in: context).map(\.author)
        }
        #expect(try authors("author == %@", "Ada") == ["Ada", "Ada"])
        #expect(try authors("author != %@", "Ada") == [nil, "Bob"])
        #expect(try authors("author BEGINSWITH[c] %@", "b") == ["Bob"])
        let fetch = try #require(NSPersistentHistoryChange.fetchRequest)
        #expect(NSPersistentHistoryChange.entityDescription(with: context)?.attributesByName["changedObjectID"] != nil)
        fetch.predicate = NSPredicate(format: "changedObjectID == %@", notes[0].objectID)
        fetch.sortDescriptors = [NSSortDescriptor(key: "changeID", ascending: false)]
        let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
        request.resultType = .changesOnly
        let changes =
            (try context.execute(request) as? NSPersistentHistoryResult)?.result
            as? [NSPersistentHistoryChange]
        #expect(changes?.map(\.changeType) == [.update, .update, .update, .insert])
        fetch.predicate = NSPredicate(
            format: "changeType == %d AND changedEntity == %@", NSPersistentHistoryChangeType.insert.rawValue,
            notes[0].entity)
        fetch.sortDescriptors = nil
        fetch.fetchLimit = 3
        #expect(try history(.fetchHistory(withFetch: fetch), in: context).map { $0.changes?.count } == [1, 1, 1])
        fetch.fetchLimit = 0
        let narrowed = NSPersistentHistoryChangeRequest.fetchHistory(after: try all(context)[2])
        narrowed.fetchRequest = fetch
        #expect(try history(narrowed, in: context).map(\.author) == ["Ada"])
        fetch.predicate = NSPredicate(format: "nothing == 1")
        #expect(throws: CocoaError.self) {
            try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch))
        }
    }

    /// deleteHistory(before:), and the error of a token that is older than the remaining history.
    /// https://developer.apple.com/documentation/coredata/persistent-history
    @Test func deletedHistoryExpiresTokens() throws {
        let diary = try Diary(options: Self.tracking)
        let context = diary.context()
        let start = diary.coordinator.currentPersistentHistoryToken(fromStores: nil)
        for name in ["a", "b", "c", "d"] {
            _ = context.insert("Tag", ["name": name])
            try context.save()
        }
        let transactions = try all(context)
        #expect(
            try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: transactions[2]))
                is NSPersistentHistoryResult)
        #expect(try all(context) == Array(transactions[2...]))
        #expect(try history(.fetchHistory(after: transactions[1]), in: context).count == 2)
        for expired in [start, transactions[0].token] {
            do {
                _ = try history(.fetchHistory(after: expired), in: context)
                Issue.record("The token has expired.")
            } catch let error as CocoaError {
                #expect(error.errorCode == NSPersistentHistoryTokenExpiredError)
            }
        }
        try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
        #expect(try all(context).isEmpty)
        #expect(diary.coordinator.currentPersistentHistoryToken(fromStores: nil) == transactions[3].token)
        _ = context.insert("Tag", ["name": "e"])
        try context.save()
        #expect(try history(.fetchHistory(after: transactions[3]), in: context).count == 1)
        #expect(try all(context)[0].transactionNumber > transactions[3].transactionNumber)
    }

    /// objectIDNotification(): "Use this notification to merge changes".
    /// https://developer.apple.com/documentation/coredata/nspersistenthistorytransaction/objectidnotification()
    @Test func aTransactionIsMergedIntoAnotherCoordinatorsContext() throws {
        let diary = try Diary(options: Self.tracking)
        let other = NSPersistentStoreCoordinator(managedObjectModel: DiaryModel.make())
        try other.addPersistentStore(
            ofType: diary.store.type, configurationName: nil, at: diary.store.url, options: Self.tracking)
        let reading = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        reading.persistentStoreCoordinator = other
        let context = diary.context()
        let kept = context.insert("Note", ["title": "old"])
        let gone = context.insert("Note", ["title": "gone"])
        try context.save()
        let token = diary.coordinator.currentPersistentHistoryToken(fromStores: nil)
        try reading.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.returnsObjectsAsFaults = false
            let notes = try reading.fetch(request)
            #expect(notes.count == 2)
            kept.setValue("new", forKey: "title")
            context.delete(gone)
            try context.save()
            for transaction in try history(.fetchHistory(after: token), in: reading) {
                reading.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
            }
            #expect(
                notes.filter { $0.managedObjectContext != nil }.map { $0.value(forKey: "title") as? String } == ["new"])
        }
    }

    /// A tombstone contains the values that the model preserves.
    /// https://developer.apple.com/documentation/coredata/nsattributedescription/preservesvalueinhistoryondeletion
    @Test func `a tombstone contains the preserved values`() throws {
        let model = DiaryModel.make()
        let person = try #require(model.entitiesByName["Person"])
        for name in ["name", "age"] { person.attributesByName[name]?.preservesValueInHistoryOnDeletion = true }
        let diary = try Diary(model: model, options: Self.tracking)
        let context = diary.context()
        let people = [
            context.insert("Editor", ["name": "Ada", "age": 36]), context.insert("Person", ["name": "Bob"]),
        ]
        let note = context.insert("Note", ["title": "a"])
        try context.save()
        for object in people + [note] { context.delete(object) }
        try context.save()
        let changes = try #require(try all(context).last?.changes)
        let tombstones = Dictionary(uniqueKeysWithValues: changes.map { ($0.changedObjectID, $0.tombstone) })
        #expect(tombstones[people[0].objectID]??["name"] as? String == "Ada")
        #expect((tombstones[people[0].objectID]??["age"] as? NSNumber)?.intValue == 36)
        #expect(tombstones[people[1].objectID]??["name"] as? String == "Bob")
        #expect(tombstones[people[1].objectID]??["age"] is NSNull)
        #expect(changes.first { $0.changedObjectID == note.objectID }.map { $0.tombstone == nil } == true)
    }

    /// Batch requests are recorded too.
    @Test func batchRequestsAreInTheHistory() throws {
        let diary = try Diary(options: Self.tracking)
        let context = diary.context()
        context.transactionAuthor = "batch"
        try context.execute(NSBatchInsertRequest(entityName: "Tag", objects: (0..<40).map { ["name": "\($0)"] }))
        let update = NSBatchUpdateRequest(entityName: "Tag")
        update.predicate = NSPredicate(format: "name BEGINSWITH '1'")
        update.propertiesToUpdate = ["name": NSExpression(format: "name")]
        try context.execute(update)
        try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSFetchRequestResult>(entityName: "Tag")))
        let transactions = try all(context)
        #expect(transactions.map(\.author) == ["batch", "batch", "batch"])
        #expect(transactions.map { Set(($0.changes ?? []).map(\.changeType)) } == [[.insert], [.update], [.delete]])
        #expect(transactions.map { $0.changes?.count } == [40, 11, 40])
    }

    /// A store without the tracking option has no history, and reading it is an error.
    @Test func aStoreWithoutTrackingHasNoHistory() throws {
        let diary = try Diary()
        let context = diary.context()
        _ = context.insert("Tag", ["name": "a"])
        try context.save()
        #expect(diary.coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
        #expect(throws: CocoaError.self) {
            try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
        }
    }
}

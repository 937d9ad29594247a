import CoreData
import Testing

/// The behaviour that programs rely on when fetching.
///
/// Page: https://developer.apple.com/documentation/coredata/nsfetchrequest
@Suite struct FetchingTests {
    private func filled(_ type: String = NSSQLiteStoreType) throws -> (Diary, NSManagedObjectContext) {
        let diary = try Diary(type)
        let context = diary.context()
        try context.performAndWait {
            let people = ["Ada", "Grace"].map { context.insert("Person", ["name": $0, "age": 30]) }
            people[1].setValue(40, forKey: "age")
            _ = context.insert("Editor", ["name": "Emmy", "desk": "news"])
            for number in 0..<10 {
                let note = context.insert("Note", ["title": "note \(number)", "rank": number % 3])
                note.setValue(people[number % 2], forKey: "author")
            }
            try context.save()
        }
        return (diary, context)
    }

    /// https://developer.apple.com/documentation/coredata/nsfetchrequestresulttype
    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType]) func everyFormOfResult(type: String) throws {
        let (diary, context) = try filled(type)
        defer { withExtendedLifetime(diary) {} }
        try context.performAndWait { () throws in
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Note")
            ids.resultType = .managedObjectIDResultType
            #expect(try context.fetch(ids).count == 10)
            let count = NSFetchRequest<NSNumber>(entityName: "Note")
            count.resultType = .countResultType
            #expect(try context.fetch(count) == [10])
            let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Note")
            dictionaries.resultType = .dictionaryResultType
            dictionaries.propertiesToFetch = ["title"]
            dictionaries.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
            dictionaries.fetchLimit = 2
            dictionaries.fetchOffset = 1
            #expect(try context.fetch(dictionaries).map { $0["title"] as? String } == ["note 8", "note 7"])
            let anything = NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
            #expect(try context.fetch(anything).count == 10)
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsfetchrequest/propertiestogroupby
    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType]) func groupsAndTheirConditions(type: String) throws {
        let (diary, context) = try filled(type)
        defer { withExtendedLifetime(diary) {} }
        try context.performAndWait { () throws in
            let count = NSExpressionDescription()
            count.name = "count"
            count.expression = NSExpression(forFunction: "count:", arguments: [NSExpression(forKeyPath: "title")])
            count.expressionResultType = .integer64AttributeType
            let request = NSFetchRequest<NSDictionary>(entityName: "Note")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["rank", count]
            request.propertiesToGroupBy = ["rank"]
            request.sortDescriptors = [NSSortDescriptor(key: "rank", ascending: true)]
            #expect(try context.fetch(request).map { $0["count"] as? Int } == [4, 3, 3])
            request.havingPredicate = NSPredicate(
                format: "%@ > 3", NSExpression(forVariable: "count"))
            #expect(try context.fetch(request).map { $0["rank"] as? Int } == [0])
            let distinct = NSFetchRequest<NSDictionary>(entityName: "Note")
            distinct.resultType = .dictionaryResultType
            distinct.propertiesToFetch = ["author.name"]
            distinct.returnsDistinctResults = true
            #expect(Set(try context.fetch(distinct).compactMap { $0["author.name"] as? String }) == ["Ada", "Grace"])
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsfetchrequest/includespendingchanges
    @Test func unsavedChangesAreIncludedByDefault() throws {
        let (diary, context) = try filled()
        defer { withExtendedLifetime(diary) {} }
        try context.performAndWait {
            _ = context.insert("Note", ["title": "new", "rank": 2])
            try context.all("Note", NSPredicate(format: "title == 'note 0'")).first?.setValue(2, forKey: "rank")
            try context.all("Note", NSPredicate(format: "title == 'note 2'")).first.map(context.delete)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: "rank == 2")
            #expect(try context.count(for: request) == 4)
            #expect(try context.fetch(request).count == 4)
            request.includesPendingChanges = false
            #expect(try context.count(for: request) == 3)
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsfetchrequest/includessubentities
    @Test func subentitiesAreIncludedByDefault() throws {
        let (diary, context) = try filled()
        defer { withExtendedLifetime(diary) {} }
        try context.performAndWait { () throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            #expect(try context.fetch(request).count == 3)
            request.includesSubentities = false
            #expect(try context.fetch(request).count == 2)
            #expect(try context.all("Editor").first?.value(forKey: "desk") as? String == "news")
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsfetchrequest/returnsobjectsasfaults
    @Test func objectsCanBeFetchedRealised() throws {
        let (diary, context) = try filled()
        defer { withExtendedLifetime(diary) {} }
        try context.performAndWait { () throws in
            context.reset()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            #expect(try context.fetch(request).allSatisfy(\.isFault))
            request.returnsObjectsAsFaults = false
            #expect(try context.fetch(request).allSatisfy { !$0.isFault })
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsfetchrequest/fetchbatchsize
    @Test func batchesAreTheSameObjectsInTheSameOrder() throws {
        let (diary, context) = try filled()
        defer { withExtendedLifetime(diary) {} }
        try context.performAndWait {
            context.reset()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
            request.fetchBatchSize = 3
            let notes = try context.fetch(request)
            #expect(notes.count == 10)
            #expect(notes.allSatisfy { $0.isFault })
            #expect(notes.map { $0.value(forKey: "title") as? String } == (0..<10).reversed().map { "note \($0)" })
            request.fetchLimit = 4
            #expect(try context.fetch(request).count == 4)
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsasynchronousfetchrequest
    @Test func anAsynchronousFetchReportsAndCanBeCancelled() async throws {
        let (diary, context) = try filled()
        defer { withExtendedLifetime(diary) {} }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        let found: Int = try await withCheckedThrowingContinuation { continuation in
            let fetch = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                continuation.resume(returning: result.finalResult?.count ?? -1)
            }
            context.perform {
                do { try context.execute(fetch) } catch { continuation.resume(throwing: error) }
            }
        }
        #expect(found == 10)
        let cancelled: (any Error)? = await withCheckedContinuation { continuation in
            let fetch = NSAsynchronousFetchRequest(fetchRequest: request) { result in
                continuation.resume(returning: result.finalResult == nil ? result.operationError : nil)
            }
            context.perform {
                let progress = Progress(totalUnitCount: 1)
                progress.becomeCurrent(withPendingUnitCount: 1)
                _ = try? context.execute(fetch)
                progress.resignCurrent()
                progress.cancel()
            }
        }
        #expect((cancelled as NSError?)?.code == NSUserCancelledError)
    }

    /// https://developer.apple.com/documentation/coredata/nsfetchedpropertydescription
    @Test func aFetchedPropertyIsFetchedForItsObject() throws {
        let model = DiaryModel.make()
        let person = try #require(model.entitiesByName["Person"])
        let note = try #require(model.entitiesByName["Note"])
        let property = NSFetchedPropertyDescription()
        property.name = "firstNotes"
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = note
        request.predicate = NSPredicate(format: "author == $FETCH_SOURCE AND rank == 0")
        property.fetchRequest = request
        person.properties += [property]
        let diary = try Diary(model: model)
        let context = diary.context()
        try context.performAndWait {
            let ada = context.insert("Person", ["name": "Ada"])
            for rank in [0, 0, 1] {
                context.insert("Note", ["title": "\(rank)", "rank": rank]).setValue(ada, forKey: "author")
            }
            context.insert("Note", ["title": "other", "rank": 0]).setValue(nil, forKey: "author")
            try context.save()
            context.refresh(ada, mergeChanges: false)
            #expect((ada.value(forKey: "firstNotes") as? [Any])?.count == 2)
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectmodel/fetchrequestfromtemplate(withname:substitutionvariables:)
    @Test func aTemplateSubstitutesVariables() throws {
        let model = DiaryModel.make()
        let template = NSFetchRequest<any NSFetchRequestResult>()
        template.entity = model.entitiesByName["Note"]
        template.predicate = NSPredicate(format: "rank == $RANK")
        model.setFetchRequestTemplate(template, forName: "ByRank")
        let diary = try Diary(model: model)
        let context = diary.context()
        try context.performAndWait {
            for rank in 0..<3 { _ = context.insert("Note", ["title": "\(rank)", "rank": rank]) }
            let request = try #require(
                model.fetchRequestFromTemplate(withName: "ByRank", substitutionVariables: ["RANK": 1]))
            #expect(try context.fetch(request).count == 1)
        }
    }

    /// https://developer.apple.com/documentation/foundation/nspredicate/init(block:): a block is for objects in memory.
    @Test func aBlockIsEvaluatedInMemory() throws {
        let (diary, context) = try filled(NSInMemoryStoreType)
        defer { withExtendedLifetime(diary) {} }
        try context.performAndWait { () throws in
            let block = NSPredicate { object, _ in
                (object as? NSManagedObject)?.value(forKey: "rank") as? Int == 0
            }
            #expect(try context.all("Note", block).count == 4)
            let both = NSCompoundPredicate(andPredicateWithSubpredicates: [
                block, NSPredicate(format: "title != 'note 0'"),
            ])
            #expect(try context.all("Note", sortedBy: "title", both).count == 3)
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsbatchupdaterequest
    @Test func rowsAreChangedWithoutObjects() throws {
        let (diary, context) = try filled()
        defer { withExtendedLifetime(diary) {} }
        try context.performAndWait {
            let update = NSBatchUpdateRequest(entityName: "Note")
            update.predicate = NSPredicate(format: "rank == 0")
            update.propertiesToUpdate = ["rank": 9]
            update.resultType = .updatedObjectIDsResultType
            let updated = try context.execute(update) as? NSBatchUpdateResult
            let ids = try #require(updated?.result as? [NSManagedObjectID])
            #expect(ids.count == 4)
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [context])
            #expect(try context.all("Note", NSPredicate(format: "rank == 9")).count == 4)
            let insert = NSBatchInsertRequest(entityName: "Tag", objects: [["name": "a"], ["name": "b"]])
            insert.resultType = .count
            #expect((try context.execute(insert) as? NSBatchInsertResult)?.result as? Int == 2)
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
            fetch.predicate = NSPredicate(format: "rank == 9")
            let delete = NSBatchDeleteRequest(fetchRequest: fetch)
            delete.resultType = .resultTypeCount
            #expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 4)
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsfetchrequest/shouldrefreshrefetchedobjects
    @Test(arguments: [false, true]) func aFetchRefreshesRegisteredObjectsIfItIsToldTo(refreshes: Bool) throws {
        let (diary, reader) = try filled()
        let writer = diary.context()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: "title BEGINSWITH 'note 3'")
        let note = try #require(try reader.performAndWait { try reader.fetch(request).first })
        reader.performAndWait { #expect(note.value(forKey: "title") as? String == "note 3") }
        try writer.performAndWait { () throws in
            let written = try #require(try writer.fetch(request).first)
            written.setValue("note 3, changed", forKey: "title")
            try writer.save()
        }
        try reader.performAndWait { () throws in
            request.shouldRefreshRefetchedObjects = refreshes
            #expect(try reader.fetch(request).first === note)
            #expect(note.value(forKey: "title") as? String == (refreshes ? "note 3, changed" : "note 3"))
        }
    }

    /// CoreDataPlus, `test_FetchAsDictionaryUsingBatchSize`: dictionaries contain object IDs.
    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType]) func dictionariesContainObjectIDs(type: String) throws {
        let diary = try Diary(type)
        let context = diary.context()
        try context.performAndWait { () throws in
            let note = context.insert("Note", ["title": "one"])
            try context.save()
            let request = NSFetchRequest<NSDictionary>(entityName: "Note")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["title", "objectID"]
            let found = try #require(try context.fetch(request).first)
            #expect(found["objectID"] as? NSManagedObjectID == note.objectID)
            #expect(found["title"] as? String == "one")
        }
    }

    /// The variables of a fetched property: the object, and the description with its user info.
    ///
    /// https://developer.apple.com/documentation/coredata/nsfetchedpropertydescription
    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType]) func aFetchedPropertyReadsItsUserInfo(type: String)
        throws
    {
        let model = DiaryModel.make()
        let person = try #require(model.entitiesByName["Person"])
        let property = NSFetchedPropertyDescription()
        property.name = "firstNotes"
        property.userInfo = ["limit": "2", "names": ["0", "1", "2"]]
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = model.entitiesByName["Note"]
        request.predicate = NSPredicate(
            format: "author.name == $FETCH_SOURCE.name AND rank < $FETCHED_PROPERTY.userInfo.limit "
                + "AND title IN $FETCHED_PROPERTY.userInfo.names AND $FETCHED_PROPERTY.name == 'firstNotes'")
        property.fetchRequest = request
        person.properties += [property]
        let diary = try Diary(type, model: model)
        let context = diary.context()
        try context.performAndWait { () throws in
            let ada = context.insert("Person", ["name": "Ada"])
            for rank in 0..<4 {
                context.insert("Note", ["title": "\(rank)", "rank": rank]).setValue(ada, forKey: "author")
            }
            try context.save()
            let found = ada.value(forKey: "firstNotes") as? [NSManagedObject]
            #expect(found?.compactMap { $0.value(forKey: "title") as? String }.sorted() == ["0", "1"])
        }
    }

    /// CoreDataQueryInterface, `testSelectWithPropertyDescriptions`: a description with nothing but a name selects the attribute.
    /// https://github.com/prosumma/CoreDataQueryInterface
    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func aDescriptionWithoutAnExpressionIsTheAttribute(type: String) throws {
        let diary = try Diary(type)
        let context = diary.context()
        try context.performAndWait { () throws in
            _ = context.insert("Note", ["title": "one", "rank": 1])
            try context.save()
            let title = NSExpressionDescription()
            title.name = "title"
            let request = NSFetchRequest<NSDictionary>(entityName: "Note")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [title]
            #expect(try context.fetch(request) == [["title": "one"]])
        }
    }
}

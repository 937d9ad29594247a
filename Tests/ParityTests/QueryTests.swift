import CoreData
import Testing

/// Queries with the results that Apple's documentation leads to expect, from SQLite and from memory.
///
/// Page: https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/Predicates/AdditionalChapters/Introduction.html
@Suite struct QueryTests {
    static let types = [NSSQLiteStoreType, NSInMemoryStoreType]

    /// Six notes of two people: ranks 0 1 2 0 1 nil, each with as many items as its number, tags by parity.
    private func filled(_ type: String) throws -> (Diary, NSManagedObjectContext) {
        let diary = try Diary(type)
        let context = diary.context()
        try context.performAndWait { () throws in
            let people = [("Ada", 36), ("Émile", 62)].map { context.insert("Person", ["name": $0.0, "age": $0.1]) }
            _ = context.insert("Editor", ["name": "Zoë", "desk": "news"])
            let tags = ["odd", "even", "rare"].map { context.insert("Tag", ["name": $0]) }
            for number in 0..<6 {
                let note = context.insert(
                    "Note", ["title": ["Alpha", "beta", "Gamma", "délta", "Beta 10", "beta 9"][number]])
                if number < 5 { note.setValue(number % 3, forKey: "rank") }
                note.setValue(people[number % 2], forKey: "author")
                note.setValue(Set([tags[(number + 1) % 2]]), forKey: "tags")
                for index in 0..<number {
                    let item = context.insert("Item", ["name": "item \(index)", "price": Double(number) + 0.5])
                    item.setValue(note, forKey: "note")
                }
            }
            try context.save()
        }
        return (diary, context)
    }

    /// https://developer.apple.com/documentation/foundation/nsarray/sortedarray(using:)
    @Test(arguments: types) func foundationSortsObjects(type: String) throws {
        let (diary, context) = try filled(type)
        let titles = try context.performAndWait { () throws in
            let notes = try context.all("Note", sortedBy: "title")
            let descriptors = [
                NSSortDescriptor(key: "rank", ascending: true), NSSortDescriptor(key: "author.name", ascending: false),
            ]
            let array = NSMutableArray(array: notes)
            array.sort(using: descriptors)
            let results = [
                NSArray(array: notes).sortedArray(using: descriptors),
                NSSet(array: notes).sortedArray(using: descriptors),
                NSOrderedSet(array: notes).sortedArray(using: descriptors), array.map { $0 },
                NSArray(array: notes).sortedArray(using: [LongestFirst(key: "title", ascending: true)]),
            ]
            return results.map { $0.map { ($0 as? NSManagedObject)?.value(forKey: "title") as? String } }
        }
        let sorted = ["beta 9", "délta", "Alpha", "beta", "Beta 10", "Gamma"]
        for result in titles.dropLast() { #expect(result == sorted) }
        #expect(titles.last?.prefix(2) == ["Beta 10", "beta 9"])
        withExtendedLifetime(diary) {}
    }

    /// A descriptor with a comparison of its own.
    private final class LongestFirst: NSSortDescriptor {
        override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
            let lengths = [object1, object2].map { object in
                ((object as? NSManagedObject)?.value(forKey: "title") as? String ?? "").count
            }
            return lengths[0] == lengths[1]
                ? .orderedSame : lengths[0] > lengths[1] ? .orderedAscending : .orderedDescending
        }
    }

    /// Queries for notes, and the numbers of the results.
    static let questions: [(format: String, numbers: [Int])] = [
        ("title CONTAINS[cd] 'DELT'", [3]), ("title BEGINSWITH 'Be'", [4]), ("title ENDSWITH[c] 'A'", [0, 1, 2, 3]),
        ("title LIKE[c] 'b?ta*'", [1, 4, 5]), ("title MATCHES '[A-Z].*'", [0, 2, 4]),
        ("title IN {'beta', 'Gamma'}", [1, 2]), ("NOT (title IN {'beta', 'Gamma'})", [0, 3, 4, 5]),
        ("rank BETWEEN {1, 2}", [1, 2, 4]), ("rank == nil", [5]), ("rank != 0", [1, 2, 4, 5]),
        ("NOT rank == 0", [1, 2, 4, 5]),
        ("rank < 1", [0, 3]), ("rank + 1 == 2", [1, 4]), ("rank * rank >= 4", [2]), ("rank ** 2 == 4", [2]),
        ("author.name == 'Ada'", [0, 2, 4]), ("author.name ==[d] 'Emile'", [1, 3, 5]),
        ("author.age > 40 AND rank == 0", [3]),
        ("ANY tags.name == 'even'", [0, 2, 4]), ("NONE tags.name == 'even'", [1, 3, 5]),
        ("ALL items.price > 3", [0, 3, 4, 5]), ("SOME items.price > 4.6", [5]),
        ("ANY items.name IN {'item 4', 'item 3'}", [4, 5]),
        ("items.@count == 3", [3]), ("items.@count > 3 OR items.@count == 0", [0, 4, 5]),
        ("items.@sum.price > 13", [4, 5]),
        ("items.@avg.price == 2.5", [2]), ("items.@max.price == nil", [0]), ("items.@min.price < 2", [1]),
        ("SUBQUERY(items, $i, $i.price > 2 AND $i.name != 'item 0').@count > 1", [3, 4, 5]),
        ("SUBQUERY(tags, $t, SUBQUERY($t.notes, $n, $n.rank == 2).@count > 0).@count == 1", [0, 2, 4]),
        ("tags.@count == 1 AND items[SIZE] == 2", [2]),
        ("items.@count > 0 AND items[0].name == 'item 0'", [1, 2, 3, 4, 5]),
        ("items[FIRST].price == 1.5 OR items[LAST].name == 'item 4'", [1, 5]),
        ("author.notes.@count == 3", [0, 1, 2, 3, 4, 5]), ("ANY author.notes.title == 'beta 9'", [1, 3, 5]),
        ("count:(items.@distinctUnionOfObjects.price) == 1", [1, 2, 3, 4, 5]),
        ("count:(items.@unionOfObjects.name) > 3", [4, 5]),
        ("CAST(rank, 'NSNumber') == 1", [1, 4]), ("CAST(rank, 'NSString') == '2'", [2]),
        ("FUNCTION(title, 'length') == 4", [1]), ("title.length == 4", [1]), ("length(title) > 5", [4, 5]),
        ("uppercase(title) == 'GAMMA'", [2]), ("lowercase(author.name) == 'ada'", [0, 2, 4]),
        ("modulus:by:(rank, 2) == 1", [1, 4]),
        ("TERNARY(rank == nil, -1, rank) < 0", [5]), ("SELF.rank == 2", [2]),
        ("entity.name == 'Note' AND rank == 2", [2]),
        ("sqrt(rank) == 1", [1, 4]), ("abs(rank - 2) == 2", [0, 3]), ("bitwiseAnd:with:(rank, 1) == 1", [1, 4]),
        ("author.entity.name == 'Person' AND rank == 2", [2]), ("TRUEPREDICATE AND rank == 2", [2]),
        ("FALSEPREDICATE", []),
        ("%@ IN tags.name AND rank == 1", [4]), ("items.note.rank CONTAINS 2", [2]), ("max({rank, 1}) == 2", [2]),
        ("noindex(rank) == 2", [2]), ("indexed:by:(rank, 'byRank') == 2", [2]),
    ]

    @Test(arguments: types) func predicatesFindTheSameInEveryStore(type: String) throws {
        let (diary, context) = try filled(type)
        defer { withExtendedLifetime(diary) {} }
        try context.performAndWait { () throws in
            let titles = ["Alpha", "beta", "Gamma", "délta", "Beta 10", "beta 9"]
            let all = try context.all("Note")
            for (format, numbers) in Self.questions {
                let predicate = NSPredicate(format: format, argumentArray: format.contains("%@") ? ["even"] : [])
                func numbersOf(_ notes: [NSManagedObject]) -> [Int] {
                    notes.compactMap { titles.firstIndex(of: $0.value(forKey: "title") as? String ?? "") }.sorted()
                }
                do {
                    #expect(numbersOf(try context.all("Note", predicate)) == numbers, "\(format)")
                } catch {
                    Issue.record("\(format): \(error)")
                }
                #expect(numbersOf(all.filter { predicate.evaluate(with: $0) }) == numbers, "in memory: \(format)")
            }
        }
    }

    /// As PredicateKit builds subqueries, whose own tests expect the objects:
    /// https://github.com/ftchirou/PredicateKit/blob/main/PredicateKitTests/CoreDataTests/NSManagedObjectContextExtensionsTests.swift
    @Test(arguments: types) func aKeyPathOfASubqueryBeginsWithTheVariable(type: String) throws {
        let (diary, context) = try filled(type)
        defer { withExtendedLifetime(diary) {} }
        try context.performAndWait { () throws in
            let isCheap = NSComparisonPredicate(
                leftExpression: NSExpression(forKeyPath: "$x.price"),
                rightExpression: NSExpression(forConstantValue: 4), modifier: .direct, type: .lessThan)
            let subquery = NSExpression(
                forSubquery: NSExpression(forKeyPath: "items"), usingIteratorVariable: "x", predicate: isCheap)
            let size = NSExpression(format: "(\(subquery))[SIZE]")
            let threeCheapItems = NSComparisonPredicate(
                leftExpression: size, rightExpression: NSExpression(forConstantValue: 3), modifier: .direct,
                type: .equalTo)
            let found = try context.all("Note", threeCheapItems)
            #expect(found.map { $0.value(forKey: "title") as? String } == ["délta"])
            #expect(try context.all("Note").filter { threeCheapItems.evaluate(with: $0) } == found)
        }
    }

    @Test(arguments: types) func objectsAndIDsAreConstants(type: String) throws {
        let (diary, context) = try filled(type)
        defer { withExtendedLifetime(diary) {} }
        try context.performAndWait { () throws in
            let notes = try context.all("Note", sortedBy: "title")
            let ada = try #require(try context.all("Person", NSPredicate(format: "name == 'Ada'")).first)
            func count(_ format: String, _ arguments: [Any]) throws -> Int {
                try context.all("Note", NSPredicate(format: format, argumentArray: arguments)).count
            }
            #expect(try count("SELF IN %@", [Array(notes[..<2])]) == 2)
            #expect(try count("SELF IN %@", [Set(notes[..<2])]) == 2)
            #expect(try count("objectID IN %@", [notes[..<3].map(\.objectID)]) == 3)
            #expect(try count("SELF == %@", [notes[0].objectID]) == 1)
            #expect(try count("author == %@", [ada]) == 3)
            #expect(try count("author == %@ AND NOT SELF IN %@", [ada.objectID, notes]) == 0)
            #expect(try count("%K == %@", ["author.name", "Ada"]) == 3)
            #expect(try count("author IN %@", [try context.all("Person")]) == 6)
            let tag = try #require(try context.all("Tag", NSPredicate(format: "name == 'odd'")).first)
            #expect(try count("tags CONTAINS %@", [tag]) == 3)
            #expect(try count("%@ IN tags", [tag]) == 3)
            #expect(try count("ANY tags == %@", [tag]) == 3)
            #expect(try context.all("Tag", NSPredicate(format: "ANY notes == %@", notes[0])).count == 1)
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsfetchrequestexpression
    @Test(arguments: types) func aFetchInAPredicate(type: String) throws {
        let (diary, context) = try filled(type)
        defer { withExtendedLifetime(diary) {} }
        try context.performAndWait { () throws in
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
            request.predicate = NSPredicate(format: "age < 40")
            let fetch = NSFetchRequestExpression.expression(
                forFetch: NSExpression(forConstantValue: request), context: NSExpression(forConstantValue: context),
                countOnly: false)
            let isTheirs = NSComparisonPredicate(
                leftExpression: NSExpression(forKeyPath: "author"), rightExpression: fetch, modifier: .direct, type: .in
            )
            #expect(try context.all("Note", isTheirs).count == 3)
            let count = NSFetchRequestExpression.expression(
                forFetch: NSExpression(forConstantValue: request), context: NSExpression(forConstantValue: context),
                countOnly: true)
            let isAsMany = NSComparisonPredicate(
                leftExpression: NSExpression(forKeyPath: "rank"), rightExpression: count, modifier: .direct,
                type: .equalTo)
            #expect(try context.all("Note", isAsMany).count == 2)
            // The format that their descriptions have, and that mapping models of Xcode contain.
            let arguments: [Any] = [request, context]
            #expect(fetch.expressionType == NSFetchRequestExpressionType)
            let formatted = NSExpression(format: "FETCH(%@, %@, NO)", argumentArray: arguments)
            #expect(formatted == fetch && formatted is NSFetchRequestExpression)
            let parsed = NSPredicate(format: "rank == FETCH(%@, %@, YES)", argumentArray: arguments)
            #expect(parsed == isAsMany)
            #expect(try context.all("Note", parsed).count == 2)
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsfetchrequest/sortdescriptors
    @Test(arguments: types) func orders(type: String) throws {
        let (diary, context) = try filled(type)
        defer { withExtendedLifetime(diary) {} }
        try context.performAndWait { () throws in
            func titles(_ descriptors: [NSSortDescriptor], limit: Int = 0, offset: Int = 0) throws -> [String] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                request.sortDescriptors = descriptors
                request.fetchLimit = limit
                request.fetchOffset = offset
                return try context.fetch(request).compactMap { $0.value(forKey: "title") as? String }
            }
            let standard = NSSortDescriptor(
                key: "title", ascending: true, selector: "localizedStandardCompare:")
            #expect(try titles([standard]) == ["Alpha", "beta", "beta 9", "Beta 10", "délta", "Gamma"])
            let plain = NSSortDescriptor(key: "title", ascending: true)
            #expect(try titles([plain]) == ["Alpha", "Beta 10", "Gamma", "beta", "beta 9", "délta"])
            let byAuthor = NSSortDescriptor(key: "author.age", ascending: false)
            #expect(try titles([byAuthor, plain]) == ["beta", "beta 9", "délta", "Alpha", "Beta 10", "Gamma"])
            #expect(try titles([NSSortDescriptor(key: "rank", ascending: true), plain]).first == "beta 9")
            #expect(try titles([plain], limit: 2, offset: 1) == ["Beta 10", "Gamma"])
            #expect(try titles([plain], limit: 2, offset: 10).isEmpty)
            #expect(try titles([plain], offset: 5) == ["délta"])
            #expect(throws: (any Error).self) { _ = try titles([NSSortDescriptor(key: "nowhere", ascending: true)]) }
        }
    }

    private func column(_ name: String, _ format: String, _ type: NSAttributeType) -> NSExpressionDescription {
        let column = NSExpressionDescription()
        column.name = name
        column.expression = NSExpression(format: format)
        column.expressionResultType = type
        return column
    }

    /// https://developer.apple.com/documentation/coredata/nsfetchrequest/propertiestofetch
    @Test(arguments: types) func dictionariesOfEveryKind(type: String) throws {
        let (diary, context) = try filled(type)
        defer { withExtendedLifetime(diary) {} }
        try context.performAndWait { () throws in
            let request = NSFetchRequest<NSDictionary>(entityName: "Item")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [
                "note.author.name", column("total", "sum:(price)", .doubleAttributeType),
                column("items", "count:(name)", .integer64AttributeType),
                column("most", "max:(price)", .doubleAttributeType),
                column("mean", "average:(price)", .doubleAttributeType),
                column("exact", "sum:(price)", .decimalAttributeType),
            ]
            request.propertiesToGroupBy = ["note.author.name"]
            request.sortDescriptors = [NSSortDescriptor(key: "note.author.name", ascending: true)]
            let groups = try context.fetch(request)
            #expect(groups.map { $0["note.author.name"] as? String } == ["Ada", "Émile"])
            #expect(groups.map { $0["items"] as? Int } == [6, 9])
            #expect(groups.map { $0["total"] as? Double } == [23, 39.5])
            #expect(groups.map { $0["most"] as? Double } == [4.5, 5.5])
            #expect(groups.map { ($0["exact"] as? NSDecimalNumber)?.stringValue } == ["23", "39.5"])
            request.havingPredicate = NSPredicate(format: "$items > 6")
            #expect(try context.fetch(request).map { $0["items"] as? Int } == [9])
            #expect(try context.count(for: request) == 1)

            let notes = NSFetchRequest<NSDictionary>(entityName: "Note")
            notes.resultType = .dictionaryResultType
            let entity = try #require(diary.coordinator.managedObjectModel.entitiesByName["Note"])
            let id = NSExpressionDescription()
            id.name = "id"
            id.expression = NSExpression.expressionForEvaluatedObject()
            id.expressionResultType = .objectIDAttributeType
            notes.propertiesToFetch = [
                try #require(entity.propertiesByName["title"]), id, "author",
                column("items", "items.@count", .integer64AttributeType),
            ]
            notes.sortDescriptors = [NSSortDescriptor(key: "items.@count", ascending: false)]
            notes.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let rows = try context.fetch(notes)
            #expect(rows.map { $0["items"] as? Int } == [0, 4, 2, 1, 5, 3])
            #expect(rows.allSatisfy { ($0["id"] as? NSManagedObjectID)?.entity.name == "Note" })
            #expect(rows.allSatisfy { ($0["author"] as? NSManagedObjectID)?.entity.name == "Person" })
            notes.propertiesToFetch = nil
            #expect(
                Set(try #require(try context.fetch(notes).last).allKeys.compactMap { $0 as? String }) == [
                    "title", "rank", "author",
                ])
            notes.propertiesToFetch = ["rank"]
            notes.returnsDistinctResults = true
            notes.sortDescriptors = [NSSortDescriptor(key: "rank", ascending: true)]
            #expect(try context.fetch(notes).map { $0["rank"] as? Int } == [nil, 0, 1, 2])
            notes.propertiesToFetch = ["nowhere"]
            #expect(throws: (any Error).self) { _ = try context.fetch(notes) }
        }
    }

    /// https://developer.apple.com/documentation/coredata/nsbatchdeleterequest: deletes the results of its fetch
    /// request, and no other rows.
    @Test func batchRequestsAffectTheFetchedRows() throws {
        let (diary, context) = try filled(NSSQLiteStoreType)
        defer { withExtendedLifetime(diary) {} }
        try context.performAndWait { () throws in
            let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
            fetch.predicate = NSPredicate(format: "note.author.name == 'Ada' AND price > 2")
            fetch.sortDescriptors = [NSSortDescriptor(key: "price", ascending: false)]
            fetch.fetchLimit = 3
            let delete = NSBatchDeleteRequest(fetchRequest: fetch)
            delete.resultType = .resultTypeCount
            #expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int == 3)
            #expect(try context.all("Item", NSPredicate(format: "price > 4 AND price < 5")).count == 1)
            delete.resultType = .resultTypeStatusOnly
            #expect((try context.execute(delete) as? NSBatchDeleteResult)?.result as? Bool == true)
            let update = NSBatchUpdateRequest(entityName: "Person")
            update.includesSubentities = false
            // Batch updates of a store in PostgreSQL do not compute texts with functions.
            let isFile = diary.store.type == NSSQLiteStoreType
            update.propertiesToUpdate = ["age": NSExpression(format: "age + 1")]
            if isFile { update.propertiesToUpdate?["name"] = NSExpression(format: "uppercase(name)") }
            update.resultType = .updatedObjectsCountResultType
            #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 2)
            update.resultType = .statusOnlyResultType
            #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Bool == true)
            context.reset()
            if isFile { #expect(try context.names("Person") == ["ADA", "Zoë", "ÉMILE"]) }
            #expect(try context.all("Person", sortedBy: "age").last?.value(forKey: "age") as? Int == 64)
            // The key is the property's description instead of its name.
            let age = try #require(
                diary.coordinator.managedObjectModel.entitiesByName["Person"]?.attributesByName["age"])
            update.propertiesToUpdate = [age: 5]
            try context.execute(update)
            context.reset()
            #expect(try context.all("Person", NSPredicate(format: "age == 5")).count == 2)
        }
    }
}

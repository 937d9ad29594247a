import Foundation
import Testing

import class FoundationAdditions.NSPredicate
import class FoundationAdditions.NSSortDescriptor

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects
@testable import SQLStores

/// One predicate is evaluated by SQL in the store, and by the evaluator on objects in memory. Both must find the same.
@Suite("SQL and memory find the same objects", .serialized)
struct ReadersAgreeTests {
    private static let predicateCount = 4000

    @Test(arguments: TestStores.sqlTypes) func `thousands of predicates find the same in SQL and in memory`(
        type: String
    ) throws {
        let stack = try TestStack(model: QueryModel.make(), type: type)
        let context = stack.context()
        let (notes, items) = try fill(context)
        var inMemory = 0
        for seed in 1...Self.predicateCount {
            var generator = PredicateGenerator(
                random: PredicateGenerator.Randomness(state: UInt64(seed)), notes: notes, items: items)
            let predicate = generator.predicate()
            let expected: Set<NSManagedObjectID>
            do {
                expected = Set(try notes.filter { try predicate.evaluation(with: $0) }.map(\.objectID))
            } catch {
                continue
            }
            let store = try #require(stack.coordinator.persistentStores.first as? any SQLRowStore)
            let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Note"])
            let query = RowQuery(entity: entity, predicate: predicate)
            let keys = try store.keys(matching: query, generation: nil)
            let found = Set(keys.map { stack.coordinator.objectID(for: $0) })
            let statement = try store.content().compiler.explain(query, store: store.number)
            if statement.contains("in memory") { inMemory += 1 }
            #expect(
                found == expected,
                """
                seed \(seed): \(predicate.predicateFormat)
                \(statement)
                too many: \(titles(found.subtracting(expected), context)), missing: \(titles(expected.subtracting(found), context))
                """)
            #expect(try store.count(matching: query, generation: nil) == expected.count)
        }
        // Texts are compared by functions that only SQLite's connections have.
        #expect(
            inMemory < Self.predicateCount * (type == NSSQLiteStoreType ? 3 : 7) / 10,
            "most predicates become SQL as a whole")
    }

    @Test(arguments: TestStores.sqlTypes) func `members are found by a list and by a search for each owner`(
        type: String
    ) throws {
        let stack = try TestStack(model: QueryModel.make(), type: type)
        let context = stack.context()
        _ = try fill(context)
        // An item without tags and a tag without items.
        _ = (context.insert("Item", ["name": "alone"]), context.insert("Tag", ["name": "green"]))
        try context.save()
        // There are fewer tags than items, and more items than tags.
        func check() throws {
            for (entity, members) in [("Item", "tags"), ("Tag", "items")] {
                let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
                let name = try #require(objects.lazy.compactMap { $0.value(forKey: "name") as? String }.first)
                for form in [
                    "ANY %K.name == %@", "%@ IN %K.name", "ANY %K.name IN {%@, 'none'}",
                    "SUBQUERY(%K, $m, $m.name == %@).@count > 0", "SUBQUERY(%K, $m, $m.name == %@).@count == 0",
                ] {
                    for (format, value) in [
                        (form, name as Any), ("NOT (\(form))", name),
                        ("(\(form)) OR ANY \(members).name == 'green'", name),
                        // A value of another type equals no name.
                        (form, 5),
                    ] {
                        let predicate = NSPredicate(
                            format: format, argumentArray: form.hasPrefix("%@") ? [value, members] : [members, value])
                        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                        request.predicate = predicate
                        let found = try context.fetch(request)
                        #expect(Set(found) == Set(objects.filter(predicate.evaluate)), "\(entity): \(format)")
                        #expect(Set(found).count == found.count)
                    }
                }
            }
        }
        try check()
        // Unsaved: links, objects that are new, and objects that are deleted.
        let items = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
        let tags = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
        for (index, item) in items.enumerated() where index % 3 == 0 {
            item.setValue(NSSet(object: tags[index % tags.count]), forKey: "tags")
        }
        context.insert("Item", ["name": items[0].value(forKey: "name") ?? ""]).setValue(
            NSSet(array: tags), forKey: "tags")
        context.delete(items[1])
        try check()
    }

    private func titles(_ ids: Set<NSManagedObjectID>, _ context: NSManagedObjectContext) -> [String] {
        ids.map { id in
            let object = context.object(with: id)
            return object.entity.attributesByName.keys.sorted().map { "\($0)=\(object.value(forKey: $0) ?? "nil")" }
                .joined(separator: " ")
        }.sorted()
    }

    /// Forty notes with all values of the generator, a quarter of them nil.
    private func fill(_ context: NSManagedObjectContext) throws -> (notes: [NSManagedObject], items: [NSManagedObject])
    {
        var random = PredicateGenerator.Randomness(state: 42)
        func maybe(_ value: @autoclosure () -> Any) -> Any? {
            Int.random(in: 0..<4, using: &random) == 0 ? nil : value()
        }
        let words = PredicateGenerator.words
        // SQLite sorts texts by their bytes, which is the order of characters if these are composed.
        let composed = words.map(\.precomposedStringWithCanonicalMapping)
        let tags = ["red", "green", "blue"].map { context.insert("Tag", ["name": $0]) }
        var notes: [NSManagedObject] = []
        var items: [NSManagedObject] = []
        for position in 0..<40 {
            let note = context.insert("Note")
            func number() -> Int { Int.random(in: -2...6, using: &random) }
            note.setValue(maybe(composed[Int.random(in: composed.indices, using: &random)]), forKey: "title")
            note.setValue(maybe(words[Int.random(in: words.indices, using: &random)]), forKey: "body")
            note.setValue(maybe(composed[Int.random(in: composed.indices, using: &random)]), forKey: "place.city")
            note.setValue(maybe(Double(number()) / 2), forKey: "rank")
            note.setValue(maybe(number()), forKey: "count")
            note.setValue(maybe(number()), forKey: "small")
            note.setValue(maybe(number() > 2), forKey: "isPinned")
            note.setValue(maybe(Date(timeIntervalSinceReferenceDate: Double(number()) * 1000.25)), forKey: "createdAt")
            note.setValue(maybe(PredicateGenerator.uuid(number())), forKey: "identifier")
            note.setValue(maybe(PredicateGenerator.link(number())), forKey: "link")
            note.setValue(maybe(Data([UInt8(clamping: number())])), forKey: "blob")
            note.setValue(maybe(NSDecimalNumber(value: Double(number()) / 2)), forKey: "price")
            if let parent = notes.randomElement(using: &random), position % 3 != 0 {
                note.setValue(parent, forKey: "parent")
            }
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                let item = context.insert(Bool.random(using: &random) ? "Item" : "SpecialItem")
                item.setValue(maybe(words[Int.random(in: words.indices, using: &random)]), forKey: "name")
                item.setValue(maybe(number()), forKey: "size")
                item.setValue(maybe(Double(number()) / 4), forKey: "weight")
                item.setValue(note, forKey: "note")
                item.setValue(Set(tags.filter { _ in Bool.random(using: &random) }), forKey: "tags")
                items.append(item)
            }
            if position % 2 == 0, let cover = items.last, cover.value(forKey: "coverOf") == nil {
                note.setValue(cover, forKey: "cover")
            }
            notes.append(note)
        }
        try context.save()
        return (notes, items)
    }

    @Test(arguments: TestStores.sqlTypes) func `long lists of every kind of value`(type: String) throws {
        let stack = try TestStack(model: QueryModel.make(), type: type)
        let context = stack.context()
        // PostgreSQL does not store a NUL in a text.
        let nul = type == NSSQLiteStoreType ? "nul\u{0}x" : "no nul"
        let strange = ["", "a\"b", "a\\b", "tab\t", "line\n", nul, "é", "e\u{301}", "😀", "\u{1}"]
        for (number, title) in strange.enumerated() {
            _ = context.insert(
                "Note",
                [
                    "title": title, "count": number, "rank": Double(number) / 3,
                    "identifier": PredicateGenerator.uuid(number),
                    "createdAt": Date(timeIntervalSinceReferenceDate: Double(number) / 7),
                ])
        }
        try context.save()
        let lists: [(String, [Any])] = [
            ("title", strange + (0..<100).map { "word \($0)" }), ("count", Array(0..<200)),
            ("rank", (0..<200).map { Double($0) / 3 }), ("identifier", (0..<77).map(PredicateGenerator.uuid)),
            ("createdAt", (0..<33).map { Date(timeIntervalSinceReferenceDate: Double($0) / 7) }),
        ]
        for (key, list) in lists {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: "%K IN %@", key, list)
            #expect(try context.count(for: request) == strange.count, "\(key)")
        }
        let all = try context.all("Note")
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: "SELF IN %@", all + all + all + all)
        #expect(try context.count(for: request) == strange.count)
    }

    /// A quote and a combining mark are one `Character`, and two scalars of a literal.
    @Test(arguments: TestStores.sqlTypes) func `lists of texts with marks of the syntax and combining marks`(
        type: String
    ) throws {
        let stack = try TestStack(model: QueryModel.make(), type: type)
        let context = stack.context()
        let titles = ["\"", "\\", "'", ",", "{", "}", "%", "_"].map { "a\($0)\u{301}b" }
        for title in titles { _ = context.insert("Note", ["title": title]) }
        try context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        for title in titles {
            request.predicate = NSPredicate(format: "title IN %@", [title, "other"] as [Any])
            #expect(try stack.context().count(for: request) == 1, "\(title)")
            request.predicate = NSPredicate(format: "title == %@ AND title LIKE %@", title, "a*b")
            #expect(try stack.context().count(for: request) == 1, "\(title)")
        }
        // A long list is one parameter.
        let others = (0..<100).map { "other \($0)" }
        request.predicate = NSPredicate(format: "title IN %@", (titles + others) as [Any])
        #expect(try stack.context().count(for: request) == titles.count)
    }

    @Test(arguments: TestStores.sqlTypes) func `a sort in SQL is the sort in memory`(type: String) throws {
        let stack = try TestStack(model: QueryModel.make(), type: type)
        let context = stack.context()
        let (notes, _) = try fill(context)
        let byKey = notes.sorted { $0.key.number < $1.key.number }
        let selectors: [Selector] = [
            "compare:", "caseInsensitiveCompare:", "localizedCompare:", "localizedStandardCompare:",
        ]
        for key in ["title", "count", "rank", "price", "createdAt", "isPinned", "parent.title", "cover.size"] {
            for ascending in [true, false] {
                for selector in selectors where selector == "compare:" || key.hasSuffix("title") {
                    let descriptor = NSSortDescriptor(key: key, ascending: ascending, selector: selector)
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                    request.sortDescriptors = [descriptor]
                    let found = try stack.context().fetch(request).map(\.key.number)
                    let expected = byKey.enumerated().sorted { one, other in
                        switch descriptor.compare(one.element, to: other.element) {
                        case .orderedAscending: true
                        case .orderedDescending: false
                        case .orderedSame: one.offset < other.offset
                        }
                    }.map(\.element.key.number)
                    #expect(found == expected, "\(descriptor)")
                }
            }
        }
    }

    /// Relationships with other representations: one-way, reflexive, many-to-many, of a subentity.
    @Test(arguments: TestStores.sqlTypes) func `every representation of relationships`(type: String) throws {
        let person = NotesModel.entity(
            "Person",
            [NotesModel.attribute("name", .stringAttributeType), NotesModel.attribute("age", .integer64AttributeType)])
        let worker = NotesModel.entity("Worker", [])
        person.subentities = [worker]
        let badge = NotesModel.entity("Badge", [NotesModel.attribute("number", .integer64AttributeType)])
        NotesModel.relate(worker, "boss", many: false, worker, "reports", many: true, rule: .nullifyDeleteRule)
        NotesModel.relate(person, "follows", many: true, person, "followers", many: true, rule: .nullifyDeleteRule)
        let friends = NSRelationshipDescription()
        friends.name = "friends"
        friends.destinationEntity = person
        friends.inverseRelationship = friends
        let badges = NSRelationshipDescription()
        badges.name = "badges"
        badges.destinationEntity = badge
        let first = NSRelationshipDescription()
        first.name = "first"
        first.destinationEntity = badge
        first.maxCount = 1
        person.properties += [friends, badges, first]
        let model = NSManagedObjectModel()
        model.entities = [person, worker, badge]
        let stack = try TestStack(model: model, type: type)
        let context = stack.context()
        var random = PredicateGenerator.Randomness(state: 7)
        let people = (0..<30).map { number in
            context.insert(number % 2 == 0 ? "Worker" : "Person", ["name": "p\(number % 5)", "age": number % 7])
        }
        for (number, one) in people.enumerated() {
            for other in people where Int.random(in: 0..<10, using: &random) == 0 {
                one.mutableSetValue(forKey: "follows").add(other)
                if one !== other { one.mutableSetValue(forKey: "friends").add(people[(number + 5) % 30]) }
            }
            let own = (0..<Int.random(in: 0..<3, using: &random)).map { context.insert("Badge", ["number": $0]) }
            one.setValue(Set(own), forKey: "badges")
            one.setValue(own.first, forKey: "first")
            if number % 2 == 0, number > 3 { one.setValue(people[number - 4], forKey: "boss") }
        }
        try context.save()
        let formats: [(entity: String, format: String)] = [
            ("Person", "ANY follows.age > 4"), ("Person", "ALL followers.age < 5"), ("Person", "follows.@count > 3"),
            ("Person", "ANY friends.name == 'p1'"), ("Person", "friends.@count == 1"),
            ("Person", "NONE friends.age == 3"),
            ("Person", "ANY friends.friends.age == 2"), ("Person", "badges.@count == 2"),
            ("Person", "ANY badges.number == 1"),
            ("Person", "first.number == 0"), ("Person", "first == nil"),
            ("Person", "SUBQUERY(follows, $f, $f.first != nil).@count > 2"),
            ("Person", "SELF IN follows"), ("Person", "badges.@sum.number > 0"),
            ("Person", "follows.follows.@count > 9"),
            ("Worker", "boss.boss.name == 'p2'"), ("Worker", "ANY reports.age == boss.age"),
            ("Worker", "reports.@count == 0"),
            ("Worker", "boss IN followers"), ("Worker", "ANY reports.follows.name BEGINSWITH 'p1'"),
        ]
        for (entity, format) in formats {
            let predicate = NSPredicate(format: format)
            let expected = try people.filter { person in
                try (entity == "Person" || person.entity === worker) && predicate.evaluation(with: person)
            }
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = predicate
            let found = try context.fetch(request)
            #expect(Set(found.map(\.key.number)) == Set(expected.map(\.key.number)), "\(format)")
            #expect(found.count == expected.count, "\(format)")
        }
    }
}

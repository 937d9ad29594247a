import CoreData
import Testing

/// Key-value coding along paths: each key is read of what the keys before it have returned, so a set of objects gives a set of values.
/// https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/KeyValueCoding/BasicPrinciples.html
@Suite struct KeyPathValueTests {
    private let diary: Diary
    private let context: NSManagedObjectContext
    private let note: NSManagedObject

    /// A note with two tags, and with three items, one of which has no price.
    init() throws {
        diary = try Diary()
        let context = diary.context()
        note = context.performAndWait {
            let note = context.insert("Note", ["title": "one"])
            note.setValue(NSSet(array: ["a", "b"].map { context.insert("Tag", ["name": $0]) }), forKey: "tags")
            let items = [context.insert("Item", ["name": "x", "price": 3.0]), context.insert("Item", ["name": "y"])]
            note.setValue(
                NSOrderedSet(array: items + [context.insert("Item", ["name": "z", "price": 3.0])]), forKey: "items")
            return note
        }
        self.context = context
    }

    /// https://developer.apple.com/documentation/foundation/nsset/value(forkey:)
    @Test func `a path through a set gives a set`() {
        context.performAndWait {
            #expect(note.value(forKeyPath: "tags.name") as? Set<String> == ["a", "b"])
            #expect((note.value(forKeyPath: "tags.name") as? NSSet)?.count == 2)
            #expect(note.value(forKeyPath: "tags") as? NSSet == note.value(forKey: "tags") as? NSSet)
            let person = context.insert("Person")
            note.setValue(person, forKey: "author")
            #expect(person.value(forKeyPath: "notes.title") as? Set<String> == ["one"])
            #expect(person.value(forKeyPath: "notes.author.objectID") as? Set<NSManagedObjectID> == [person.objectID])
        }
    }

    @Test func `a path through an ordered set gives an ordered set`() {
        context.performAndWait {
            #expect(note.value(forKeyPath: "items.name") as? NSOrderedSet == ["x", "y", "z"])
            #expect(note.value(forKeyPath: "items") as? NSOrderedSet == note.value(forKey: "items") as? NSOrderedSet)
            #expect(note.value(forKeyPath: "items.note") as? NSOrderedSet == [note])
        }
    }

    @Test func `an expression of a relationship is a set`() {
        context.performAndWait {
            let tags = NSExpression(forKeyPath: "tags").expressionValue(with: note, context: nil)
            #expect(tags as? NSSet == note.value(forKey: "tags") as? NSSet && tags is NSSet)
            let items = NSExpression(forKeyPath: "items").expressionValue(with: note, context: nil)
            #expect(items as? NSOrderedSet == note.value(forKey: "items") as? NSOrderedSet && items is NSOrderedSet)
        }
    }

    /// https://developer.apple.com/documentation/foundation/nsset/setvalue(_:forkey:)
    @Test func `a value is set for every member`() {
        context.performAndWait {
            note.setValue(7.0, forKeyPath: "items.price")
            #expect(note.value(forKeyPath: "items.price") as? NSOrderedSet == [7.0])
            let person = context.insert("Person", ["name": "Ada"])
            person.setValue(NSSet(object: note), forKey: "notes")
            person.setValue("c", forKeyPath: "notes.tags.name")
            #expect(note.value(forKeyPath: "tags.name") as? Set<String> == ["c"])
            note.setValue("Grace", forKeyPath: "author.name")
            #expect(person.value(forKey: "name") as? String == "Grace")
        }
    }

    @Test func `decimal numbers are members of a set`() {
        let prices = ["1.5", "2", "1.50"].map { ["price": NSDecimalNumber(string: $0)] as NSDictionary }
        let ordered = NSOrderedSet(array: prices).value(forKey: "price") as? NSOrderedSet
        #expect(ordered?.array.map { "\($0)" } == ["1.5", "2"])
        let set = NSSet(array: prices).value(forKey: "price") as? NSSet
        #expect(set?.allObjects.map { "\($0)" }.sorted() == ["1.5", "2"])
    }

    @Test func `where there is no object nothing is set`() throws {
        try context.performAndWait {
            try context.save()
            note.setValue("Grace", forKeyPath: "author.name")
            #expect(!context.hasChanges)
        }
    }

    /// "Converts it to a double (substituting 0 for `nil` values), and computes the arithmetic average of these":
    /// https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/KeyValueCoding/CollectionOperators.html
    @Test func `an average counts nil as 0, and a fetch ignores it`() throws {
        try context.performAndWait {
            #expect(note.value(forKeyPath: "items.@avg.price") as? Double == 2)
            #expect((note.value(forKey: "items") as? NSOrderedSet)?.value(forKeyPath: "@avg.price") as? Double == 2)
            try context.save()
            let average = NSExpressionDescription()
            average.name = "average"
            average.expressionResultType = .doubleAttributeType
            average.expression = NSExpression(
                forFunction: "average:", arguments: [NSExpression(forKeyPath: "price")])
            let request = NSFetchRequest<NSDictionary>(entityName: "Item")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [average]
            #expect(try context.fetch(request).first?["average"] as? Double == 3)
        }
    }
}

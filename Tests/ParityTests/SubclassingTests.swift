import CoreData
import Observation
import Testing

/// Classes of apps that inherit from predicates and expressions, whose initialisers Foundation's headers declare as designated.
/// https://developer.apple.com/documentation/foundation/nscompoundpredicate/init(type:subpredicates:)
@Suite struct SubclassingTests {
    private final class EveryOf: NSCompoundPredicate {
        let label: String

        init(_ label: String, _ parts: [NSPredicate]) {
            self.label = label
            super.init(type: .and, subpredicates: parts)
        }

        required init?(coder: NSCoder) {
            label = ""
            super.init(coder: coder)
        }
    }

    private final class Equals: NSComparisonPredicate {
        let key: String

        init(_ key: String, _ value: Any) {
            self.key = key
            super.init(
                leftExpression: NSExpression(forKeyPath: key), rightExpression: NSExpression(forConstantValue: value),
                modifier: .direct, type: .equalTo, options: [])
        }

        required init?(coder: NSCoder) {
            key = ""
            super.init(coder: coder)
        }
    }

    private final class Evaluated: NSExpression {
        let label: String

        init(_ label: String) {
            self.label = label
            super.init(expressionType: .evaluatedObject)
        }

        required init?(coder: NSCoder) {
            label = ""
            super.init(coder: coder)
        }
    }

    private final class Always: NSPredicate {
        override func evaluate(with object: Any?) -> Bool { object is String }
    }

    /// CoreStore declares its clauses as subclasses: https://github.com/JohnEstropia/CoreStore
    @Test func predicatesAreInherited() throws {
        let diary = try Diary()
        let context = diary.context()
        for rank in 0..<4 { _ = context.insert("Note", ["title": rank < 2 ? "a" : "b", "rank": rank]) }
        try context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = EveryOf("both", [Equals("title", "a"), NSPredicate(format: "rank > 0")])
        #expect(try context.fetch(request).map { $0.value(forKey: "rank") as? Int } == [1])
        #expect(Equals("title", "a").predicateFormat == "title == \"a\"")
        #expect(Evaluated("self").expressionType == .evaluatedObject)
        #expect(NSPredicate(format: "%@ == 2", Evaluated("self")).evaluate(with: 2))
    }

    /// `NSPredicate` inherits `init()`; a subclass overrides the evaluation.
    /// https://developer.apple.com/documentation/foundation/nspredicate/evaluate(with:)
    @Test func aPredicateIsCreatedWithoutArguments() {
        #expect(Always().evaluate(with: "text"))
        #expect(!Always().evaluate(with: 1))
    }

    /// Predicates conform to `NSSecureCoding`: https://developer.apple.com/documentation/foundation/nspredicate
    @Test func archivesKeepTheClassOfPredicates() throws {
        for predicate in [
            NSPredicate(format: "a == 1"), NSPredicate(format: "a == 1 OR b == 2"), NSPredicate(value: false),
        ] {
            let data = try NSKeyedArchiver.archivedData(withRootObject: predicate, requiringSecureCoding: true)
            let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPredicate.self, from: data)
            #expect(read == predicate)
            #expect(read.map { ObjectIdentifier(type(of: $0)) } == ObjectIdentifier(type(of: predicate)))
        }
    }
}

/// Classes of apps that describe models in code. Apple's headers declare their `init()` as `NSObject`'s, which no subclass has to
/// override: https://developer.apple.com/documentation/coredata/nsrelationshipdescription. SwiftDatastore and CoreDataPlus have such
/// classes.
@Suite struct DescriptionSubclassTests {
    private final class Inverse: NSRelationshipDescription, @unchecked Sendable {  // because its superclass is
        let key: String

        init(_ key: String) {
            self.key = key
            super.init()
        }

        required init?(coder: NSCoder) { fatalError("init(coder:) has not been implemented") }
    }

    private final class Title: NSAttributeDescription, @unchecked Sendable {  // because its superclass is
        override init() {
            super.init()
            name = "title"
            attributeType = .stringAttributeType
        }

        required init?(coder: NSCoder) { super.init(coder: coder) }
    }

    private final class Described: NSEntityDescription, @unchecked Sendable {  // because its superclass is
        init(_ properties: [NSPropertyDescription]) {
            super.init()
            name = "Note"
            self.properties = properties
        }

        required init?(coder: NSCoder) { super.init(coder: coder) }
    }

    private final class Labelled: NSManagedObjectModel, @unchecked Sendable {  // because its superclass is
        let label: String

        init(_ label: String) {
            self.label = label
            super.init()
        }

        required init?(coder: NSCoder) { nil }
    }

    @Test func descriptionsHaveInitialisersOfTheirOwn() throws {
        let model = Labelled("notes")
        let parent = Inverse("children")
        parent.name = "parent"
        parent.maxCount = 1
        let entity = Described([Title(), parent])
        parent.destinationEntity = entity
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue("first", forKey: "title")
            note.setValue(note, forKey: "parent")
            try context.save()
            #expect((note.entity.relationshipsByName["parent"] as? Inverse)?.key == "children")
        }
        #expect((coordinator.managedObjectModel as? Labelled)?.label == "notes")
    }
}

/// A class of an app that is `Observable` by its own declaration.
final class ObservableNote: NSManagedObject {}
extension ObservableNote: Observable {}

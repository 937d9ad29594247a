import CoreData
import Testing

/// An event whose class implements two attributes of the model itself: the transient one that Apple's sample names sections by, and one
/// that is stored in another unit.
final class DatedEvent: NSManagedObject {
    #if canImport(Darwin)
        @objc
    #endif
    var sectionIdentifier: String? {
        willAccessValue(forKey: "sectionIdentifier")
        let kept = primitiveValue(forKey: "sectionIdentifier") as? String
        didAccessValue(forKey: "sectionIdentifier")
        if let kept { return kept }
        guard let date = value(forKey: "date") as? Date else { return nil }
        let text = "day \(Int(date.timeIntervalSinceReferenceDate / 86_400))"
        setPrimitiveValue(text, forKey: "sectionIdentifier")
        return text
    }

    #if canImport(Darwin)
        @objc
    #endif
    var hours: Double {
        get { (primitiveValue(forKey: "hours") as? Double ?? 0) / 3600 }
        set {
            willChangeValue(forKey: "hours")
            setPrimitiveValue(newValue * 3600, forKey: "hours")
            didChangeValue(forKey: "hours")
        }
    }

    #if !canImport(Darwin)
        override class func registerKeyPaths() {
            super.registerKeyPaths()
            KeyPathRegistry.register(implemented: \DatedEvent.sectionIdentifier, as: "sectionIdentifier")
            KeyPathRegistry.register(implemented: \DatedEvent.hours, as: "hours")
        }
    #endif
}

/// "This method is overridden by `NSManagedObject` to access the managed object's generic dictionary storage unless the receiver's class
/// explicitly provides key-value coding compliant accessor methods for key":
/// https://developer.apple.com/documentation/coredata/nsmanagedobject/value(forkey:)
@Suite struct ImplementedAttributeTests {
    private let diary: Diary
    private let context: NSManagedObjectContext

    /// Events on the days 4, 3 and 4.
    init() throws {
        let event = DiaryModel.entity("Event", DatedEvent.self)
        let identifier = DiaryModel.attribute("sectionIdentifier", .stringAttributeType)
        identifier.isTransient = true
        event.properties = [
            DiaryModel.attribute("date", .dateAttributeType), DiaryModel.attribute("hours", .doubleAttributeType),
            identifier,
        ]
        let model = NSManagedObjectModel()
        model.entities = [event]
        diary = try Diary(model: model)
        let context = diary.context()
        try context.performAndWait {
            for day in [4.1, 3.2, 4.3] {
                _ = context.insert("Event", ["date": Date(timeIntervalSinceReferenceDate: day * 86_400)])
            }
            try context.save()
            context.reset()
        }
        self.context = context
    }

    @Test func `key-value coding calls the getter`() throws {
        try context.performAndWait {
            let events = try context.all("Event", sortedBy: "date")
            #expect(events[0].primitiveValue(forKey: "sectionIdentifier") == nil)
            #expect(events[0].value(forKey: "sectionIdentifier") as? String == "day 3")
            #expect(events[1].value(forKeyPath: "sectionIdentifier") as? String == "day 4")
            #expect(
                events[1].dictionaryWithValues(forKeys: ["sectionIdentifier"])["sectionIdentifier"] as? String
                    == "day 4")
            #expect(events[1].value(forKey: "date") as? Date == Date(timeIntervalSinceReferenceDate: 4.1 * 86_400))
            #expect(!context.hasChanges)
        }
    }

    @Test func `key-value coding calls the setter`() throws {
        try context.performAndWait {
            let event = try context.all("Event", sortedBy: "date")[0]
            event.setValue(2, forKey: "hours")
            #expect(event.primitiveValue(forKey: "hours") as? Double == 7200)
            #expect(event.value(forKey: "hours") as? Int == 2)
            // The class has no setter.
            event.setValue("another", forKey: "sectionIdentifier")
            #expect(event.value(forKey: "sectionIdentifier") as? String == "another")
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Event")
            request.predicate = NSPredicate(format: "hours == 7200")
            #expect(try context.count(for: request) == 1)
        }
    }

    @Test func `predicates and sort descriptors call the getter`() throws {
        try context.performAndWait {
            let events = try context.all("Event", sortedBy: "date")
            let third = NSPredicate(format: "sectionIdentifier == 'day 3'")
            #expect(events.map { third.evaluate(with: $0) } == [true, false, false])
            let descending = [NSSortDescriptor(key: "sectionIdentifier", ascending: false)]
            let sorted = NSArray(array: events).sortedArray(using: descending)
            #expect(sorted.last as? NSManagedObject === events[0])
        }
    }

    /// https://developer.apple.com/library/archive/samplecode/DateSectionTitles/
    @Test func `sections are named by the getter`() throws {
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Event")
            request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "sectionIdentifier",
                cacheName: nil)
            try controller.performFetch()
            #expect(controller.sections?.map(\.name) == ["day 3", "day 4"])
            #expect(controller.sections?.map(\.numberOfObjects) == [1, 2])
        }
    }
}

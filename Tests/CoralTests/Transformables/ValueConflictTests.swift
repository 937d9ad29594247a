import Coral
import CoralValues
import Testing

/// The reported conflicts, from any queue.
private final class Reports: @unchecked Sendable {  // because of its lock
    private let lock = NSLock()
    private var names: [String] = []

    func add(_ name: String) { lock.withLock { names.append(name) } }
    func removeAll() { lock.withLock { names = [] } }
    var all: [String] { lock.withLock { names } }
}

/// What is a conflict of an attribute: values that are stored differently, and no others.
@Suite struct ValueConflictTests {
    /// A context, another one of the same store, and the conflicts that saves of the first report.
    private func contexts(
        _ entity: NSEntityDescription, _ policy: ValueConflictPolicy
    ) throws -> (NSManagedObjectContext, NSManagedObjectContext, Reports) {
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let context = try makeContext(model)
        let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        let reports = Reports()
        context.mergePolicy = ValueMergePolicy(ValueConflictRules(policy)) { reports.add($0.attribute) }
        return (context, other, reports)
    }

    #if !canImport(Darwin)
        @Test func `a composite attribute that only this context has changed is no conflict`() throws {
            let (address, place) = (NSCompositeAttributeDescription(), NSCompositeAttributeDescription())
            (address.name, place.name) = ("address", "place")
            place.elements = [WebModel.attribute("city", .stringAttributeType)]
            address.elements = [WebModel.attribute("street", .stringAttributeType), place]
            let person = WebModel.entity("Person", [("title", .stringAttributeType)])
            person.properties.append(address)
            let (context, other, reports) = try contexts(person, .takeTheirs)
            try context.performAndWait {
                let mine = context.insert(
                    "Person", ["title": "a", "address": ["street": "old", "place": ["city": "Bern"]] as [String: Any]])
                try context.save()
                let id = mine.objectID
                try other.performAndWait {
                    try other.existingObject(with: id).setValue("b", forKey: "title")
                    try other.save()
                }
                mine.setValue("new", forKeyPath: "address.street")
                try context.save()
                context.refresh(mine, mergeChanges: false)
                #expect(mine.value(forKeyPath: "address.street") as? String == "new")
                #expect(mine.value(forKeyPath: "address.place.city") as? String == "Bern")
                #expect(mine.value(forKey: "title") as? String == "b")
                #expect(reports.all.isEmpty)

                // Both contexts change the address: this is a conflict, and the whole address of the other context is used.
                try other.performAndWait {
                    other.reset()
                    let theirs = try other.existingObject(with: id)
                    theirs.setValue("Thun", forKeyPath: "address.place.city")
                    try other.save()
                }
                mine.setValue("newer", forKeyPath: "address.street")
                try context.save()
                context.refresh(mine, mergeChanges: false)
                #expect(mine.value(forKeyPath: "address.street") as? String == "new")
                #expect(mine.value(forKeyPath: "address.place.city") as? String == "Thun")
                #expect(reports.all == ["address"])
            }
        }
    #endif

    /// The texts of the cases are canonically equivalent, and are stored as different texts.
    @Test(arguments: [
        (base: "a", mine: "\u{e9}", theirs: "e\u{301}"), (base: "\u{e9}", mine: "b", theirs: "e\u{301}"),
        (base: "\u{e9}", mine: "e\u{301}", theirs: "b"),
    ])
    func `values that are stored differently are a conflict`(base: String, mine: String, theirs: String) throws {
        let (context, other, reports) = try contexts(
            WebModel.entity("Person", [("title", .stringAttributeType)]), .takeTheirs)
        try context.performAndWait {
            let person = context.insert("Person", ["title": base])
            try context.save()
            let id = person.objectID
            func saveTheirs() throws -> Notification {
                try other.performAndWait {
                    other.reset()
                    let object = try other.existingObject(with: id)
                    object.setValue(theirs, forKey: "title")
                    try other.save()
                    return Notification(
                        name: .NSManagedObjectContextDidSave, object: other,
                        userInfo: [NSUpdatedObjectsKey: Set([object])])
                }
            }
            func text() -> [UInt8] { Array((person.value(forKey: "title") as? String ?? "").utf8) }
            _ = try saveTheirs()
            person.setValue(mine, forKey: "title")
            try context.save()
            context.refresh(person, mergeChanges: false)
            #expect(text() == Array(theirs.utf8) && reports.all == ["title"])

            // The same by a merge.
            person.setValue(base, forKey: "title")
            try context.save()
            reports.removeAll()
            let saved = try saveTheirs()
            person.setValue(mine, forKey: "title")
            let conflicts = try context.mergeChanges(
                fromContextDidSave: saved, resolvingBy: ValueConflictRules(.takeTheirs))
            #expect(conflicts.map(\.attribute) == ["title"] && text() == Array(theirs.utf8))
        }
    }
}

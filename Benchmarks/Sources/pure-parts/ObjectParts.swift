import CoreData
import Foundation

/// The cost of single steps of a context: predicates, faults, relationships, change detection.
struct ObjectParts {
    private let container: NSPersistentContainer
    private var context: NSManagedObjectContext { container.viewContext }
    private let count = 1_000

    init() throws {
        container = NSPersistentContainer(name: "Parts", managedObjectModel: ObjectParts.model)
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        let owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
        for number in 0..<count {
            let member = NSEntityDescription.insertNewObject(forEntityName: "Member", into: context)
            member.setValue(number, forKey: "number")
            member.setValue("Member \(number)", forKey: "name")
            member.setValue(owner, forKey: "owner")
        }
        try context.save()
    }

    func run() throws {
        try predicates()
        try faults()
        try relationships()
        try changes()
    }

    private func members() throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Member")
        request.returnsObjectsAsFaults = false
        return try context.fetch(request)
    }

    private func predicates() throws {
        let format = "number >= %d AND name BEGINSWITH[c] %@ AND owner.name == nil"
        report(
            "parse a predicate of three comparisons",
            nanoseconds(count) {
                for number in 0..<count { _ = NSPredicate(format: format, number, "mem") }
            }, per: "predicate")
        let predicate = NSPredicate(format: format, 500, "mem")
        let objects = try members()
        var found = 0
        report(
            "evaluate it on a managed object",
            nanoseconds(count) { for object in objects where predicate.evaluate(with: object) { found += 1 } },
            per: "object")
    }

    private func faults() throws {
        let objects = try members()
        var sum = 0
        report(
            "turn an object into a fault, and fire it with all others at hand",
            nanoseconds(count) {
                for object in objects { context.refresh(object, mergeChanges: false) }
                for object in objects { sum += object.value(forKey: "number") as? Int ?? 0 }
            }, per: "object")
    }

    private func relationships() throws {
        let objects = try members()
        let owner = objects[0].value(forKey: "owner")
        report(
            "take a member from its owner and give it back, inverse kept",
            nanoseconds(count) {
                for object in objects {
                    object.setValue(nil, forKey: "owner")
                    object.setValue(owner, forKey: "owner")
                }
            }, per: "member")
        context.rollback()
    }

    private func changes() throws {
        let objects = try members()
        for object in objects { object.setValue("changed", forKey: "name") }
        context.processPendingChanges()
        var changed = 0
        report(
            "what has changed in an object, of 1,000 that have",
            nanoseconds(count) { for object in objects { changed += object.changedValues().count } }, per: "object")
        report(
            "snapshot of an object, of 1,000 that have changed: what it was and what it is",
            nanoseconds(count) {
                for object in objects {
                    changed += object.committedValues(forKeys: nil).count + object.changedValues().count
                }
            }, per: "object")
        report(
            "which objects of 1,000 have changed",
            nanoseconds(count) { changed += context.updatedObjects.count }, per: "object")
        context.rollback()
    }

    private static let model: NSManagedObjectModel = {
        let (owner, member) = (NSEntityDescription(), NSEntityDescription())
        owner.name = "Owner"
        member.name = "Member"
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            return attribute
        }
        let (members, back) = (NSRelationshipDescription(), NSRelationshipDescription())
        members.name = "members"
        members.destinationEntity = member
        members.inverseRelationship = back
        back.name = "owner"
        back.maxCount = 1
        back.destinationEntity = owner
        back.inverseRelationship = members
        owner.properties = [attribute("name", .stringAttributeType), members]
        member.properties = [
            attribute("number", .integer64AttributeType), attribute("name", .stringAttributeType), back,
        ]
        let model = NSManagedObjectModel()
        model.entities = [owner, member]
        return model
    }()
}

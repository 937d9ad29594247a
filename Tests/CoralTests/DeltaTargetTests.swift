import Coral
import Foundation
import GraphDocuments
import Testing

/// The objects to which the references of a delta by keys lead.
@Suite struct DeltaTargetTests {
    /// Persons are known by their name, employees by their office.
    private func context() throws -> NSManagedObjectContext {
        let person = WebModel.entity("Person", [("name", .stringAttributeType)])
        person.userInfo = ["coral.identity": "name"]
        let employee = WebModel.entity("Employee", [("office", .stringAttributeType)])
        employee.userInfo = ["coral.identity": "office"]
        person.subentities = [employee]
        let task = WebModel.entity("Task", [("title", .stringAttributeType)])
        task.userInfo = ["coral.identity": "title"]
        WebModel.relate(task, "assignee", .toOne, person, "tasks", .toMany(ordered: false))
        WebModel.relate(task, "watchers", .toMany(ordered: true), person, "watched", .toMany(ordered: false))
        WebModel.relate(task, "helpers", .toMany(ordered: false), person, "helped", .toMany(ordered: false))
        let model = NSManagedObjectModel()
        model.entities = [person, employee, task]
        return try makeContext(model)
    }

    /// A task of Ann's, and an employee. The office is another person's name.
    private func insertTask(_ context: NSManagedObjectContext) throws -> (
        task: NSManagedObject, ann: NSManagedObject, employee: NSManagedObject
    ) {
        let ann = context.insert("Person", ["name": "ann"])
        let employee = context.insert("Employee", ["name": "bob", "office": "ann"])
        let task = context.insert(
            "Task",
            ["title": "t", "assignee": ann, "watchers": NSOrderedSet(object: ann), "helpers": NSSet(object: ann)])
        try context.save()
        return (task, ann, employee)
    }

    /// What changes the first store to the second.
    private func delta(_ one: NSManagedObjectContext, _ other: NSManagedObjectContext) throws -> GraphDelta {
        let (old, new) = (
            try #require(one.persistentStoreCoordinator), try #require(other.persistentStoreCoordinator)
        )
        var comparison = GraphComparison(new.managedObjectModel)
        comparison.naming = .keys
        return try comparison.delta(from: .stores(old), to: .stores(new))
    }

    @Test func `a reference leads to an object of the entity in its id`() throws {
        let (source, replica) = (try context(), try context())
        _ = try replica.performAndWait { try insertTask(replica) }
        try source.performAndWait {
            let (task, ann, employee) = try insertTask(source)
            task.setValue(employee, forKey: "assignee")
            task.setValue(NSOrderedSet(array: [employee, ann]), forKey: "watchers")
            task.setValue(NSSet(object: employee), forKey: "helpers")
            try source.save()
        }
        let delta = try delta(replica, source)
        #expect(!delta.isEmpty)
        try replica.performAndWait {
            try GraphDelta(delta.encoded(as: .json)).apply(to: replica)
            try replica.save()
        }
        #expect(try self.delta(replica, source).isEmpty)
    }

    /// The changes of the task only: the person to which they refer is in the source alone.
    private func changesOfTask(
        in source: NSManagedObjectContext, since replica: NSManagedObjectContext,
        _ change: (_ task: NSManagedObject, _ new: NSManagedObject, _ employee: NSManagedObject) -> Void
    ) throws -> GraphDelta {
        try source.performAndWait {
            let (task, _, employee) = try insertTask(source)
            change(task, source.insert("Person", ["name": "new"]), employee)
            try source.save()
        }
        return GraphDelta(try delta(replica, source).changes.filter { $0.subject.entity == "Task" })
    }

    @Test func `without checking, a reference to a missing object is skipped`() throws {
        let (source, replica) = (try context(), try context())
        let (task, ann, employee) = try replica.performAndWait { try insertTask(replica) }
        let delta = try changesOfTask(in: source, since: replica) { task, new, _ in
            task.setValue(new, forKey: "assignee")
            task.setValue(NSOrderedSet(object: new), forKey: "watchers")
        }
        try replica.performAndWait {
            #expect(throws: DeltaError.self) { try delta.apply(to: replica) }
            try delta.apply(to: replica, checking: false)
            #expect(task.value(forKey: "assignee") as? NSManagedObject === ann)
            #expect((task.value(forKey: "watchers") as? NSOrderedSet)?.array as? [NSManagedObject] == [ann])
        }
        let other = try changesOfTask(in: try context(), since: replica) { task, new, employee in
            task.setValue(nil, forKey: "assignee")
            task.setValue(NSOrderedSet(array: [new, employee]), forKey: "watchers")
        }
        try replica.performAndWait {
            try other.apply(to: replica, checking: false)
            #expect(task.value(forKey: "assignee") == nil, "No reference clears it.")
            #expect((task.value(forKey: "watchers") as? NSOrderedSet)?.array as? [NSManagedObject] == [employee])
        }
    }
}

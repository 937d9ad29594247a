import CoreDataErrors
import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects

/// An item whose `willSave` derives its name from its index.
class DerivingItem: NSManagedObject {
    var calls = 0
    /// What the next call does besides.
    var next: (() -> Void)?

    override func willSave() {
        super.willSave()
        calls += 1
        setPrimitiveValue("item \(value(forKey: "index") as? Int ?? 0)", forKey: "name")
        next?()
        next = nil
    }
}

/// An item that is different after each call.
final class RestlessItem: NSManagedObject {
    var calls = 0

    override func willSave() {
        super.willSave()
        calls += 1
        setValue("\(calls)", forKey: "name")
    }
}

/// "If you change property values using standard accessor methods, Core Data will observe the resultant change notification and so
/// invoke `willSave` again before saving the object's managed object context":
/// https://developer.apple.com/documentation/coredata/nsmanagedobject/willsave()
@Suite("willSave is called until no object changes") struct SaveRoundTests {
    private func stack(_ objectClass: NSManagedObject.Type) throws -> TestStack {
        let model = NotesModel.make()
        model.entitiesByName["Item"]?.managedObjectClassName = ManagedObjects.NSStringFromClass(objectClass)
        return try TestStack(model: model)
    }

    private func names(_ stack: TestStack) throws -> [String?] {
        let context = stack.context()
        return try withExtendedLifetime(context) {
            try context.all("Item", sortedBy: "index").map { $0.value(forKey: "name") as? String }
        }
    }

    private func deriving(_ count: Int) throws -> (stack: TestStack, context: NSManagedObjectContext, [DerivingItem]) {
        let stack = try stack(DerivingItem.self)
        let context = stack.context()
        let items = try (0..<count).map { try #require(context.insert("Item", ["index": $0]) as? DerivingItem) }
        try context.save()
        for item in items { item.calls = 0 }
        return (stack, context, items)
    }

    @Test func `an object that another one changes after its own call is called again`() throws {
        let (stack, context, items) = try deriving(3)
        items[0].setValue(10, forKey: "index")
        items[1].setValue(11, forKey: "index")
        items[1].next = { items[0].setValue(12, forKey: "index") }
        try context.save()
        #expect(items.map(\.calls) == [2, 1, 0])
        #expect(try names(stack) == ["item 2", "item 11", "item 12"])
    }

    @Test func `an object that changes itself by an accessor is called again`() throws {
        let (stack, context, items) = try deriving(1)
        items[0].setValue(5, forKey: "index")
        items[0].next = { items[0].setValue(6, forKey: "index") }
        try context.save()
        #expect(items[0].calls == 2)
        #expect(try names(stack) == ["item 6"])
    }

    @Test func `an object that an observer of the changes changes is called`() throws {
        let (stack, context, items) = try deriving(2)
        nonisolated(unsafe) let second = items[1]
        nonisolated(unsafe) var isFirst = true
        items[0].next = {
            let observer = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
            ) { _ in
                guard isFirst else { return }
                isFirst = false
                second.setValue(8, forKey: "index")
            }
            items[1].next = { NotificationCenter.default.removeObserver(observer) }
            items[0].setValue(7, forKey: "index")
        }
        items[0].setValue(5, forKey: "index")
        try context.save()
        #expect(items.map(\.calls) == [2, 1])
        #expect(try names(stack) == ["item 7", "item 8"])
    }

    @Test func `primitive values cause no further call`() throws {
        let (_, context, items) = try deriving(1)
        items[0].setValue(5, forKey: "index")
        try context.save()
        #expect(items[0].calls == 1 && !context.hasChanges)
    }

    /// Apple's framework raises an exception, "The context is still dirty after 1000 attempts".
    @Test func `an object that never comes to rest is an error`() throws {
        let stack = try stack(RestlessItem.self)
        let context = stack.context()
        let item = try #require(context.insert("Item", ["index": 1]) as? RestlessItem)
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == .persistentStoreSave && item.calls == 1000)
        #expect(item.isInserted && context.hasChanges)
        #expect(try names(stack) == [])
    }
}

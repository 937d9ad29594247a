import Foundation
import Testing

import class ManagedObjects.NSEntityDescription
import class ManagedObjects.NSManagedObject
import class ManagedObjects.NSManagedObjectContext
import class FoundationAdditions.UndoManager
import class FoundationAdditions.ValueTransformer

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

/// A mutable class whose objects are equal when their names are equal.
public final class Paint: NSObject, NSSecureCoding {
    public static var supportsSecureCoding: Bool { true }
    let name: String
    var shade: Int

    init(_ name: String, shade: Int) {
        self.name = name
        self.shade = shade
    }

    public init?(coder: NSCoder) {
        name = coder.decodeObject(of: NSString.self, forKey: "name").map { "\($0)" } ?? ""
        shade = coder.decodeInteger(forKey: "shade")
    }

    public func encode(with coder: NSCoder) {
        coder.encode(name as NSString, forKey: "name")
        coder.encode(shade, forKey: "shade")
    }

    public override func isEqual(_ object: Any?) -> Bool { (object as? Paint)?.name == name }
    public override var hash: Int { name.hashValue }
}

private final class PaintTransformer: NSSecureUnarchiveFromDataTransformer {
    override class var allowedTopLevelClasses: [AnyClass] { super.allowedTopLevelClasses + [Paint.self] }
}

/// In-place changes of values of transformable attributes, without assignment.
@Suite struct InPlaceChangeTests {
    private static let model: NSManagedObjectModel = {
        ValueTransformer.setValueTransformer(PaintTransformer(), forName: NSValueTransformerName("InPlacePaint"))
        let board = NSEntityDescription()
        board.name = "Board"
        func attribute(_ name: String, _ transformer: String, _ info: [String: String] = [:]) -> NSAttributeDescription
        {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = name == "title" ? .stringAttributeType : .transformableAttributeType
            attribute.isOptional = true
            attribute.valueTransformerName = name == "title" ? nil : transformer
            attribute.userInfo = info
            return attribute
        }
        let plain = NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
        board.properties = [
            attribute("title", ""), attribute("tags", plain), attribute("paint", "InPlacePaint"),
            attribute("loose", plain, ["coral.inPlaceChanges": "ignore"]),
        ]
        let model = NSManagedObjectModel()
        model.entities = [board]
        return model
    }()

    private func coordinator(_ type: String) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model)
        let url = URL(fileURLWithPath: NSTemporaryDirectory() + "inplace-\(UUID().uuidString).sqlite")
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: nil)
        return coordinator
    }

    private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// A saved board, in a context that has read it again.
    private func board(_ type: String = NSSQLiteStoreType) throws -> (NSManagedObjectContext, NSManagedObject) {
        let coordinator = try coordinator(type)
        let writer = context(coordinator)
        let board = NSEntityDescription.insertNewObject(forEntityName: "Board", into: writer)
        board.setValue("b", forKey: "title")
        board.setValue(NSMutableArray(array: ["red"]), forKey: "tags")
        board.setValue(NSMutableArray(array: ["red"]), forKey: "loose")
        board.setValue(Paint("red", shade: 1), forKey: "paint")
        try writer.save()
        let reader = context(coordinator)
        return (reader, try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Board"))[0])
    }

    private func tags(_ board: NSManagedObject) throws -> NSMutableArray {
        try #require(board.value(forKey: "tags") as? NSMutableArray)
    }

    private func strings(_ board: NSManagedObject) -> [String] {
        (board.value(forKey: "tags") as? NSArray)?.map { "\($0)" } ?? []
    }

    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func `an element added to an array is saved`(_ type: String) throws {
        let (context, board) = try board(type)
        let tags = try tags(board)
        #expect(try self.tags(board) === tags)
        #expect(!context.hasChanges && !board.hasChanges && board.changedValues().isEmpty)
        tags.add("blue")
        #expect(board.hasChanges && context.hasChanges)
        #expect(context.updatedObjects == [board])
        #expect(board.changedValues()["tags"] as? NSArray == ["red", "blue"])
        #expect(board.changedValues().count == 1)
        #expect(board.committedValues(forKeys: ["tags"])["tags"] as? NSArray == ["red"])
        try context.save()
        #expect(!context.hasChanges)
        tags.add("green")
        #expect(context.hasChanges)
        try context.save()
        context.reset()
        let read = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Board"))[0]
        #expect(strings(read) == ["red", "blue", "green"])
        #expect(!context.hasChanges)
    }

    @Test func `a change of an object without other references is saved`() throws {
        let (context, _) = try board()
        try (context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Board")).first).map { try tags($0).add("blue") }
        context.sweep()
        #expect(context.hasChanges)
        try context.save()
        context.reset()
        #expect(
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Board")).map(strings) == [["red", "blue"]])
    }

    @Test func `values are compared by their encoding, not by isEqual`() throws {
        let (context, board) = try board()
        let paint = try #require(board.value(forKey: "paint") as? Paint)
        paint.shade = 7
        #expect(board.changedValues().keys.sorted() == ["paint"])
        try context.save()
        context.refresh(board, mergeChanges: false)
        #expect((board.value(forKey: "paint") as? Paint)?.shade == 7)
    }

    @Test func `in-place changes before and after another change are saved`() throws {
        let (context, board) = try board()
        let tags = try tags(board)
        board.setValue("c", forKey: "title")
        tags.add("blue")
        #expect(board.changedValues().keys.sorted() == ["tags", "title"])
        try context.save()
        context.reset()
        #expect(strings(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Board"))[0]) == ["red", "blue"])
    }

    @Test func `in-place changes of a new object are detected`() throws {
        let (context, _) = try board()
        let board = NSEntityDescription.insertNewObject(forEntityName: "Board", into: context)
        let tags = NSMutableArray(array: ["x"])
        board.setValue(tags, forKey: "tags")
        tags.add("y")
        try context.save()
        tags.add("z")
        #expect(board.hasChanges)
        try context.save()
        context.refresh(board, mergeChanges: false)
        #expect(strings(board) == ["x", "y", "z"])
    }

    @Test func `undo and redo include in-place changes`() throws {
        let (context, board) = try board()
        context.undoManager = UndoManager()
        try tags(board).add("blue")
        context.processPendingChanges()
        try tags(board).add("green")
        context.processPendingChanges()
        context.undo()
        #expect(strings(board) == ["red", "blue"])
        context.undo()
        #expect(strings(board) == ["red"])
        #expect(!board.hasPersistentChangedValues)
        context.redo()
        context.redo()
        #expect(strings(board) == ["red", "blue", "green"])
        try tags(board).add("white")
        context.undo()
        #expect(strings(board) == ["red", "blue", "green"])
    }

    @Test func `rollback, refresh and reset discard in-place changes`() throws {
        let (context, board) = try board()
        try tags(board).add("blue")
        context.rollback()
        #expect(strings(board) == ["red"] && !context.hasChanges)
        try tags(board).add("blue")
        context.refresh(board, mergeChanges: false)
        #expect(strings(board) == ["red"] && !context.hasChanges)
        try tags(board).add("blue")
        context.refresh(board, mergeChanges: true)
        #expect(strings(board) == ["red", "blue"] && context.hasChanges)
        context.refreshAllObjects()
        #expect(strings(board) == ["red", "blue"] && context.hasChanges)
    }

    @Test func `in-place changes are validated`() throws {
        let (context, board) = try board()
        let attribute = try #require(board.entity.attributesByName["tags"])
        #expect(attribute.validationPredicates.isEmpty)
        let paint = try #require(board.value(forKey: "paint") as? Paint)
        paint.shade = 2
        try board.validateForUpdate()
        #expect(context.hasChanges)
    }

    @Test func `a merge keeps in-place changes of this context`() throws {
        let (context, board) = try board()
        try tags(board).add("mine")
        let other = self.context(try #require(context.persistentStoreCoordinator))
        let theirs = try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Board"))[0]
        theirs.setValue("their title", forKey: "title")
        try tags(theirs).add("their")
        let saved = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: other, queue: nil
        ) { context.mergeChanges(fromContextDidSave: $0) }
        try other.save()
        NotificationCenter.default.removeObserver(saved)
        #expect(strings(board) == ["red", "mine"])
        #expect(board.value(forKey: "title") as? String == "their title")
        #expect(board.changedValues().keys.sorted() == ["tags"])
        try context.save()
        other.refresh(theirs, mergeChanges: false)
        #expect(strings(theirs) == ["red", "mine"])
    }

    @Test func `a child has values of its own`() throws {
        let (context, board) = try board()
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = context
        try tags(board).add("parent")
        let own = child.object(with: board.objectID)
        #expect(strings(own) == ["red", "parent"])
        try tags(own).add("child")
        #expect(child.hasChanges)
        #expect(strings(board) == ["red", "parent"])
        try child.save()
        #expect(strings(board) == ["red", "parent", "child"])
        try tags(own).add("later")
        #expect(strings(board) == ["red", "parent", "child"])
        try context.save()
        context.refresh(board, mergeChanges: false)
        #expect(strings(board) == ["red", "parent", "child"])
    }

    @Test func `an attribute may be excluded, and immutable values cost nothing`() throws {
        let (context, board) = try board()
        try #require(board.value(forKey: "loose") as? NSMutableArray).add("blue")
        #expect(!context.hasChanges)
        #expect(context.inPlaceValues.isEmpty)
        board.setValue(["a", "b"] as [String], forKey: "tags")
        #expect(context.inPlaceValues.isEmpty)
        #expect(!ChangeableValue.isChangeable(["a": [1, 2], "b": [3]] as [String: [Int]]))
        #expect(!ChangeableValue.isChangeable(["a", 1, Date()] as [Any]))
        #expect(!ChangeableValue.isChangeable(["a", 1] as NSArray))
        #expect(ChangeableValue.isChangeable(NSArray(object: Paint("x", shade: 1))))
        #expect(ChangeableValue.isChangeable([Paint("x", shade: 1)]))
    }

    @Test func `a value without other references is compared once`() throws {
        let (context, board) = try board()
        do { #expect(try tags(board).count == 1) }
        #expect(!context.inPlaceValues.isEmpty)
        #expect(!context.hasChanges)
        #expect(context.inPlaceValues.isEmpty)
        #expect(strings(board) == ["red"])
    }
}

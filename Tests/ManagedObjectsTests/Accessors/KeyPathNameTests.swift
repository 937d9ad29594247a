import Foundation
import Testing

@testable import FoundationAdditions
@testable import ManagedObjects

/// Key paths are registered when they are first looked up.
@Suite struct KeyPathNameTests {
    @Test("A class that registers its key paths, and its superclass")
    func written() {
        #expect(NSSortDescriptor(keyPath: \WrittenChild.extra, ascending: true).key == "extra")
        #expect(NSExpression(forKeyPath: \Written.title).keyPath == "title")
    }

    @Test("A class registers its key paths for its subclasses, too, in the form that the macro writes")
    func inherited() {
        #expect(NSExpression(forKeyPath: \WrittenChild.title).keyPath == "title")
        #expect(NSSortDescriptor(keyPath: \WrittenGrandchild.title, ascending: true).key == "title")
        #expect(NSExpression(forKeyPath: \WrittenGrandchild.extra).keyPath == "extra")
        #expect(NSExpression(forKeyPath: \Generated.heir.title).keyPath == "heir.title")
    }

    @Test("The topmost generated class registers the key paths of its subclasses, and paths through relationships")
    func generated() {
        #expect(NSExpression(forKeyPath: \GeneratedChild.title).keyPath == "title")
        #expect(NSExpression(forKeyPath: \Generated.parent?.title).keyPath == "parent.title")
        #expect(NSExpression(forKeyPath: \Generated.owner.title).keyPath == "owner.title")
    }

    /// The class's registered accessors ask for the key by which key-value coding finds them.
    @Test("A declared property that the model does not have is an undefined key")
    func mistyped() throws {
        let entity = NSEntityDescription()
        entity.name = "Note"
        let title = NSAttributeDescription()
        title.name = "title"
        title.attributeType = .stringAttributeType
        entity.properties = [title]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let note = Mistyped(entity: entity, insertInto: nil)
        #expect(note.titel == "titel is undefined")
        #expect(note.value(forKey: "titel") as? String == "titel is undefined")
        #expect(note.rank == 0)
        note.titel = "a"
        note.setValue(Int64(3), forKey: "rank")
        #expect(note.undefined == ["titel", "rank"])
        note.primitiveTitle = "b"
        #expect(note.value(forKey: "title") as? String == "b")
        #expect(note.value(forKey: "primitiveTitle") as? String == "b")
        #expect(note.primitiveTitle == "b")
    }

    @Test("A key path that is not registered has no name")
    func unknown() {
        #expect(KeyPathRegistry.name(of: \Written.unnamed) == nil)
        #expect(KeyPathRegistry.name(of: \String.count) == nil)
    }
}

private final class Mistyped: NSManagedObject {
    private static let titelProperty = ManagedProperty<String?>("titel")
    private static let rankProperty = ManagedProperty<Int64>("rank")
    private static let primitiveTitleProperty = ManagedProperty<String?>("primitiveTitle")
    var undefined: [String] = []

    var titel: String? {
        get { Self.titelProperty[self] }
        set { Self.titelProperty[self] = newValue }
    }
    var rank: Int64 {
        get { Self.rankProperty[self] }
        set { Self.rankProperty[self] = newValue }
    }
    var primitiveTitle: String? {
        get { Self.primitiveTitleProperty[self] }
        set { Self.primitiveTitleProperty[self] = newValue }
    }

    override class func registerKeyPaths() {
        super.registerKeyPaths()
        KeyPathRegistry.register(\Mistyped.titel, as: "titel")
        KeyPathRegistry.register(\Mistyped.rank, as: "rank")
        KeyPathRegistry.register(\Mistyped.primitiveTitle, as: "primitiveTitle")
    }

    override func value(forUndefinedKey key: String) -> Any? { "\(key) is undefined" }
    override func setValue(_ value: Any?, forUndefinedKey key: String) { undefined.append(key) }
}

private class Written: NSManagedObject {
    var title: String? { nil }
    var unnamed: String? { nil }

    override class func registerKeyPaths() {
        super.registerKeyPaths()
        func register<Object: Written>(_: Object.Type) {
            KeyPathRegistry.register(\Object.title, as: "title")
        }
        register(Self.self)
    }
}

private class WrittenChild: Written {
    var extra: String? { nil }

    override class func registerKeyPaths() {
        super.registerKeyPaths()
        func register<Object: WrittenChild>(_: Object.Type) {
            KeyPathRegistry.register(\Object.extra, as: "extra")
        }
        register(Self.self)
    }
}

private final class WrittenGrandchild: WrittenChild {}

private class Generated: NSManagedObject {
    var title: String? { nil }
    var parent: Generated? { nil }
    var owner: Written { Written(entity: entity, insertInto: nil) }
    var heir: WrittenGrandchild { WrittenGrandchild(entity: entity, insertInto: nil) }
}

private final class GeneratedChild: Generated {}

extension Generated: GeneratedManagedObject {
    static func registerGeneratedKeyPaths() {
        KeyPathRegistry.register(\Generated.title, as: "title")
        KeyPathRegistry.register(\Generated.parent?.title, as: "parent.title")
        KeyPathRegistry.register(\Generated.owner, as: "owner")
        KeyPathRegistry.register(\Generated.heir, as: "heir")
        KeyPathRegistry.register(\GeneratedChild.title, as: "title")
    }
}

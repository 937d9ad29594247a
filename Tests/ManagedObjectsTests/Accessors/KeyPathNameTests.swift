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

    @Test("A key path that is not registered has no name")
    func unknown() {
        #expect(KeyPathRegistry.name(of: \Written.unnamed) == nil)
        #expect(KeyPathRegistry.name(of: \String.count) == nil)
    }
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

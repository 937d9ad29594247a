import CoreData
import Testing

private class KeyPathSaga: NSManagedObject {
    #if canImport(Darwin)
        @NSManaged var title: String?
    #else
        var title: String? { value(forKey: "title") as? String }

        override class func registerKeyPaths() {
            super.registerKeyPaths()
            func register<Saga: KeyPathSaga>(_: Saga.Type) { KeyPathRegistry.register(\Saga.title, as: "title") }
            register(Self.self)
        }
    #endif
}

private final class KeyPathTrilogy: KeyPathSaga {}

/// The names of key paths, as other packages use them.
@Suite struct KeyPathNameTests {
    /// QueryKit takes the name of a key path from this property, in `KeyPath.swift`: https://github.com/QueryKit/QueryKit
    @Test func keyPathsHaveNames() {
        func name<Root, Value>(_ keyPath: KeyPath<Root, Value>) -> String? { (keyPath as AnyKeyPath)._kvcKeyPathString }
        #expect(name(\KeyPathSaga.title) == "title")
        #expect((\KeyPathSaga.title)._kvcKeyPathString == "title")
        #expect(name(\String.count) == nil)
    }

    /// PredicateKit writes the elements of an array so, and removes `.self` from the text, in `NSFetchRequestBuilder.swift`:
    /// https://github.com/ftchirou/PredicateKit
    @Test func keyPathsOfValuesThemselvesHaveNames() {
        #expect((\Double.self)._kvcKeyPathString == "self")
        #expect((\KeyPathSaga.self)._kvcKeyPathString == "self")
        #expect(NSSortDescriptor(keyPath: \String.self, ascending: false).key == "self")
        #expect(NSExpression(forKeyPath: \String.self).keyPath == "self")
        let sorted = (["b", "a"] as NSArray).sortedArray(using: [
            NSSortDescriptor(keyPath: \String.self, ascending: true)
        ])
        #expect(sorted as? [String] == ["a", "b"])
    }

    /// The key path of an inherited property, whose root is the subclass:
    /// https://developer.apple.com/documentation/foundation/nssortdescriptor/init(keypath:ascending:)
    @Test func keyPathsOfInheritedPropertiesHaveNames() {
        #expect((\KeyPathTrilogy.title)._kvcKeyPathString == "title")
        #expect(NSSortDescriptor(keyPath: \KeyPathTrilogy.title, ascending: true).key == "title")
        #expect(NSExpression(forKeyPath: \KeyPathTrilogy.title).keyPath == "title")
    }

    /// FFCoreData sorts by criteria of Swift: https://developer.apple.com/documentation/foundation/nssortdescriptor/init(_:)
    @Test func sortDescriptorsOfSwiftHaveKeys() {
        let descriptor = NSSortDescriptor(SortDescriptor(\KeyPathSaga.title, order: .reverse))
        #expect(descriptor.key == "title")
        #expect(!descriptor.ascending)
        #expect(NSSortDescriptor(SortDescriptor(\KeyPathSaga.title)).ascending)
    }
}

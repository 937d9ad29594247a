import Foundation

/// The names of key paths.
///
/// A key path knows no name here, so whoever declares a property says it: generated classes and the macro `@Managed`
/// do it for theirs, when ``NSManagedObject/registerKeyPaths()`` asks them. Then `NSSortDescriptor(keyPath:
/// \Note.title, ascending: true)` and `NSExpression(forKeyPath: \Note.title)` work.
public enum KeyPathRegistry {
    /// Says what a property is called in the model. Cost: one lock and one entry in a dictionary.
    public static func register<Root, Value>(_ keyPath: KeyPath<Root, Value>, as name: String) {
        if let managedObjectClass = Root.self as? NSManagedObject.Type {
            ManagedObjectClasses.shared.register(managedObjectClass)
        }
        names.register(keyPath, valueType: Value.self, as: name)
    }

    /// The name of a registered key path, or of one made of registered ones, such as `\Note.folder.title`; else nil.
    /// Cost: one look-up; for a path of several, one comparison for each way to build it.
    public static func name(of keyPath: AnyKeyPath) -> String? {
        if let name = names.name(of: keyPath) { return name }
        return registerKeyPaths(from: type(of: keyPath).rootType) ? names.name(of: keyPath) : nil
    }

    /// Asks a class for its key paths, and the classes that they lead to. False where it has been asked before, or is
    /// none.
    private static func registerKeyPaths(from root: Any.Type) -> Bool {
        var pending = [root]
        var isAnyNew = false
        while let next = pending.popLast() {
            guard let objectClass = next as? NSManagedObject.Type, !names.hasAsked(next) else { continue }
            objectClass.registerKeyPaths()
            names.setAsked(next)
            isAnyNew = true
            pending += names.valueTypes(from: next)
        }
        return isAnyNew
    }

    /// The name, or the end of the program with a sentence that says what to do.
    internal static func requiredName(of keyPath: AnyKeyPath) -> String {
        guard let name = name(of: keyPath) else {
            preconditionFailure(
                "The key path \(keyPath) has no name. Say it once with KeyPathRegistry.register(_:as:); generated classes"
                    + " do it for their own properties.")
        }
        return name
    }

    private static let names = KeyPathNames()
}

private final class KeyPathNames: @unchecked Sendable {  // because every access holds the lock
    private let lock = NSLock()
    private var names: [AnyKeyPath: String] = [:]
    /// The registered paths by the type they begin at, for paths that are made of several.
    private var paths: [ObjectIdentifier: [AnyKeyPath]] = [:]
    /// The classes that have been asked for their key paths.
    private var asked: Set<ObjectIdentifier> = []

    /// How many properties a path may be made of.
    private static let longestPath = 4

    func register(_ keyPath: AnyKeyPath, valueType: Any.Type, as name: String) {
        lock.withLock {
            guard names.updateValue(name, forKey: keyPath) == nil else { return }
            paths[ObjectIdentifier(type(of: keyPath).rootType), default: []].append(keyPath)
        }
    }

    func hasAsked(_ type: Any.Type) -> Bool { lock.withLock { asked.contains(ObjectIdentifier(type)) } }

    func setAsked(_ type: Any.Type) { _ = lock.withLock { asked.insert(ObjectIdentifier(type)) } }

    /// The types of the properties that are registered for a type.
    func valueTypes(from type: Any.Type) -> [Any.Type] {
        lock.withLock { (paths[ObjectIdentifier(type)] ?? []).map { Swift.type(of: $0).valueType } }
    }

    func name(of keyPath: AnyKeyPath) -> String? {
        lock.withLock {
            if let name = names[keyPath] { return name }
            var begun: [(path: AnyKeyPath, name: String)] =
                (paths[ObjectIdentifier(type(of: keyPath).rootType)] ?? []).compactMap { path in
                    names[path].map { (path, $0) }
                }
            for _ in 1..<Self.longestPath {
                var longer: [(path: AnyKeyPath, name: String)] = []
                for (path, name) in begun {
                    for next in paths[ObjectIdentifier(type(of: path).valueType)] ?? [] {
                        guard let joined = path.appending(path: next), let nextName = names[next] else { continue }
                        if joined == keyPath { return name + "." + nextName }
                        longer.append((joined, name + "." + nextName))
                    }
                }
                begun = longer
            }
            return nil
        }
    }
}

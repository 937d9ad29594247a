import Foundation

/// The names of key paths.
///
/// A key path has no name here, so the declaration of a property registers it: generated classes and the macro
/// `@Managed` do it in ``NSManagedObject/registerKeyPaths()``. Then `NSSortDescriptor(keyPath: \Note.title, ascending:
/// true)` and `NSExpression(forKeyPath: \Note.title)` work.
///
/// In Swift `\Letter.title`, the key path of a property that `Letter` inherits from `Note`, does not equal
/// `\Note.title`. A class registers both by way of a generic function, since `Self` is the subclass in a class method:
///
/// ```swift
/// override class func registerKeyPaths() {
///     super.registerKeyPaths()
///     func register<Object: Note>(_: Object.Type) {
///         KeyPathRegistry.register(\Object.title, as: "title")
///     }
///     register(Self.self)
/// }
/// ```
public enum KeyPathRegistry {
    /// Registers the name of a property in the model. Cost: one lock and one entry in a dictionary.
    public static func register<Root, Value>(_ keyPath: KeyPath<Root, Value>, as name: String) {
        setName(name, of: keyPath)
    }

    /// The same, for modules in which another `register` takes precedence.
    package static func setName<Root, Value>(_ name: String, of keyPath: KeyPath<Root, Value>) {
        names.register(keyPath, valueType: Value.self, as: name)
    }

    /// The name of a registered key path, or of one composed of registered ones, such as `\Note.folder.title`; `self` for
    /// the key path of a value itself, `\Note.self`; else nil. Cost: one look-up; for a composed path, one comparison for
    /// each possible composition.
    public static func name(of keyPath: AnyKeyPath) -> String? {
        if isIdentity(keyPath) { return "self" }
        if let name = names.name(of: keyPath) { return name }
        return registerKeyPaths(from: type(of: keyPath).rootType) ? names.name(of: keyPath) : nil
    }

    private static func isIdentity(_ keyPath: AnyKeyPath) -> Bool {
        let type = type(of: keyPath)
        func identity<Root>(_: Root.Type) -> AnyKeyPath { \Root.self }
        return type.rootType == type.valueType && keyPath == identity(type.rootType)
    }

    /// Registers the key paths of a class, and of the classes of their values. False if they are registered already,
    /// or the type does not register any.
    package static func registerKeyPaths(from root: Any.Type) -> Bool {
        var pending = [root]
        var isAnyNew = false
        while let next = pending.popLast() {
            guard let objectClass = next as? any KeyPathRegistering.Type, !names.hasAsked(next) else { continue }
            objectClass.registerKeyPaths()
            names.setAsked(next)
            isAnyNew = true
            pending += names.valueTypes(from: next)
        }
        return isAnyNew
    }

    /// The name of a key path. Stops the program with an explanation if it has none.
    package static func requiredName(of keyPath: AnyKeyPath) -> String {
        guard let name = name(of: keyPath) else {
            preconditionFailure(
                "The key path \(keyPath) has no name. Register it with KeyPathRegistry.register(_:as:); generated"
                    + " classes do this for their own properties.")
        }
        return name
    }

    private static let names = KeyPathNames()
}

/// A class that registers the names of its key paths when they are needed.
package protocol KeyPathRegistering {
    static func registerKeyPaths()
}

private final class KeyPathNames: @unchecked Sendable {  // because every access holds the lock
    private let lock = NSLock()
    private var names: [AnyKeyPath: String] = [:]
    /// The registered paths by their root type, for composed paths.
    private var paths: [ObjectIdentifier: [AnyKeyPath]] = [:]
    /// The classes whose key paths have been registered.
    private var asked: Set<ObjectIdentifier> = []

    /// The maximum number of properties in a path.
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

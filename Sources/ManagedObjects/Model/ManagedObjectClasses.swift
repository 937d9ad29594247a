import Foundation

/// Finds the classes of entities.
///
/// `NSClassFromString` finds a class of a Swift module only as `Module.Class`, and models often omit the module. So a
/// class is looked up by its name as it is, then among the registered classes, then in the module of the running
/// program.
internal final class ManagedObjectClasses: @unchecked Sendable {  // because every access holds the lock
    static let shared = ManagedObjectClasses()

    /// The result for an entity. A failed search is repeated after another class has been registered.
    struct Finding {
        let managedObjectClass: NSManagedObject.Type
        let isFinal: Bool
        let generation: Int
    }

    private let lock = NSLock()
    private var known: [String: NSManagedObject.Type] = [:]
    private var generation = 0

    /// Registers a class by its own name and by that with its module.
    func register(_ managedObjectClass: NSManagedObject.Type) {
        lock.withLock {
            let fullName = String(reflecting: managedObjectClass)
            guard known[fullName] == nil else { return }
            known[fullName] = managedObjectClass
            known[String(describing: managedObjectClass)] = managedObjectClass
            generation += 1
        }
    }

    /// The class of an entity's objects. Cost: one lock after it has been found.
    func managedObjectClass(of entity: NSEntityDescription) -> NSManagedObject.Type {
        finding(for: entity).managedObjectClass
    }

    /// The class of an entity's objects, and whether it is final.
    func finding(for entity: NSEntityDescription) -> Finding {
        lock.withLock {
            if let found = entity.foundManagedObjectClass, found.isFinal || found.generation == generation {
                return found
            }
            var finding = Finding(managedObjectClass: NSManagedObject.self, isFinal: true, generation: generation)
            if let name = entity.explicitClassName {
                let found = find(name)
                finding = Finding(
                    managedObjectClass: found ?? NSManagedObject.self, isFinal: found != nil, generation: generation)
            }
            entity.foundManagedObjectClass = finding
            return finding
        }
    }

    private func find(_ name: String) -> NSManagedObject.Type? {
        let bare = name.hasPrefix(".") ? String(name.dropFirst()) : name
        if bare.contains("."), let found = NSClassFromString(bare) as? NSManagedObject.Type { return found }
        if let found = known[bare] { return found }
        guard !bare.contains(".") else { return nil }
        return Self.programModules.lazy.compactMap { NSClassFromString("\($0).\(bare)") as? NSManagedObject.Type }.first
    }

    /// The possible names of the program's own module: an executable's is named like its product, that of tests like
    /// their package.
    private static let programModules: [String] = {
        let program = URL(fileURLWithPath: CommandLine.arguments.first ?? "").deletingPathExtension().lastPathComponent
        let module = String(program.map { $0.isLetter || $0.isNumber ? $0 : "_" })
        return module.isEmpty ? [] : [module]
    }()
}

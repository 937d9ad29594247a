import Foundation

/// Finds the classes of entities.
///
/// Swift finds a class by its name only as `Module.Class`, and models often omit the module. Such a name means the one class of
/// that name in the program. Where there are several, the one that has registered is used; else the model must name the module.
internal final class ManagedObjectClasses: @unchecked Sendable {  // because every access holds the lock
    static let shared = ManagedObjectClasses()

    /// The result for an entity. A failed search is repeated after another class has been registered.
    struct Finding {
        let managedObjectClass: NSManagedObject.Type
        let isFinal: Bool
        let generation: Int
    }

    private let lock = NSLock()
    /// The registered classes, by their names.
    private var known: [String: [NSManagedObject.Type]] = [:]
    /// The names for which a warning has been printed.
    private var warned: Set<String> = []
    private var generation = 0

    /// Registers a class by its own name and by that with its module.
    func register(_ managedObjectClass: NSManagedObject.Type) {
        lock.withLock {
            let name = String(describing: managedObjectClass)
            guard known[name]?.contains(where: { $0 == managedObjectClass }) != true else { return }
            for name in [name, String(reflecting: managedObjectClass)] {
                known[name, default: []].append(managedObjectClass)
            }
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
            var finding = Finding(
                managedObjectClass: entity.assignedClass ?? NSManagedObject.self, isFinal: true, generation: generation)
            if entity.assignedClass == nil, let name = entity.explicitClassName {
                let found = find(name, for: entity)
                finding = Finding(
                    managedObjectClass: found ?? NSManagedObject.self, isFinal: found != nil, generation: generation)
            }
            entity.foundManagedObjectClass = finding
            return finding
        }
    }

    private func find(_ name: String, for entity: NSEntityDescription) -> NSManagedObject.Type? {
        let name = name.hasPrefix(".") ? String(name.dropFirst()) : name
        // Foundation's function calls this one, after a million instructions of its own at the first call.
        if name.contains("."), let found = _typeByName(name) as? NSManagedObject.Type { return found }
        var found = ProgramClasses.named(name).compactMap { $0 as? NSManagedObject.Type }
        // Generic classes, and classes that the runtime has created, are known only where they have registered.
        if found.isEmpty || found.count > 1, let registered = known[name] { found = registered }
        if found.count == 1 { return found[0] }
        if found.count > 1, warned.insert(name).inserted {
            let names = found.map { String(reflecting: $0) }.sorted().joined(separator: ", ")
            FileHandle.standardError.write(
                Data(
                    """
                    CoreData: Several classes have the name “\(name)”: \(names). Objects of the entity \
                    “\(entity.name ?? "")” are of the class NSManagedObject until the model names a class with its \
                    module.

                    """.utf8))
        }
        return nil
    }
}

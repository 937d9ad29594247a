import Foundation

/// Finds the classes that entities name.
///
/// `NSClassFromString` knows a class of a Swift module by `Module.Class` only, and models often leave the module out. So
/// a class is looked for by its name as it stands, then among the classes that made themselves known, then in the module
/// of the running program.
internal final class ManagedObjectClasses: @unchecked Sendable {  // because every access holds the lock
    static let shared = ManagedObjectClasses()

    /// What was found for an entity. A miss is looked up again when another class has made itself known since.
    struct Finding {
        let managedObjectClass: NSManagedObject.Type
        let isFinal: Bool
        let generation: Int
    }

    private let lock = NSLock()
    private var known: [String: NSManagedObject.Type] = [:]
    private var generation = 0

    /// Makes a class known by its own name and by that with its module.
    func register(_ managedObjectClass: NSManagedObject.Type) {
        lock.withLock {
            let fullName = String(reflecting: managedObjectClass)
            guard known[fullName] == nil else { return }
            known[fullName] = managedObjectClass
            known[String(describing: managedObjectClass)] = managedObjectClass
            generation += 1
        }
    }

    /// The class of an entity's objects. Cost: one lock once it has been found.
    func managedObjectClass(of entity: NSEntityDescription) -> NSManagedObject.Type {
        finding(for: entity).managedObjectClass
    }

    /// The class of an entity's objects, and whether it will stay that.
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

    /// The modules that the program itself may be: an executable is named as its product, tests as their package.
    private static let programModules: [String] = {
        let program = URL(fileURLWithPath: CommandLine.arguments.first ?? "").deletingPathExtension().lastPathComponent
        let module = String(program.map { $0.isLetter || $0.isNumber ? $0 : "_" })
        return module.isEmpty ? [] : [module]
    }()
}

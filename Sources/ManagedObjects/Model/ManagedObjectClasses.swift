import Foundation
import FoundationAdditions
import Synchronization

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

extension NSEntityDescription {
    /// The class of the entity's objects: the one with the name ``managedObjectClassName``, else that of the
    /// superentity.
    package final var managedObjectClass: NSManagedObject.Type {
        ManagedObjectClasses.shared.managedObjectClass(of: self)
    }
}

extension NSManagedObjectContext {
    /// The model of the coordinator of the context, or of its topmost parent.
    internal final var modelIfAny: NSManagedObjectModel? {
        var context = self
        while let parent = context.parent { context = parent }
        return context.persistentStoreCoordinator?.managedObjectModel
    }
}

/// Finds the entity of a class, for `Note.entity()` and `Note(context:)`.
///
/// A model is added when it is assigned to a coordinator. Where several models have an entity of the same class, a
/// context uses its own model; without a context the model added last is used.
enum EntityClassRegistry {
    private struct Known: @unchecked Sendable {  // because the models in it are frozen
        weak var model: NSManagedObjectModel?
    }

    private static let models = Mutex<[Known]>([])

    static func add(_ model: NSManagedObjectModel) {
        models.withLock { models in
            models.removeAll { $0.model == nil || $0.model === model }
            models.append(Known(model: model))
        }
    }

    static func entity(of objectClass: NSManagedObject.Type) -> NSEntityDescription? {
        let known = models.withLock { $0 }
        return known.reversed().lazy.compactMap { $0.model.flatMap { entity(of: objectClass, in: $0) } }.first
    }

    static func entity(of objectClass: NSManagedObject.Type, in model: NSManagedObjectModel) -> NSEntityDescription? {
        if let entity = model.orderedEntities.first(where: { $0.managedObjectClass == objectClass }),
            objectClass != NSManagedObject.self
        {
            return entity
        }
        // The class was not registered, or its model names it without the module: registers it and compares names only.
        ManagedObjectClasses.shared.register(objectClass)
        let name = String(describing: objectClass)
        return model.orderedEntities.first { entity in
            entity.managedObjectClassName?.split(separator: ".").last.map(String.init) == name
        }
    }
}

// MARK: - Foundation's names of classes

// Foundation's functions and constants that Core Data code uses, and that Foundation lacks outside Apple's platforms.

/// The name of a class, with its module, such as `Notes.Note`. Foundation's function of this name stops the program for a class in
/// another type, and for a private one.
///
/// A class of managed objects is found by this name afterwards, also a private one.
public func NSStringFromClass(_ aClass: AnyClass) -> String {
    let name = String(reflecting: aClass)
    guard name.contains("(") || name.split(separator: ".").count > 2 else {
        return Foundation.NSStringFromClass(aClass)
    }
    if let managedObjectClass = aClass as? NSManagedObject.Type {
        ManagedObjectClasses.shared.register(managedObjectClass)
    }
    return name
}

// For `attributes[.protectionKey] as? FileProtectionType == .complete`.
extension FileProtectionType: @retroactive Equatable {}

/// The key of the resource value that excludes a file from backups.
public let kCFURLIsExcludedFromBackupKey = "NSURLIsExcludedFromBackupKey"

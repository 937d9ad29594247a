import Foundation

/// The superclass of the classes that register the key paths of `@NSManaged` properties.
///
/// The build plugin writes a subclass `ManagedKeyPaths_Note` for a class `Note`, in the same module. The engine finds it by its
/// name, because an extension cannot override ``NSManagedObject/registerKeyPaths()``, and can add a conformance only where no
/// superclass has it.
open class ManagedKeyPaths {
    /// Registers each property of the class in ``KeyPathRegistry``, with the class or a subclass as the root.
    open class func register(of type: NSManagedObject.Type) {}

    /// Registers the key paths of a class and of those that it inherits.
    static func registerAll(of managedObjectClass: NSManagedObject.Type) {
        var next: AnyClass? = managedObjectClass
        while let current = next, current != NSManagedObject.self {
            let parts = String(reflecting: current).split(separator: ".")
            if let module = parts.first,
                let found = NSClassFromString("\(module).ManagedKeyPaths_\(parts.dropFirst().joined(separator: "_"))")
                    as? ManagedKeyPaths.Type
            {
                found.register(of: managedObjectClass)
            }
            next = _getSuperclass(current)
        }
    }
}

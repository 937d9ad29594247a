/// A class whose properties were generated, in an extension, from a model.
///
/// A generated extension cannot override ``NSManagedObject/registerKeyPaths()``, because Swift does not allow overrides
/// in extensions. So the topmost class of a model conforms to this protocol, and registers the key paths of its
/// subclasses too.
public protocol GeneratedManagedObject: NSManagedObject {
    /// Registers every generated property of the class and of its subclasses in ``KeyPathRegistry``.
    static func registerGeneratedKeyPaths()
}

/// A class whose properties were generated, in an extension, from a model.
///
/// What is generated cannot override ``NSManagedObject/registerKeyPaths()``: Swift lets no extension do so. So the
/// uppermost class of a model conforms to this, and speaks for those below it.
public protocol GeneratedManagedObject: NSManagedObject {
    /// Calls ``KeyPathRegistry/register(_:as:)`` for every generated property of the class and of those below it.
    static func registerGeneratedKeyPaths()
}

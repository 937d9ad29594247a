import CoreData
import GraphDocuments

/// Writes and reads keyed archives of object graphs that contain managed objects: in the archive each of these is a
/// `ManagedObjectReference`.
///
///     let data = try ObjectArchiver.archivedData(["selection": notes, "scroll": 12])
///     let root = try ObjectArchiver.unarchive(data, in: context).root
public enum ObjectArchiver {
    /// The archive of an object graph.
    ///
    /// Throws `ReferenceError` for an object without a context and for values that cannot be archived, and the errors
    /// of obtaining permanent IDs. Cost: a statement for each unsaved object; `archivedReferences()` of a collection executes
    /// one statement for all of them.
    ///
    /// - Parameters:
    ///   - root: The object graph.
    ///   - requiringSecureCoding: Whether every other object must support secure coding.
    public static func archivedData(_ root: Any, requiringSecureCoding: Bool = true) throws -> Data {
        let archiver = NSKeyedArchiver(requiringSecureCoding: requiringSecureCoding)
        let replacing = ReplacingArchiver(requiringSecureCoding)
        archiver.delegate = replacing
        archiver.setClassName(ManagedObjectReference.archivedName, for: ManagedObjectReference.self)
        archiver.encode(root, forKey: NSKeyedArchiveRootObjectKey)
        archiver.finishEncoding()
        if let error = replacing.error { throw error }
        if let error = archiver.error {
            throw ReferenceError(.unwritable, "The objects cannot be archived: \(error.localizedDescription)")
        }
        return archiver.encodedData
    }
}

extension Collection where Element: NSManagedObject {
    /// References to the objects, in their order, as an archive, such as for user defaults or a file.
    ///
    ///     try notes.archivedReferences().write(to: url, options: .atomic)
    ///
    /// Throws as `ManagedObjectReference.references(to:)` does.
    public func archivedReferences() throws -> Data {
        let references = try ManagedObjectReference.references(to: map { $0 as NSManagedObject })
        return try ObjectArchiver.archivedData(references as NSArray)
    }
}

/// Replaces managed objects by references during archiving.
private final class ReplacingArchiver: NSObject, NSKeyedArchiverDelegate {
    private let requiresSecureCoding: Bool
    private(set) var error: (any Error)?

    init(_ requiresSecureCoding: Bool) { self.requiresSecureCoding = requiresSecureCoding }

    func archiver(_ archiver: NSKeyedArchiver, willEncode object: Any) -> Any? {
        if let object = object as? NSManagedObject {
            do {
                return try ManagedObjectReference(object)
            } catch {
                self.error = self.error ?? error
                return NSNull()
            }
        }
        // An archiver traps on unsupported objects: null replaces them, and the archive is discarded with an error.
        let fits = requiresSecureCoding ? isSecure(object) : object is any NSCoding || isValue(object)
        guard fits, hasName(object) else {
            error = error ?? ReferenceError(.unwritable, "A \(type(of: object)) cannot be archived.")
            return NSNull()
        }
        return object
    }

    private func isSecure(_ object: Any) -> Bool {
        guard let coding = object as? any NSSecureCoding else { return isValue(object) }
        return type(of: coding).supportsSecureCoding
    }

    /// Values that Foundation passes unboxed.
    private func isValue(_ object: Any) -> Bool { !(type(of: object) is AnyClass) }

    /// Whether an archive can contain the name of the object's class. Outside Apple's platforms private and nested
    /// classes have no name.
    private func hasName(_ object: Any) -> Bool {
        #if canImport(Darwin)
            return true
        #else
            return isValue(object) || String(reflecting: type(of: object)).split(separator: ".").count == 2
        #endif
    }

    func archiver(_ archiver: NSKeyedArchiver, didEncode object: Any?) {}
    #if canImport(Darwin)
        func archiver(_ archiver: NSKeyedArchiver, willReplace object: Any?, with newObject: Any?) {}
    #else
        func archiver(_ archiver: NSKeyedArchiver, willReplace object: Any?, withObject newObject: Any?) {}
    #endif
    func archiverWillFinish(_ archiver: NSKeyedArchiver) {}
    func archiverDidFinish(_ archiver: NSKeyedArchiver) {}
}

import CoreData
import KeyedArchives

extension ObjectArchiver {
    /// Reads an archive: references become managed objects of the context, and those that cannot be resolved are kept and listed
    /// with their reasons. Call it on the context's queue.
    ///
    /// Archives of an older convention, in which objects encode their URI under the key `URIRepresentation`, are also read,
    /// even if their class does not exist. Archives of references and plain values are read without instantiating any class,
    /// and any invalid bytes give an error. Other classes must be allowed; then Foundation's unarchiver reads the archive.
    ///
    /// Throws `ReferenceError` for data that are not an archive, and for classes that are not allowed.
    ///
    /// - Parameters:
    ///   - data: The archive.
    ///   - context: The context of the objects.
    ///   - allowedClasses: Classes that the archive may contain besides managed objects and plain values: strings, numbers,
    ///     dates, data, URLs, UUIDs, null, and arrays, dictionaries and sets of these.
    public static func unarchive(
        _ data: Data, in context: NSManagedObjectContext, allowedClasses: [AnyClass] = []
    ) throws -> (root: Any?, missing: [(reference: ManagedObjectReference, reason: ReferenceError)]) {
        let resolver = ArchivedReferenceResolver(context)
        do {
            let tree = try KeyedArchives.ReadableValue(archive: data)
            let others = ArchivedTree.otherClasses(in: tree)
            guard !others.isEmpty else {
                let root = try ArchivedTree(resolver).object(tree)
                return (root, resolver.missing)
            }
            if let name = others.subtracting(ArchivedTree.names(of: allowedClasses)).min() {
                throw ReferenceError(.unreadable, "The archive contains a \(name), which is not allowed.")
            }
            #if !canImport(Darwin)
                _ = try KeyedArchives.ReadableValue(archiveForUnarchiver: data)
            #endif
            let classes = allowedClasses + plainClasses
            let root = try unarchive(data, of: classes, oldClasses: ArchivedTree.oldClasses(in: tree), resolver)
            return (root, resolver.missing)
        } catch let error as ArchiveError {
            throw ReferenceError(.unreadable, "The archive cannot be read: \(error)")
        }
    }

    private static func unarchive(
        _ data: Data, of classes: [AnyClass], oldClasses: Set<String>, _ resolver: ArchivedReferenceResolver
    ) throws -> Any? {
        let unarchiver: NSKeyedUnarchiver
        do {
            unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        } catch {
            throw ReferenceError(.unreadable, "The archive cannot be read: \(error.localizedDescription)")
        }
        unarchiver.requiresSecureCoding = true
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        for name in oldClasses { unarchiver.setClass(OldReference.self, forClassName: name) }
        for name in ManagedObjectReference.archivedNames {
            unarchiver.setClass(ManagedObjectReference.self, forClassName: name)
        }
        let resolving = ResolvingUnarchiver(resolver)
        unarchiver.delegate = resolving
        defer { unarchiver.finishDecoding() }
        let classes = classes + [ManagedObjectReference.self, OldReference.self]
        let root = withExtendedLifetime(resolving) {
            unarchiver.decodeObject(of: classes, forKey: NSKeyedArchiveRootObjectKey)
        }
        if let error = unarchiver.error {
            throw ReferenceError(.unreadable, "The archive cannot be read: \(error.localizedDescription)")
        }
        return root
    }

    private static let plainClasses: [AnyClass] = [
        NSArray.self, NSDictionary.self, NSSet.self, NSOrderedSet.self, NSString.self, NSNumber.self, NSDate.self,
        NSData.self, NSURL.self, NSUUID.self, NSNull.self,
    ]
}

/// Resolves the references of an archive, each once.
final class ArchivedReferenceResolver {
    private let context: NSManagedObjectContext
    private var found: [ManagedObjectReference: NSManagedObject] = [:]
    private(set) var missing: [(reference: ManagedObjectReference, reason: ReferenceError)] = []

    init(_ context: NSManagedObjectContext) { self.context = context }

    /// The object, or the reference if it cannot be resolved.
    func resolve(_ reference: ManagedObjectReference) -> Any {
        if let object = found[reference] { return object }
        switch reference.resolve(in: context) {
        case .success(let object):
            found[reference] = object
            return object
        case .failure(let reason):
            missing.append((reference, reason))
            return reference
        }
    }
}

/// A placeholder for a managed object that encoded itself by its URI.
final class OldReference: NSObject, NSSecureCoding {
    static let key = "URIRepresentation"

    let reference: ManagedObjectReference?

    static var supportsSecureCoding: Bool { true }

    init?(coder: NSCoder) {
        guard coder.containsValue(forKey: OldReference.key) else { return nil }
        let url = coder.decodeObject(of: NSURL.self, forKey: OldReference.key)
        reference = url?.absoluteURL.flatMap { try? ManagedObjectReference(uri: $0) }
    }

    func encode(with coder: NSCoder) {}
}

/// Replaces references by managed objects during unarchiving.
private final class ResolvingUnarchiver: NSObject, NSKeyedUnarchiverDelegate {
    private let resolver: ArchivedReferenceResolver

    init(_ resolver: ArchivedReferenceResolver) { self.resolver = resolver }

    func unarchiver(_ unarchiver: NSKeyedUnarchiver, didDecode object: Any?) -> Any? {
        switch object {
        case let reference as ManagedObjectReference: resolver.resolve(reference)
        case let old as OldReference: old.reference.map(resolver.resolve) ?? NSNull()
        default: object
        }
    }

    func unarchiver(
        _ unarchiver: NSKeyedUnarchiver, cannotDecodeObjectOfClassName name: String, originalClasses: [String]
    ) -> AnyClass? { nil }
    func unarchiver(_ unarchiver: NSKeyedUnarchiver, willReplace object: Any, with newObject: Any) {}
    func unarchiverWillFinish(_ unarchiver: NSKeyedUnarchiver) {}
    func unarchiverDidFinish(_ unarchiver: NSKeyedUnarchiver) {}
}

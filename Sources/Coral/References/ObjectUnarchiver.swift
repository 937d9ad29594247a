import CoreData
import KeyedArchives

/// Reads archives that `ObjectArchiver` wrote: references become managed objects of a context.
///
///     let root = try ObjectUnarchiver(context: context).unarchive(data).root
///
/// Archives of the old recipe, in which an object of a class that encodes itself by its URI stands under the key
/// `URIRepresentation`, are read as well, whether the class exists or not. Archives of references and plain values
/// are read without instantiating any class that they name, and whatever the bytes, what is wrong is an error. Other
/// classes must be allowed; then Foundation's unarchiver reads the archive.
public struct ObjectUnarchiver {
    /// Where objects are looked for.
    public let context: NSManagedObjectContext
    /// Classes that an archive may hold beside managed objects and plain values: strings, numbers, dates, data, URLs,
    /// UUIDs, null, and arrays, dictionaries and sets of these.
    public var allowedClasses: [AnyClass]

    /// An unarchiver that finds objects in a context, and takes archives that hold the allowed classes besides.
    public init(context: NSManagedObjectContext, allowedClasses: [AnyClass] = []) {
        self.context = context
        self.allowedClasses = allowedClasses
    }

    /// What an archive held.
    public struct Result {
        /// The graph, with managed objects in the places of references. References that lead nowhere stay what they
        /// are.
        public let root: Any?
        /// The references that lead nowhere, and why.
        public let missing: [(reference: ManagedObjectReference, reason: MissingReason)]
    }

    /// Reads an archive. Call it where the context may be used.
    ///
    /// Throws `ReferenceError` for data that are no archive, and for classes that are not allowed.
    public func unarchive(_ data: Data) throws -> Result {
        let resolver = ArchivedReferenceResolver(context)
        do {
            let tree = try KeyedArchives.ReadableValue(archive: data)
            let classes = ArchivedTree.otherClasses(in: tree)
            guard !classes.isEmpty else {
                let root = try ArchivedTree(resolver).object(tree)
                return Result(root: root, missing: resolver.missing)
            }
            if let name = classes.subtracting(ArchivedTree.names(of: allowedClasses)).min() {
                throw ReferenceError(.unreadable, "The archive holds a \(name), which is not allowed.")
            }
            #if !canImport(Darwin)
                _ = try KeyedArchives.ReadableValue(archiveForUnarchiver: data)
            #endif
            let root = try unarchive(data, oldClasses: ArchivedTree.oldClasses(in: tree), resolver)
            return Result(root: root, missing: resolver.missing)
        } catch let error as ArchiveError {
            throw ReferenceError(.unreadable, "The archive cannot be read: \(error)")
        }
    }

    private func unarchive(
        _ data: Data, oldClasses: Set<String>, _ resolver: ArchivedReferenceResolver
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
        let classes = ObjectUnarchiver.plainClasses + allowedClasses + [ManagedObjectReference.self, OldReference.self]
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

/// Finds the objects that an archive's references lead to, each once.
final class ArchivedReferenceResolver {
    private let context: NSManagedObjectContext
    private var found: [ManagedObjectReference: NSManagedObject] = [:]
    private(set) var missing: [(reference: ManagedObjectReference, reason: MissingReason)] = []

    init(_ context: NSManagedObjectContext) { self.context = context }

    /// The object, or the reference where it leads nowhere.
    func resolve(_ reference: ManagedObjectReference) -> Any {
        if let object = found[reference] { return object }
        switch reference.resolve(in: context) {
        case .found(let object):
            found[reference] = object
            return object
        case .missing(let reason):
            missing.append((reference, reason))
            return reference
        }
    }
}

/// Stands for a managed object that encoded itself by its URI.
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

/// Swaps references for managed objects on their way out of an archive.
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

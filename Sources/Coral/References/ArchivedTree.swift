import CoreData
import KeyedArchives

/// Creates objects from an archive's tree of plain values and references. The tree's reader has limited its depth.
struct ArchivedTree {
    private let resolver: ArchivedReferenceResolver

    init(_ resolver: ArchivedReferenceResolver) { self.resolver = resolver }

    /// Throws `ReferenceError` for anything except plain values and references.
    func object(_ tree: KeyedArchives.ReadableValue) throws -> Any {
        switch tree {
        case .null: return NSNull()
        case .boolean(let value): return NSNumber(value: value)
        case .integer(let value): return NSNumber(value: value)
        case .unsignedInteger(let value): return NSNumber(value: value)
        case .real(let value): return NSNumber(value: value)
        case .decimal(let value): return NSDecimalNumber(decimal: value)
        case .string(let value): return value
        case .data(let value): return value
        case .date(let value): return value
        case .uuid(let value): return value
        case .url(let text):
            guard let url = URL(string: text) else {
                throw ReferenceError(.unreadable, "\"\(text)\" is not a valid URL.")
            }
            return url
        case .array(let members): return NSArray(array: try members.map(object))
        case .set(let members): return NSSet(array: try members.map(object))
        case .orderedSet(let members): return NSOrderedSet(array: try members.map(object))
        case .dictionary(let pairs):
            let result = NSMutableDictionary()
            for pair in pairs {
                guard let key = try object(pair.key) as? AnyHashable else {
                    throw ReferenceError(.unreadable, "The archive contains a dictionary with invalid keys.")
                }
                result[key] = try object(pair.value)
            }
            return result
        case .object(let classChain, let fields):
            guard let reference = ArchivedTree.reference(classChain, fields) else {
                throw ReferenceError(.unreadable, "The archive contains an unreadable \(classChain.first ?? "object").")
            }
            return resolver.resolve(reference)
        case .ancestor: throw ReferenceError(.unreadable, "The archive contains a collection that contains itself.")
        }
    }

    // MARK: - References

    /// The reference that an archived object represents, in the current form or that of the older convention.
    private static func reference(_ classChain: [String], _ fields: [KeyedArchives.ReadableValue.Field])
        -> ManagedObjectReference?
    {
        func value(_ name: String) -> KeyedArchives.ReadableValue? { fields.first { $0.name == name }?.value }
        if case .url(let text)? = value(OldReference.key) {
            return URL(string: text).flatMap { try? ManagedObjectReference(uri: $0) }
        }
        guard isReference(classChain), case .string(let entity)? = value("entity") else { return nil }
        var uri: URL?
        if case .url(let text)? = value("uri") { uri = URL(string: text) }
        var key: NaturalKey?
        if case .data(let json)? = value("key") { key = try? JSONDecoder().decode(NaturalKey.self, from: json) }
        return ManagedObjectReference(entityName: entity, uri: uri, naturalKey: key)
    }

    private static func isReference(_ classChain: [String]) -> Bool {
        classChain.first.map(ManagedObjectReference.archivedNames.contains) ?? false
    }

    // MARK: - Classes

    /// The names of some classes in archives, with and without their modules.
    static func names(of classes: [AnyClass]) -> Set<String> {
        var names = Set(classes.flatMap { [String(reflecting: $0), String(describing: $0)] })
        #if canImport(Darwin)
            // On Apple's platforms archives may contain another name of a class. On other platforms some classes have no name,
            // and the call would terminate the program.
            names.formUnion(classes.map { NSStringFromClass($0) })
        #endif
        return names
    }

    /// The classes in a tree that are neither plain values nor references.
    static func otherClasses(in tree: KeyedArchives.ReadableValue) -> Set<String> {
        var names: Set<String> = []
        forEachObject(in: tree) { chain, fields in
            if !isReference(chain), !isOld(fields), let name = chain.first { names.insert(name) }
        }
        return names
    }

    /// The classes that encoded themselves by the older convention.
    static func oldClasses(in tree: KeyedArchives.ReadableValue) -> Set<String> {
        var names: Set<String> = []
        forEachObject(in: tree) { chain, fields in
            if isOld(fields), let name = chain.first { names.insert(name) }
        }
        return names
    }

    private static func isOld(_ fields: [KeyedArchives.ReadableValue.Field]) -> Bool {
        fields.contains { $0.name == OldReference.key }
    }

    private static func forEachObject(
        in tree: KeyedArchives.ReadableValue, _ body: ([String], [KeyedArchives.ReadableValue.Field]) -> Void
    ) {
        var pending = [tree]
        while let value = pending.popLast() {
            switch value {
            case .array(let members), .set(let members), .orderedSet(let members): pending += members
            case .dictionary(let pairs): pending += pairs.flatMap { [$0.key, $0.value] }
            case .object(let classChain, let fields):
                body(classChain, fields)
                if !isReference(classChain), !isOld(fields) { pending += fields.map(\.value) }
            default: break
            }
        }
    }
}

extension ManagedObjectReference {
    /// The names of the class in archives: the portable one, and that of the runtime.
    static let archivedNames: Set<String> = ["CoralManagedObjectReference", "Coral.ManagedObjectReference"]

    /// The name in archives that this library writes.
    static let archivedName = "CoralManagedObjectReference"
}

import CoreData

// References and mutable values.
//
// A context tracks the values of transformable attributes that it returns and that can be changed in place
// (`InPlaceValues`), and compares their encodings: when changes are queried, at the end of an event, before a save.
// Apple's Core Data does not do this; there the toolkit's wrappers detect the changes.
//
// `ManagedObjectReference` consists of object URI, entity, natural key and store; resolving it returns the object or
// the reason of the failure. `Tracked` wraps a transformable attribute: in-place changes are detected and assigned
// back, and values saved by another context are merged or reported as a conflict.

/// A reference to a managed object that can be archived, sent and stored: its URI, its entity and, if the entity has
/// one, its natural key.
///
///     let reference = try ManagedObjectReference(note)
///     switch reference.resolve(in: context) {
///     case .found(let note): …
///     case .missing(let reason): …
///     }
///
/// The URI finds the object in its store and in every copied one; the natural key finds it after the data were
/// transferred in another way: imported into another store, or into one of the next model version.
#if canImport(Darwin)
    @objc(CoralManagedObjectReference)
#endif
public final class ManagedObjectReference: NSObject, NSSecureCoding, Codable, Sendable {
    /// The entity of the object.
    public let entityName: String
    /// The object's permanent URI; nil for a reference by natural key alone.
    public let uri: URL?
    /// The values of the natural key at the time when the reference was created.
    package let naturalKey: NaturalKey?

    /// The UUID of the object's store.
    public var storeIdentifier: String? { uri?.host }

    // MARK: - Creating

    /// Creates a reference to an object. An unsaved object gets its permanent ID first.
    ///
    /// Throws `ReferenceError` for an object without a context, and the errors of obtaining the ID. For many objects,
    /// `references(to:)` is faster.
    public convenience init(_ object: NSManagedObject) throws {
        guard let context = object.managedObjectContext else {
            throw ReferenceError(.noContext, "An object without a context cannot be referred to.")
        }
        if object.objectID.isTemporaryID { try context.obtainPermanentIDs(for: [object]) }
        self.init(
            entityName: object.entity.name ?? "", uri: object.objectID.uriRepresentation(),
            naturalKey: NaturalKey(object))
    }

    /// References to objects, in their order. Permanent IDs are obtained for all of them together.
    public static func references(to objects: some Collection<NSManagedObject>) throws -> [ManagedObjectReference] {
        let unsaved = objects.filter(\.objectID.isTemporaryID)
        for (_, group) in Dictionary(grouping: unsaved, by: { $0.managedObjectContext.map(ObjectIdentifier.init) }) {
            try group.first?.managedObjectContext?.obtainPermanentIDs(for: group)
        }
        return try objects.map(ManagedObjectReference.init)
    }

    /// Creates a reference from an object's URI, which older archives contain.
    ///
    /// Throws `ReferenceError` if the URI is not that of a managed object.
    package convenience init(uri: URL) throws {
        let path = uri.path.split(separator: "/")
        guard ManagedObjectReference.isObjectURI(uri), let entity = path.first else {
            throw ReferenceError(.wrongURI, "\(uri.absoluteString) is not the URI of a managed object.")
        }
        self.init(entityName: String(entity), uri: uri, naturalKey: nil)
    }

    /// Creates a reference from its parts.
    package init(entityName: String, uri: URL?, naturalKey: NaturalKey?) {
        self.entityName = entityName
        self.uri = uri
        self.naturalKey = naturalKey
    }

    /// Whether a URL has the form `x-coredata://STORE/Entity/p12`. On some systems a coordinator traps on other URLs.
    static func isObjectURI(_ url: URL) -> Bool {
        let path = url.path.split(separator: "/")
        guard url.scheme?.lowercased() == "x-coredata", path.count == 2, let letter = path[1].first else {
            return false
        }
        return path[1].count > 1 && (letter == "p" && url.host?.isEmpty == false || letter == "t")
    }

    // MARK: - Equality

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? ManagedObjectReference else { return false }
        return entityName == other.entityName && uri == other.uri && naturalKey == other.naturalKey
    }

    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(entityName)
        hasher.combine(uri)
        hasher.combine(naturalKey)
        return hasher.finalize()
    }

    public override var description: String {
        uri?.absoluteString ?? "\(entityName) \(naturalKey.map { "\($0.values)" } ?? "")"
    }

    // MARK: - Codable

    private enum CodingKeys: String, CodingKey {
        case entityName = "entity"
        case uri
        case naturalKey = "key"
    }

    public convenience init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            entityName: try values.decode(String.self, forKey: .entityName),
            uri: try values.decodeIfPresent(URL.self, forKey: .uri),
            naturalKey: try values.decodeIfPresent(NaturalKey.self, forKey: .naturalKey))
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(entityName, forKey: .entityName)
        try values.encodeIfPresent(uri, forKey: .uri)
        try values.encodeIfPresent(naturalKey, forKey: .naturalKey)
    }

    // MARK: - NSSecureCoding

    public static var supportsSecureCoding: Bool { true }

    public func encode(with coder: NSCoder) {
        coder.encode(entityName as NSString, forKey: CodingKeys.entityName.rawValue)
        if let uri { coder.encode(uri as NSURL, forKey: CodingKeys.uri.rawValue) }
        // Encoded as JSON, so that a key needs no further class in the archive.
        if let naturalKey, let data = try? JSONEncoder().encode(naturalKey) {
            coder.encode(data as NSData, forKey: CodingKeys.naturalKey.rawValue)
        }
    }

    /// Nil if the archive contains no reference.
    public convenience init?(coder: NSCoder) {
        // On some systems decoding a missing key fails the whole archive.
        func value<Value: NSObject & NSCoding>(_ type: Value.Type, _ key: CodingKeys) -> Value? {
            coder.containsValue(forKey: key.rawValue) ? coder.decodeObject(of: type, forKey: key.rawValue) : nil
        }
        guard let entity = value(NSString.self, .entityName) else { return nil }
        let uri = value(NSURL.self, .uri)
        let key = value(NSData.self, .naturalKey)
        self.init(
            entityName: "\(entity)", uri: uri?.absoluteURL,
            naturalKey: key.flatMap { try? JSONDecoder().decode(NaturalKey.self, from: Data(referencing: $0)) })
    }
}

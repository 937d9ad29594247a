import Coral
import CoreData
import GraphDocuments

/// A managed object inside a Codable value. It is written with the objects that belong to it; when the value is read,
/// it is inserted, or found and updated.
///
///     struct Parcel: Codable {
///         var sender: String
///         @Embedded var note: Note?
///         var others: [Embedded<Note>]
///     }
///     let data = try GraphEncoder().encode(parcel)
///     let same = try GraphDecoder(context).decode(Parcel.self, from: data)
///
/// With coders other than `GraphEncoder` and `GraphDecoder`, such as `JSONEncoder`, it is a reference, as `Referenced`
/// is.
@propertyWrapper
public struct Embedded<Object: NSManagedObject>: Codable {
    /// The object, or nil.
    public var wrappedValue: Object?

    /// Embeds an object.
    public init(wrappedValue: Object?) {
        self.wrappedValue = wrappedValue
    }

    /// An object, for use in collections.
    public init(_ object: Object?) {
        self.init(wrappedValue: object)
    }

    /// Throws `PlainObjectError` if the document does not have the object, or has one of another class.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard !container.decodeNil() else {
            self.init(wrappedValue: nil)
            return
        }
        guard let index = decoder.userInfo[.embeddedObjects] as? EmbeddedObjects else {
            self.init(wrappedValue: try Referenced<Object?>(from: decoder).wrappedValue)
            return
        }
        let id = RecordID(try container.decode(EmbeddedReference.self).id)
        guard let object = index.objects[id] as? Object else {
            throw PlainObjectError(
                .unknownReference, "The document has no \(Object.self) with the id \"\(id)\".",
                at: PlainPath(decoder.codingPath))
        }
        self.init(wrappedValue: object)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        guard let object = wrappedValue else { return try container.encodeNil() }
        if let index = encoder.userInfo[.embeddedObjects] as? EmbeddedObjects {
            try container.encode(EmbeddedReference(id: try index.id(of: object).text))
        } else {
            try container.encode(ManagedObjectReference(object))
        }
    }
}

extension KeyedDecodingContainer {
    /// An embedded object whose key may be missing: then it is nil.
    public func decode<Object>(_ type: Embedded<Object>.Type, forKey key: Key) throws -> Embedded<Object> {
        try decodeIfPresent(type, forKey: key) ?? Embedded(wrappedValue: nil)
    }
}

/// The encoded form of an embedded object: the id of its record.
private struct EmbeddedReference: Codable {
    var id: String

    private enum CodingKeys: String, CodingKey {
        case id = "object"
    }
}

/// The embedded objects of one document, and the ids of their records.
final class EmbeddedObjects {
    /// The embedded objects, in the order of first use.
    private(set) var roots: [NSManagedObject] = []
    private var names: RecordNames?
    private var met: Set<NSManagedObjectID> = []
    /// The imported objects of a document that is decoded.
    let objects: [RecordID: NSManagedObject]

    init(_ objects: [RecordID: NSManagedObject] = [:]) { self.objects = objects }

    /// The id of an object's record. Unsaved objects get their permanent IDs first.
    func id(of object: NSManagedObject) throws -> RecordID {
        guard let context = object.managedObjectContext else {
            throw ReferenceError(.noContext, "An object without a context cannot be embedded.")
        }
        if object.objectID.isTemporaryID { try context.obtainPermanentIDs(for: [object]) }
        // The exporter writes ids relative to the store of the first object; the names must agree with it.
        let names = names ?? RecordNames(store: object.objectID.persistentStore?.identifier)
        self.names = names
        if met.insert(object.objectID).inserted { roots.append(object) }
        return names.name(of: object.objectID)
    }
}

extension CodingUserInfoKey {
    /// The `EmbeddedObjects` of the document that is being written or read.
    static let embeddedObjects: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "coral.embeddedObjects") else {
            preconditionFailure("Every string is a valid key.")
        }
        return key
    }()
}

import CoreData
import Foundation

/// The identity of a model: its store, entity and row. Temporary until the model is saved.
///
/// Unlike the model it can be passed to any context, actor or process, and be encoded.
public struct PersistentIdentifier: Codable, Comparable, Hashable, Identifiable, Sendable {
    /// What identifies the model.
    public struct ID: Codable, Comparable, Hashable, Sendable {
        fileprivate let source: Source

        private enum CodingKeys: String, CodingKey { case uri, primaryKey }

        public init(from decoder: any Decoder) throws {
            let parts = try decoder.container(keyedBy: CodingKeys.self)
            source = .text(
                Text(
                    uri: try parts.decode(String.self, forKey: .uri),
                    primaryKey: try parts.decode(String.self, forKey: .primaryKey), entityName: "",
                    storeIdentifier: nil, objectID: nil))
        }

        fileprivate init(_ source: Source) { self.source = source }

        public func encode(to encoder: any Encoder) throws {
            var parts = encoder.container(keyedBy: CodingKeys.self)
            let (uri, primaryKey) = text
            try parts.encode(uri, forKey: .uri)
            try parts.encode(primaryKey, forKey: .primaryKey)
        }

        /// The URI of the row, and its last component.
        private var text: (whole: String, last: String) {
            switch source {
            case .object(let objectID): objectID.uriText
            case .text(let text): (text.uri, text.primaryKey)
            }
        }

        var uri: String { text.whole }
        var primaryKey: String { text.last }

        public static func == (lhs: ID, rhs: ID) -> Bool {
            if case .object(let one) = lhs.source, case .object(let other) = rhs.source {
                return one.isEqual(to: other)
            }
            return lhs.uri == rhs.uri
        }

        public func hash(into hasher: inout Hasher) {
            // The same for an object's ID and for its text.
            if case .object(let objectID) = source, let number = objectID.uriNumber { return hasher.combine(number) }
            let key = primaryKey
            guard let number = NSManagedObjectID.uriNumber(in: key) else { return hasher.combine(key) }
            hasher.combine(number)
        }

        public static func < (lhs: ID, rhs: ID) -> Bool { lhs.uri < rhs.uri }
    }

    /// Identifiers are made by the thousand, for the notifications of a save, and few of them are ever read as text.
    fileprivate enum Source: Sendable {
        /// The engine's ID of an object of this process.
        case object(NSManagedObjectID)
        case text(Text)
    }

    /// An identifier that was decoded, that a store of one's own has given, or of a model without a row.
    fileprivate final class Text: Sendable {
        let uri: String
        let primaryKey: String
        let entityName: String
        let storeIdentifier: String?
        let objectID: NSManagedObjectID?

        init(
            uri: String, primaryKey: String, entityName: String, storeIdentifier: String?, objectID: NSManagedObjectID?
        ) {
            (self.uri, self.primaryKey, self.entityName) = (uri, primaryKey, entityName)
            (self.storeIdentifier, self.objectID) = (storeIdentifier, objectID)
        }
    }

    private let source: Source

    public var id: ID { ID(source) }

    /// The name of the model's entity.
    public var entityName: String {
        switch source {
        case .object(let objectID): objectID.entity.name ?? ""
        case .text(let text): text.entityName
        }
    }

    /// The UUID of the store; nil while the identifier is temporary.
    public var storeIdentifier: String? {
        switch source {
        case .object(let objectID): objectID.isTemporaryID ? nil : objectID.storeUUID
        case .text(let text): text.storeIdentifier
        }
    }

    /// The engine's ID, if the identifier comes from an object of this process.
    var objectID: NSManagedObjectID? {
        switch source {
        case .object(let objectID): objectID
        case .text(let text): text.objectID
        }
    }

    var isTemporary: Bool { storeIdentifier == nil }

    init(_ objectID: NSManagedObjectID) {
        if CustomStore.isUsed.load(ordering: .relaxed), let store = objectID.persistentStore as? CustomStore {
            self = store.identifier(of: objectID)
            return
        }
        source = .object(objectID)
    }

    /// An identifier of a model that has no row yet.
    init(temporaryFor entityName: String) {
        let key = "t" + UUID().uuidString
        self.init(
            uri: "x-coredata:///\(entityName)/\(key)", primaryKey: key, entityName: entityName, storeIdentifier: nil)
    }

    /// The identifier of an object that a data store has not saved yet.
    init(temporary objectID: NSManagedObjectID) {
        let (uri, primaryKey) = objectID.uriText
        self.init(
            uri: uri, primaryKey: primaryKey, entityName: objectID.entity.name ?? "", storeIdentifier: nil,
            objectID: objectID)
    }

    private init(
        uri: String, primaryKey: String, entityName: String, storeIdentifier: String?,
        objectID: NSManagedObjectID? = nil
    ) {
        source = .text(
            Text(
                uri: uri, primaryKey: primaryKey, entityName: entityName, storeIdentifier: storeIdentifier,
                objectID: objectID))
    }

    /// The identifier, with the engine's ID of its object.
    func with(_ objectID: NSManagedObjectID) -> PersistentIdentifier {
        let (uri, primaryKey) = (id.uri, id.primaryKey)
        return PersistentIdentifier(
            uri: uri, primaryKey: primaryKey, entityName: entityName, storeIdentifier: storeIdentifier,
            objectID: objectID)
    }

    /// The identifier that a store of one's own gives a model.
    ///
    /// - Parameter primaryKey: What identifies the model among those of its entity.
    public static func identifier<T: Comparable & CustomStringConvertible & Codable & Hashable>(
        for storeIdentifier: String, entityName: String, primaryKey: T
    ) throws -> PersistentIdentifier {
        let key =
            primaryKey.description.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed)
            ?? primaryKey.description
        let host = storeIdentifier.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? storeIdentifier
        return PersistentIdentifier(
            uri: "x-coredata://\(host)/\(entityName)/\(key)", primaryKey: key, entityName: entityName,
            storeIdentifier: storeIdentifier)
    }

    public static func == (lhs: PersistentIdentifier, rhs: PersistentIdentifier) -> Bool { lhs.id == rhs.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }

    /// By store and entity, then by row.
    public static func < (lhs: PersistentIdentifier, rhs: PersistentIdentifier) -> Bool {
        let left = (lhs.storeIdentifier ?? "", lhs.entityName), right = (rhs.storeIdentifier ?? "", rhs.entityName)
        if left != right { return left < right }
        switch (number(lhs.id.primaryKey), number(rhs.id.primaryKey)) {
        case (let one?, let other?) where one != other: return one < other
        // Numbers come before texts, so that the order is one.
        case (.some, nil): return true
        case (nil, .some): return false
        default: return lhs.id < rhs.id
        }
    }

    /// The number in a key: "p12" of a row, "t3" of an unsaved object, "12" of a store of the program's own.
    private static func number(_ primaryKey: String) -> Int64? {
        Int64(primaryKey.hasPrefix("p") || primaryKey.hasPrefix("t") ? primaryKey.dropFirst() : primaryKey[...])
    }

    // MARK: - Coding

    // The form that Apple's framework writes: an object "implementation" with the parts and the URI.

    private enum CodingKeys: String, CodingKey { case implementation }
    private enum PartKeys: String, CodingKey {
        case entityName, isTemporary, primaryKey, storeIdentifier, uriRepresentation
    }

    public init(from decoder: any Decoder) throws {
        let parts = try decoder.container(keyedBy: CodingKeys.self)
            .nestedContainer(keyedBy: PartKeys.self, forKey: .implementation)
        self.init(
            uri: try parts.decode(URL.self, forKey: .uriRepresentation).absoluteString,
            primaryKey: try parts.decode(String.self, forKey: .primaryKey),
            entityName: try parts.decode(String.self, forKey: .entityName),
            storeIdentifier: try parts.decodeIfPresent(String.self, forKey: .storeIdentifier))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        var parts = container.nestedContainer(keyedBy: PartKeys.self, forKey: .implementation)
        try parts.encode(entityName, forKey: .entityName)
        try parts.encode(isTemporary, forKey: .isTemporary)
        try parts.encode(id.primaryKey, forKey: .primaryKey)
        try parts.encodeIfPresent(storeIdentifier, forKey: .storeIdentifier)
        try parts.encode(URL(string: id.uri), forKey: .uriRepresentation)
    }

    /// The engine's ID in the stores of a coordinator; nil for a temporary identifier of another process, or of a model that is not
    /// inserted.
    func managedObjectID(in coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectID? {
        if let objectID { return objectID }
        if CustomStore.isUsed.load(ordering: .relaxed) {
            for case let store as CustomStore in coordinator.persistentStores {
                if let found = store.objectID(of: self) { return found }
            }
        }
        return URL(string: id.uri).flatMap { coordinator.managedObjectID(forURIRepresentation: $0) }
    }
}

/// The parts have the names of Apple's: programs without other access to the engine's ID find it by reflection.
extension PersistentIdentifier: CustomReflectable {
    private struct Implementation {
        let primaryKey: String
        let uriRepresentation: URL?
        let isTemporary: Bool
        let storeIdentifier: String?
        let entityName: String
        let managedObjectID: NSManagedObjectID?
    }

    public var customMirror: Mirror {
        let implementation = Implementation(
            primaryKey: id.primaryKey, uriRepresentation: URL(string: id.uri), isTemporary: isTemporary,
            storeIdentifier: storeIdentifier, entityName: entityName, managedObjectID: objectID)
        return Mirror(self, children: ["implementation": implementation], displayStyle: .struct)
    }
}

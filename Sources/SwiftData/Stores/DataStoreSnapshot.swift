/// What a snapshot keeps for a property.
public typealias DataStoreSnapshotValue = Codable & Sendable

/// The values of one model at one time, which a ``DataStore`` reads and writes.
///
/// A snapshot encodes each value under the name of its property (``DataStoreSnapshotCodingKey``), a related model as its identifier. A
/// context reads snapshots in this form.
public protocol DataStoreSnapshot: Decodable, Encodable, Sendable {
    var persistentIdentifier: PersistentIdentifier { get }

    /// The values of a model.
    ///
    /// - Parameters:
    ///   - backingData: The values.
    ///   - relatedBackingDatas: Gets the values of the models that the model refers to.
    init(
        from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData])

    /// The same values for another identifier.
    ///
    /// - Parameter remappedIdentifiers: Permanent identifiers of related models, by temporary ones.
    func copy(
        persistentIdentifier: PersistentIdentifier, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]?
    ) -> Self
}

/// The key of a value in an encoded snapshot.
public enum DataStoreSnapshotCodingKey: CodingKey, Hashable {
    /// A property of the model.
    case modeledProperty(String)
    case persistentIdentifier

    private static let identifierName = "persistentIdentifier"

    public init?(stringValue: String) {
        self = stringValue == Self.identifierName ? .persistentIdentifier : .modeledProperty(stringValue)
    }

    /// Always nil: keys are names.
    public init?(intValue: Int) { nil }

    public var stringValue: String {
        switch self {
        case .modeledProperty(let name): name
        case .persistentIdentifier: Self.identifierName
        }
    }

    public var intValue: Int? { nil }
}

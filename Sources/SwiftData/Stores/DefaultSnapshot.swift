import Foundation
import ManagedObjects

/// A snapshot of any model. It can be decoded for the models of the containers that the program has opened.
public struct DefaultSnapshot: DataStoreSnapshot,
    @unchecked Sendable  // because the values of attributes are values, and are not changed
{
    public let persistentIdentifier: PersistentIdentifier
    /// The values of attributes, and identifiers of related models, by the names of properties; nil has no entry.
    private(set) var values: [String: any Codable]

    init(_ identifier: PersistentIdentifier, values: [String: any Codable]) {
        (persistentIdentifier, self.values) = (identifier, values)
    }

    public init(
        from backingData: any BackingData, relatedBackingDatas: inout [PersistentIdentifier: any BackingData]
    ) {
        guard let record = backingData._record else {
            // Backing data of another implementation does not reveal its values.
            self.init(backingData.persistentModelID ?? PersistentIdentifier(temporaryFor: ""), values: [:])
            return
        }
        var values: [String: any Codable] = [:]
        for property in record.modelClass.properties {
            guard let value = record.anyValue(of: property) else { continue }
            if property.isRelationship {
                let models = property.models(in: value)
                for model in models {
                    relatedBackingDatas[model.persistentModelID] = model.erasedBackingData
                }
                let identifiers = models.map(\.persistentModelID)
                values[property.name] = property.isToMany ? identifiers : identifiers.first
            } else if let value = unwrapped(value) {
                values[property.name] = property.snapshotValue(of: value)
            }
        }
        self.init(record.identifier, values: values)
    }

    public func copy(
        persistentIdentifier: PersistentIdentifier,
        remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]? = [:]
    ) -> DefaultSnapshot {
        let remapped = remappedIdentifiers ?? [:]
        let values = values.mapValues { value -> any Codable in
            switch value {
            case let one as PersistentIdentifier: remapped[one] ?? one
            case let several as [PersistentIdentifier]: several.map { remapped[$0] ?? $0 }
            default: value
            }
        }
        return DefaultSnapshot(persistentIdentifier, values: values)
    }

    /// Sets the values of a model to those of the snapshot.
    ///
    /// - Parameter related: Finds the model of an identifier.
    func write(
        to model: any PersistentModel, related: (PersistentIdentifier) throws -> any PersistentModel
    ) throws {
        guard let record = model._record, let object = record.object else { return }
        for property in record.modelClass.properties {
            let value = values[property.name]
            if property.isRelationship {
                let identifiers =
                    (value as? [PersistentIdentifier]) ?? (value as? PersistentIdentifier).map { [$0] } ?? []
                if let models = property.value(of: try identifiers.map(related)) {
                    property.setAny(models, in: object, of: record)
                }
            } else {
                try object.setAttribute(value.map { try property.storedValue(ofSnapshot: $0) }, of: property)
            }
        }
    }

    // MARK: - Coding

    /// Reads the values of the identifier's entity.
    ///
    /// - Throws: `DecodingError`, even where the data are valid: if no opened container has the entity.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        let identifier = try container.decode(PersistentIdentifier.self, forKey: .persistentIdentifier)
        guard let modelClass = ModelClass.current(named: identifier.entityName) else {
            throw DecodingError.dataCorruptedError(
                forKey: .persistentIdentifier, in: container,
                debugDescription: "No opened container has the entity \(identifier.entityName).")
        }
        var values: [String: any Codable] = [:]
        for property in modelClass.properties {
            let key = DataStoreSnapshotCodingKey.modeledProperty(property.name)
            if let type = property.snapshotType {
                func decode<Value: Codable>(_: Value.Type) throws -> (any Codable)? {
                    try container.decodeIfPresent(Value.self, forKey: key)
                }
                values[property.name] = try decode(type)
            }
        }
        self.init(identifier, values: values)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: DataStoreSnapshotCodingKey.self)
        try container.encode(persistentIdentifier, forKey: .persistentIdentifier)
        for (name, value) in values { try container.encode(value, forKey: .modeledProperty(name)) }
    }
}

extension ModelProperty {
    /// The type that a snapshot has for the property; nil if its values cannot be encoded.
    fileprivate var snapshotType: (any Codable.Type)? {
        if isToMany { return [PersistentIdentifier].self }
        if isRelationship { return PersistentIdentifier.self }
        if case .transformed = form { return Data.self }
        return unwrappedType(valueType) as? any Codable.Type
    }

    /// The value that a snapshot has for an attribute.
    fileprivate func snapshotValue(of value: Any) -> (any Codable)? {
        if case .transformed(let name)? = form {
            return ValueTransformer(forName: NSValueTransformerName(name))?.transformedValue(value) as? Data
        }
        return value as? any Codable
    }

    /// The value for key-value coding of an attribute in a snapshot.
    func storedValue(ofSnapshot value: any Codable) throws -> Any {
        if case .transformed(let name)? = form {
            return ValueTransformer(forName: NSValueTransformerName(name))?.reverseTransformedValue(value) ?? NSNull()
        }
        return try form?.stored(value, named: name) ?? value
    }
}

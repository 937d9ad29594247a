import Foundation
import PredicateLanguage

/// The hashes with which a store identifies the model that it was written with.
///
/// A model is compatible with a store when it has as many entities as the store has hashes, and all hashes are equal.
public struct VersionHash: Sendable {
    private let inheritance: ModelInheritance
    private let entityNames: [String]
    private var hashes: [String: Data] = [:]

    /// The version of the hash algorithm, which is part of a store's metadata.
    public static let version = 3

    /// Computes the hashes of all entities. Cost: one hash for each property; inherited properties are hashed for each entity.
    public init(_ model: Model) {
        inheritance = ModelInheritance(model)
        entityNames = Set(model.entities.map(\.name)).sorted(by: Self.isOrdered)
        for name in entityNames { _ = hash(name) }
    }

    /// The hash of each entity, by name: `NSStoreModelVersionHashes`.
    public var entityHashes: [String: Data] { hashes }

    /// `NSStoreModelVersionChecksumKey`, base64: one hash of all.
    public var checksum: String {
        var data = Data()
        for name in entityNames { data += hashes[name] ?? Data() }
        return SecureHash.sha256(data).base64EncodedString()
    }

    /// `NSStoreModelVersionHashesDigest`, base64: one hash of all names and hashes.
    public var digest: String { Self.digest(hashes) }

    /// `NSStoreModelVersionHashesDigest` of given hashes, such as those of a configuration's entities.
    public static func digest(_ hashes: [String: Data]) -> String {
        var data = Data()
        for name in hashes.keys.sorted(by: isOrdered) { data += Data(name.utf8) + (hashes[name] ?? Data()) }
        return SecureHash.sha512(data).base64EncodedString()
    }

    /// The order of `compare:`: by UTF-16 unit.
    private static func isOrdered(_ left: String, _ right: String) -> Bool {
        left.utf16.lexicographicallyPrecedes(right.utf16)
    }
}

// MARK: - Entities

extension VersionHash {
    /// The hash of an entity. It includes its parent's hash, so the hashes of the ancestors are computed first.
    private mutating func hash(_ name: String) -> Data? {
        let lineage = inheritance.lineage(of: name)
        for (depth, entity) in lineage.enumerated() where hashes[entity.name] == nil {
            hashes[entity.name] = Self.hash(entity, lineage: lineage[...depth], hashes: hashes)
        }
        return hashes[name]
    }

    private static func hash(
        _ entity: ModelEntity, lineage: ArraySlice<ModelEntity>, hashes: [String: Data]
    ) -> Data {
        var data = Data(entity.name.utf8)
        data.append(entity.isAbstract ? 1 : 0)
        if lineage.count > 1, let parent = entity.parentName { data += hashes[parent] ?? Data() }
        var properties: [String: Data] = [:]
        for owner in lineage {
            for attribute in owner.attributes where !attribute.isTransient {
                properties[attribute.name] = propertyHash(attribute)
            }
            for relationship in owner.relationships where !relationship.isTransient {
                properties[relationship.name] = propertyHash(relationship, owner: owner)
            }
        }
        for name in properties.keys.sorted(by: isOrdered) { data += properties[name] ?? Data() }
        data += Data((entity.versionHashModifier ?? "").utf8)
        for constraint in entity.uniquenessConstraints.map({ $0.joined(separator: ".") }).sorted(by: isOrdered) {
            data += Data(constraint.utf8)
        }
        return SecureHash.sha256(data)
    }
}

// MARK: - Properties

extension VersionHash {
    private static func baseHash(_ property: any ModelProperty) -> Data {
        let flags: UInt16 =
            (property.isOptional ? 1 : 0) | (property.isTransient ? 2 : 0) | (property.isReadOnly ? 4 : 0)
        var data = Data(property.name.utf8)
        data += littleEndian(flags)
        data += Data((property.versionHashModifier ?? "").utf8)
        return SecureHash.sha256(data)
    }

    /// The hash of an attribute. That of a derived attribute covers only its derivation, not its name and type.
    public static func propertyHash(_ attribute: ModelAttribute) -> Data {
        if let derivation = attribute.derivation {
            // Functions are printed as calls of their selectors, such as `count:(pages)`.
            let text = derivation.expression.predicateFormat + (derivation.filteringPredicate?.predicateFormat ?? "")
            return SecureHash.sha256(Data(text.utf8))
        }
        if attribute.type == .composite {
            let elements = attribute.leaves.filter { !$0.isTransient }.sorted { isOrdered($0.name, $1.name) }
            return SecureHash.sha256(elements.reduce(Data()) { $0 + propertyHash($1) })
        }
        var data = baseHash(attribute)
        data += littleEndian(Int32(attribute.type.rawValue))
        if attribute.allowsExternalBinaryDataStorage { data.append(1) }
        if attribute.preservesValueInHistoryOnDeletion { data.append(1) }
        return SecureHash.sha256(data)
    }

    /// The hash of a relationship of an entity.
    public static func propertyHash(_ relationship: ModelRelationship, owner: ModelEntity) -> Data {
        let isOwnInverse =
            relationship.inverseName == relationship.name && relationship.destinationName == owner.name
        var data = baseHash(relationship)
        data += Data((relationship.destinationName ?? "").utf8)
        if !isOwnInverse { data += Data((relationship.inverseName ?? "").utf8) }
        data += littleEndian(Int32(clamping: relationship.maximumCount))
        data += littleEndian(Int32(clamping: relationship.minimumCount))
        if relationship.isOrdered { data += littleEndian(UInt16(1)) }
        return SecureHash.sha256(data)
    }

    private static func littleEndian<Number: FixedWidthInteger>(_ number: Number) -> Data {
        withUnsafeBytes(of: number.littleEndian) { Data($0) }
    }
}

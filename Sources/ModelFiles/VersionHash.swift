import Foundation
import PredicateLanguage

/// The hashes with which a store identifies the model that it was written with.
///
/// A model is compatible with a store when it has as many entities as the store has hashes, and all hashes are equal.
public struct VersionHash: Sendable {
    private let inheritance: ModelInheritance
    private let entityNames: [String]
    private var hashes: [String: [UInt8]] = [:]

    /// The version of the hash algorithm, which is part of a store's metadata.
    public static let version = 3

    /// Computes the hashes of all entities. Cost: one hash for each property; inherited properties are hashed for each entity.
    public init(_ model: Model) {
        inheritance = ModelInheritance(model)
        entityNames = Set(model.entities.map(\.name)).sorted(by: Self.isOrdered)
        for name in entityNames { _ = hash(name) }
    }

    /// The hash of each entity, by name: `NSStoreModelVersionHashes`.
    public var entityHashes: [String: Data] { hashes.mapValues { Data($0) } }

    /// `NSStoreModelVersionChecksumKey`, base64: one hash of all.
    public var checksum: String {
        var bytes: [UInt8] = []
        for name in entityNames { bytes += hashes[name] ?? [] }
        return Data(SecureHash.sha256(bytes)).base64EncodedString()
    }

    /// `NSStoreModelVersionHashesDigest`, base64: one hash of all names and hashes.
    public var digest: String { Self.digest(entityHashes) }

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
    private mutating func hash(_ name: String) -> [UInt8]? {
        let lineage = inheritance.lineage(of: name)
        for (depth, entity) in lineage.enumerated() where hashes[entity.name] == nil {
            hashes[entity.name] = Self.hash(entity, lineage: lineage[...depth], hashes: hashes)
        }
        return hashes[name]
    }

    private static func hash(
        _ entity: ModelEntity, lineage: ArraySlice<ModelEntity>, hashes: [String: [UInt8]]
    ) -> [UInt8] {
        var bytes = Array(entity.name.utf8)
        bytes.append(entity.isAbstract ? 1 : 0)
        if lineage.count > 1, let parent = entity.parentName { bytes += hashes[parent] ?? [] }
        var properties: [String: [UInt8]] = [:]
        for owner in lineage {
            for attribute in owner.attributes where !attribute.isTransient {
                properties[attribute.name] = hash(attribute)
            }
            for relationship in owner.relationships where !relationship.isTransient {
                properties[relationship.name] = hash(relationship, owner: owner)
            }
        }
        for name in properties.keys.sorted(by: isOrdered) { bytes += properties[name] ?? [] }
        bytes += (entity.versionHashModifier ?? "").utf8
        if !entity.uniquenessConstraints.isEmpty {
            let constraints = entity.uniquenessConstraints.map { $0.count == 1 ? $0[0] : $0.joined(separator: ".") }
            for constraint in constraints.sorted(by: isOrdered) { bytes += constraint.utf8 }
        }
        return SecureHash.sha256(bytes)
    }
}

// MARK: - Properties

extension VersionHash {
    /// The hash of an attribute. That of a derived attribute covers only its derivation, not its name and type.
    public static func propertyHash(_ attribute: ModelAttribute) -> Data { Data(hash(attribute)) }

    /// The hash of a relationship of an entity.
    public static func propertyHash(_ relationship: ModelRelationship, owner: ModelEntity) -> Data {
        Data(hash(relationship, owner: owner))
    }

    private static func baseHash(_ property: any ModelProperty) -> [UInt8] {
        let flags: UInt16 =
            (property.isOptional ? 1 : 0) | (property.isTransient ? 2 : 0) | (property.isReadOnly ? 4 : 0)
        var bytes = Array(property.name.utf8)
        append(flags, to: &bytes)
        bytes += (property.versionHashModifier ?? "").utf8
        return SecureHash.sha256(bytes)
    }

    private static func hash(_ attribute: ModelAttribute) -> [UInt8] {
        if let derivation = attribute.derivation {
            // Functions are printed as calls of their selectors, such as `count:(pages)`.
            let text = derivation.expression.predicateFormat + (derivation.filteringPredicate?.predicateFormat ?? "")
            return SecureHash.sha256(Array(text.utf8))
        }
        if attribute.type == .composite {
            let elements = attribute.leaves.filter { !$0.isTransient }.sorted { isOrdered($0.name, $1.name) }
            return SecureHash.sha256(elements.reduce(into: []) { $0 += hash($1) })
        }
        var bytes = baseHash(attribute)
        append(Int32(attribute.type.rawValue), to: &bytes)
        if attribute.allowsExternalBinaryDataStorage { bytes.append(1) }
        if attribute.preservesValueInHistoryOnDeletion { bytes.append(1) }
        return SecureHash.sha256(bytes)
    }

    private static func hash(_ relationship: ModelRelationship, owner: ModelEntity) -> [UInt8] {
        let isOwnInverse =
            relationship.inverseName == relationship.name && relationship.destinationName == owner.name
        var bytes = baseHash(relationship)
        bytes += (relationship.destinationName ?? "").utf8
        if !isOwnInverse { bytes += (relationship.inverseName ?? "").utf8 }
        append(Int32(clamping: relationship.maximumCount), to: &bytes)
        append(Int32(clamping: relationship.minimumCount), to: &bytes)
        if relationship.isOrdered { append(UInt16(1), to: &bytes) }
        return SecureHash.sha256(bytes)
    }

    /// Appends a number in little-endian order.
    private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }
}

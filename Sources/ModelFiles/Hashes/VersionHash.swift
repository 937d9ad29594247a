import Foundation
import PredicateLanguage

/// The hashes with which a store identifies the model that it was written with.
///
/// A model is compatible with a store when it has as many entities as the store has hashes, and all hashes are equal.
public struct VersionHash: Sendable {
    private let inheritance: ModelInheritance
    private var hashes: [String: [UInt8]] = [:]
    /// The hashes of the properties of each entity, with inherited ones, by name in the order of the names.
    private var properties: [String: [(name: String, hash: [UInt8])]] = [:]

    /// The version of the hash algorithm, which is part of a store's metadata.
    public static let version = 3

    /// Computes the hashes of all entities. Cost: one hash for each entity and each property; that of an entity covers the hashes of
    /// its inherited properties too.
    public init(_ model: Model) { self.init(model, keepsProperties: false) }

    /// Works as ``init(_:)`` does.
    ///
    /// - Parameter keepsProperties: Whether the hashes of properties remain, for ``inherited(by:)``.
    init(_ model: Model, keepsProperties: Bool) {
        inheritance = ModelInheritance(model)
        for entity in inheritance.parentsFirst() { hash(entity) }
        if !keepsProperties { properties = [:] }
    }

    /// The hash of each entity, by name: `NSStoreModelVersionHashes`.
    public var entityHashes: [String: Data] { hashes.mapValues { Data($0) } }

    /// `NSStoreModelVersionChecksumKey`, base64: one hash of all.
    public var checksum: String { Self.checksum(entityHashes) }

    /// `NSStoreModelVersionChecksumKey`, base64, of given hashes.
    package static func checksum(_ hashes: [String: Data]) -> String {
        var bytes: [UInt8] = []
        for name in hashes.keys.sorted(by: isOrdered) { bytes += hashes[name] ?? Data() }
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
    static func isOrdered(_ left: String, _ right: String) -> Bool {
        var (first, second) = (left.utf8.makeIterator(), right.utf8.makeIterator())
        while true {
            let (one, other) = (first.next(), second.next())
            guard let other else { return false }
            guard let one else { return true }
            // The order of UTF-8 is another one from U+E000, the bytes of which begin with 0xEE.
            if one != other {
                return max(one, other) < 0xEE ? one < other : left.utf16.lexicographicallyPrecedes(right.utf16)
            }
        }
    }
}

// MARK: - Entities

extension VersionHash {
    /// Computes the hash of an entity. It includes its parent's hash, which is known.
    private mutating func hash(_ entity: ModelEntity) {
        // One entity of a cycle, and one whose parent is not in the model, has no parent here.
        let parent = entity.parentName.flatMap { hashes[$0] == nil ? nil : $0 }
        let all = Self.merged(parent.flatMap { properties[$0] } ?? [], Self.hashes(ofPropertiesOf: entity))
        properties[entity.name] = all
        hashes[entity.name] = Self.hash(entity, parent: parent.flatMap { hashes[$0] } ?? [], all)
    }

    /// What an entity's hash covers of its parent: the parent's hash, and the hashes of all inherited properties.
    func inherited(by name: String) -> (parent: [UInt8], properties: [(name: String, hash: [UInt8])]) {
        guard let parent = inheritance.entities[name]?.parentName else { return ([], []) }
        return (hashes[parent] ?? [], properties[parent] ?? [])
    }

    private static func hashes(ofPropertiesOf entity: ModelEntity) -> [(name: String, hash: [UInt8])] {
        var own: [String: [UInt8]] = [:]
        for attribute in entity.attributes where !attribute.isTransient { own[attribute.name] = hash(attribute) }
        for relationship in entity.relationships where !relationship.isTransient {
            own[relationship.name] = hash(relationship, owner: entity)
        }
        return own.map { (name: $0.key, hash: $0.value) }.sorted { isOrdered($0.name, $1.name) }
    }

    /// Both lists in the order of the names; of two properties with one name that of the second list.
    static func merged(
        _ inherited: [(name: String, hash: [UInt8])], _ own: [(name: String, hash: [UInt8])]
    ) -> [(name: String, hash: [UInt8])] {
        guard !own.isEmpty, !inherited.isEmpty else { return own.isEmpty ? inherited : own }
        var merged: [(name: String, hash: [UInt8])] = []
        merged.reserveCapacity(inherited.count + own.count)
        var rest = inherited[...]
        for property in own {
            let end = rest.firstIndex { !isOrdered($0.name, property.name) } ?? rest.endIndex
            merged += rest[..<end]
            rest = rest[end...]
            if rest.first?.name == property.name { rest = rest.dropFirst() }
            merged.append(property)
        }
        return merged + rest
    }

    static func hash(
        _ entity: ModelEntity, parent: [UInt8], _ properties: [(name: String, hash: [UInt8])]
    ) -> [UInt8] {
        var bytes = Array(entity.name.utf8)
        bytes.append(entity.isAbstract ? 1 : 0)
        bytes += parent
        for property in properties { bytes += property.hash }
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

    static func hash(_ attribute: ModelAttribute) -> [UInt8] {
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

    static func hash(_ relationship: ModelRelationship, owner: ModelEntity) -> [UInt8] {
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

/// Which of the known versions of a model a store has, or which one is nearest to it.
public struct StoreVersion: Sendable {
    /// A known version, compared with the hashes of the store.
    public struct Candidate: Sendable {
        /// The name of the version.
        public var name: String
        public var model: Model
        /// The checksum that staged migration identifies the version by.
        public var checksum: String
        /// The number of entities with the same hash as in the store.
        public var equalCount: Int
        /// The number of entities with another hash, or that only the version or only the store has.
        public var differentCount: Int

        /// Whether a store with the hashes opens with the version.
        public var isExact: Bool { differentCount == 0 }
    }

    /// The known versions, the nearest first.
    public let candidates: [Candidate]

    /// The version that the store has; nil if it is not known.
    public var exact: Candidate? { candidates.first.flatMap { $0.isExact ? $0 : nil } }

    /// Compares the known versions with the hashes of a store. Cost: the hashes of each version.
    public init(hashes: [String: Data], among versions: [ModelFile.Version]) {
        candidates = versions.map { version in
            let hash = VersionHash(version.model)
            let own = hash.entityHashes
            let names = Set(own.keys).union(hashes.keys)
            let equal = names.filter { own[$0] == hashes[$0] }.count
            return Candidate(
                name: version.name, model: version.model, checksum: hash.checksum, equalCount: equal,
                differentCount: names.count - equal)
        }.sorted { ($0.differentCount, $1.equalCount) < ($1.differentCount, $0.equalCount) }
    }
}

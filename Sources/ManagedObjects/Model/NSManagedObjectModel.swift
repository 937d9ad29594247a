import Foundation
import FoundationAdditions
import ModelFiles

/// The entities of a store, with their configurations and fetch requests.
///
/// A model can be changed until a coordinator uses it. After that a change is a programmer error and stops the program,
/// and any thread may read the model.
open class NSManagedObjectModel: NSObject, NSCopying, NSSecureCoding,
    @unchecked Sendable  // because it is frozen once a coordinator uses it, and freezing holds a lock
{
    private let freezing = NSRecursiveLock()

    /// Whether the model may still be changed: until a coordinator uses it.
    internal private(set) final var isEditable = true

    /// The entities in the order of `Z_ENT`: depth first, siblings by name without regard to case. Empty until frozen.
    package private(set) final var orderedEntities: [NSEntityDescription] = []

    /// The hashes of all entities, computed when the model is frozen.
    internal private(set) final var frozenVersionHashes: [String: Data]?

    /// The hashes of a model that may still be changed, until it is.
    private var knownVersionHashes: [String: Data]?

    private var frozenEntitiesByName: [String: NSEntityDescription]?
    private var configurationNames: [String: [String]] = [:]

    // MARK: - Creating a model

    /// Creates a model without entities.
    public override init() {}

    deinit {
        for entity in ownEntities { entity.madeLayout = nil }
    }

    // MARK: - Entities

    /// The entities. Setting an entity also adds its subentities and superentities; an entity belongs to one model.
    open var entities: [NSEntityDescription] {
        get { ownEntities }
        set {
            requireEditable()
            for entity in ownEntities { entity.managedObjectModelIfAny = nil }
            ownEntities = []
            for entity in newValue { adopt(entity) }
        }
    }

    private var ownEntities: [NSEntityDescription] = []

    /// Adds an entity and its hierarchy to the model.
    internal final func adopt(_ entity: NSEntityDescription) {
        requireEditable()
        var pending = [entity]
        while let entity = pending.popLast() {
            if entity.managedObjectModelIfAny === self { continue }
            precondition(
                entity.managedObjectModelIfAny == nil,
                "The entity “\(entity.name ?? "")” belongs to another model. Use a copy of it.")
            entity.managedObjectModelIfAny = self
            ownEntities.append(entity)
            pending.append(contentsOf: entity.subentities.reversed())
            if let superentity = entity.superentity { pending.append(superentity) }
        }
    }

    /// The entities by name. Computed on each access until the model is frozen.
    open var entitiesByName: [String: NSEntityDescription] {
        frozenEntitiesByName ?? Dictionary(entities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { $1 })
    }

    // MARK: - Configurations

    /// The names of the configurations, sorted. The default configuration, which contains all entities, has no name.
    open var configurations: [String] { configurationNames.keys.sorted() }

    /// The entities of a configuration, or all if the name is nil; nil if the configuration does not exist.
    open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
        guard let configuration, configuration != Self.defaultConfigurationName else { return entities }
        guard let names = configurationNames[configuration] else { return nil }
        let all = entitiesByName
        return names.compactMap { all[$0] }
    }

    /// Groups entities under a name. An entity that the model does not have is a programmer error.
    open func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
        requireEditable()
        for entity in entities {
            precondition(
                entity.managedObjectModelIfAny === self,
                "The configuration “\(configuration)” cannot contain “\(entity.name ?? "")”, which is not in the model."
            )
        }
        configurationNames[configuration] = entities.compactMap(\.name)
    }

    /// The name of the default configuration in Core Data.
    internal static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

    // MARK: - Fetch requests

    /// The model's fetch requests, by name.
    open private(set) var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]

    /// The fetch request with a name, or nil. It belongs to the model: change a copy.
    open func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
        fetchRequestTemplatesByName[name]
    }

    /// Sets the fetch request of a name; nil removes it.
    open func setFetchRequestTemplate(
        _ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String
    ) {
        requireEditable()
        fetchRequestTemplatesByName[name] = fetchRequestTemplate
    }

    /// A copy of the fetch request with a name, its variables replaced; nil if it does not exist.
    ///
    /// Variables without a value are kept.
    open func fetchRequestFromTemplate(
        withName name: String, substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        guard let copy = fetchRequestTemplatesByName[name]?.copy() as? NSFetchRequest<any NSFetchRequestResult>
        else { return nil }
        copy.predicate = copy.predicate?.withSubstitutionVariables(variables)
        return copy
    }

    // MARK: - Versions

    /// The developer's own names of this version, usually strings. Part of a store's metadata, but of no hash.
    open var versionIdentifiers: Set<AnyHashable> = [] { willSet { requireEditable() } }

    /// Localised names of entities, properties and errors.
    open var localizationDictionary: [String: String]? { willSet { requireEditable() } }

    /// The version hash of each entity by name. Cost: one SHA-256 for each property, the first time after a change of the model.
    open var entityVersionHashesByName: [String: Data] {
        cachedVersionHashes ?? ModelValueWriter().versionHashes(of: self)
    }

    /// The version hash of each entity by name, computed the first time after a change of the model; nil if it has composite attributes
    /// and is not in use: their elements have no entity, and so no model that a change of them could inform.
    internal final var cachedVersionHashes: [String: Data]? {
        if let frozenVersionHashes { return frozenVersionHashes }
        return freezing.withLock {
            if let knownVersionHashes { return knownVersionHashes }
            if ownEntities.contains(where: { $0.properties.contains { $0 is NSCompositeAttributeDescription } }) {
                return nil
            }
            knownVersionHashes = ModelValueWriter().versionHashes(of: self)
            return knownVersionHashes
        }
    }

    /// Called before a part of the model changes.
    internal final func noteChange() { freezing.withLock { knownVersionHashes = nil } }

    /// The checksum of all entities, base64: `NSStoreModelVersionChecksumKey` of a store's metadata.
    open var versionChecksum: String { VersionHash.checksum(entityVersionHashesByName) }

    /// Whether a store was written with the entities of a configuration, or of the whole model if the name is nil.
    ///
    /// True when the store's metadata has as many version hashes as there are entities, and all of them are equal.
    open func isConfiguration(
        withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
    ) -> Bool {
        isCompatible(configuration, with: metadata)
    }

    /// The checksum of each version in a `.momd`, by the version's name.
    ///
    /// - Throws: `CocoaError` if the folder does not exist or contains no readable model.
    open class func checksumsForVersionedModel(at modelURL: URL) throws -> [String: String] {
        try ModelBundles.checksums(ofVersionedModelAt: modelURL)
    }

    // MARK: - Merged models

    /// The merged model of all models in bundles; nil means the main bundle.
    ///
    /// Searched are `.momd` and `.mom` at a bundle's top level, and in the resource bundles that the package manager
    /// creates beside a program; and source models that are not there in compiled form. Outside Apple's platforms
    /// `Bundle(for:)` is the program's bundle for every class of the program. Files that cannot be read are skipped. Nil
    /// if two models have different entities with the same name.
    open class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
        NSManagedObjectModel(byMerging: ModelBundles.models(in: bundles, everyVersion: false))
    }

    /// The model of the entities with which a store was written, from all versions of all models in bundles; nil if
    /// they do not have all of them. Cost: one version is read if it has all entities and the bundle states the hashes of its
    /// versions, otherwise all versions.
    open class func mergedModel(
        from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
    ) -> NSManagedObjectModel? {
        if let version = ModelBundles.version(in: bundles, metadata: metadata) { return version }
        let models = ModelBundles.models(in: bundles, everyVersion: true)
        return NSManagedObjectModel(byMerging: models, forStoreMetadata: metadata)
    }

    // MARK: - Freezing

    /// Makes the model immutable: called by a coordinator before it uses the model. Safe on any thread, any number of
    /// times. Cost of the first call: one SHA-256 and one layout for each entity.
    package final func freeze() {
        freezing.withLock {
            guard isEditable else { return }
            orderedEntities = Self.order(ownEntities)
            for (index, entity) in orderedEntities.enumerated() {
                entity.index = index
                let root = entity.rootEntity
                entity.rootIndex = root.index  // known, because a root comes before its descendants
                entity.rootNameHash = root.name.hashValue
                entity.subtree = index..<(index + 1)
                // The ancestors precede the entity: their ranges grow to include it.
                for ancestor in entity.lineage { ancestor.subtree = ancestor.subtree.lowerBound..<(index + 1) }
            }
            frozenVersionHashes = entityVersionHashesByName
            frozenEntitiesByName = entitiesByName
            for entity in orderedEntities { entity.keepNames() }
            isEditable = false
            let inverselessRelationships = InverselessRelationships(in: self)
            for entity in orderedEntities where entity.madeLayout == nil {
                entity.madeLayout = EntityLayout(entity: entity, inverselessRelationships: inverselessRelationships)
            }
        }
    }

    /// Depth first, siblings by name without regard to case.
    private static func order(_ entities: [NSEntityDescription]) -> [NSEntityDescription] {
        func sorted(_ siblings: [NSEntityDescription]) -> [NSEntityDescription] {
            let named = siblings.map { (entity: $0, folded: ($0.name ?? "").lowercased(), name: $0.name ?? "") }
            return named.sorted { ($0.folded, $0.name) < ($1.folded, $1.name) }.map(\.entity)
        }
        var ordered: [NSEntityDescription] = []
        var pending = Array(sorted(entities.filter { $0.superentity == nil }).reversed())
        while let entity = pending.popLast() {
            ordered.append(entity)
            pending.append(contentsOf: sorted(entity.subentities).reversed())
        }
        return ordered
    }

    private func requireEditable() {
        noteChange()
        precondition(isEditable, "The model cannot be changed: a coordinator uses it. Change a copy instead.")
    }

    // MARK: - Copying

    /// A mutable copy of the model and its contents.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = CopyingCoder.blank { type(of: self).init(coder: $0) }
        copy.assign(from: self)
        return copy
    }

    private func assign(from original: NSManagedObjectModel) {
        let copies = ModelCopy(of: original.ownEntities)
        entities = copies.entities
        configurationNames = original.configurationNames
        versionIdentifiers = original.versionIdentifiers
        localizationDictionary = original.localizationDictionary
        for (name, request) in original.fetchRequestTemplatesByName {
            fetchRequestTemplatesByName[name] = request.copy() as? NSFetchRequest<any NSFetchRequestResult>
        }
    }

    // MARK: - Equality

    /// Two models are equal when their contents are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectModel else { return false }
        return self === other || ModelValueWriter().stateTheSame(self, other)
    }

    open override var hash: Int { Set(entities.compactMap(\.name)).hashValue }

    open override var description: String {
        "(<\(type(of: self))>) isEditable \(isEditable), entities \(entitiesByName.keys.sorted()), "
            + "fetch request templates \(fetchRequestTemplatesByName.keys.sorted())"
    }

    // MARK: - Coding

    public static var supportsSecureCoding: Bool { true }

    /// Reads a model written by ``encode(with:)``; nil if the archive contains none.
    public required convenience init?(coder: NSCoder) {
        guard !(coder is CopyingCoder) else {
            self.init()
            return
        }
        guard let data = coder.decodeObject(of: NSData.self, forKey: ModelCoding.compiledModelKey) else { return nil }
        do {
            try self.init(value: ModelArchive.read(Data(referencing: data)))
        } catch {
            coder.failWithError(error)
            return nil
        }
    }

    /// Encodes the model's compiled form.
    open func encode(with coder: NSCoder) {
        do {
            coder.encode(NSData(data: try ModelArchive.write(modelValue())), forKey: ModelCoding.compiledModelKey)
        } catch {
            coder.failWithError(error)
        }
    }
}

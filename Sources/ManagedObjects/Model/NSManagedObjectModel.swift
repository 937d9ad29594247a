import Foundation
import ModelFiles

/// The entities of a store, with the configurations and fetch requests that belong to them.
///
/// A model can be changed until a coordinator uses it; from then on a change is a programmer error and stops the program,
/// and the model may be read from any thread.
open class NSManagedObjectModel: NSObject, NSCopying, NSSecureCoding,
    @unchecked Sendable  // because it is frozen once a coordinator uses it, and freezing holds a lock
{
    private let freezing = NSRecursiveLock()

    /// Whether the model may still be changed: until a coordinator uses it.
    internal private(set) final var isEditable = true

    /// The entities in the order of `Z_ENT`: depth first, siblings by name without regard to case. Empty until frozen.
    internal private(set) final var orderedEntities: [NSEntityDescription] = []

    /// The hashes of all entities, computed when the model is frozen.
    internal private(set) final var frozenVersionHashes: [String: Data]?

    private var frozenEntitiesByName: [String: NSEntityDescription]?
    private var configurationNames: [String: [String]] = [:]

    // MARK: - Making a model

    /// A model without entities.
    public override init() {}

    deinit {
        for entity in ownEntities { entity.madeLayout = nil }
    }

    // MARK: - Entities

    /// The entities. Setting an entity brings its subentities and superentities along; an entity belongs to one model.
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

    /// Takes an entity and its relatives into the model.
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

    /// The entities by name. Made anew on each call as long as the model can be changed.
    open var entitiesByName: [String: NSEntityDescription] {
        frozenEntitiesByName ?? Dictionary(entities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { $1 })
    }

    // MARK: - Configurations

    /// The names of the configurations, sorted. The default one, which holds all entities, has no name.
    open var configurations: [String] { configurationNames.keys.sorted() }

    /// The entities of a configuration, or all where the name is nil; nil where there is no configuration of the name.
    open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
        guard let configuration, configuration != Self.defaultConfigurationName else { return entities }
        guard let names = configurationNames[configuration] else { return nil }
        let all = entitiesByName
        return names.compactMap { all[$0] }
    }

    /// Groups entities under a name. It is a programmer error to name an entity that the model does not have.
    open func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
        requireEditable()
        for entity in entities {
            precondition(
                entity.managedObjectModelIfAny === self,
                "The configuration “\(configuration)” cannot hold “\(entity.name ?? "")”: the model has no such entity."
            )
        }
        configurationNames[configuration] = entities.compactMap(\.name)
    }

    /// What Core Data calls the configuration that has no name.
    internal static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

    // MARK: - Fetch requests

    /// The fetch requests kept with the model, by name.
    open private(set) var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]

    /// The fetch request of a name, or nil. It is the model's own: change a copy.
    open func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
        fetchRequestTemplatesByName[name]
    }

    /// Keeps a fetch request under a name; nil takes it away.
    open func setFetchRequestTemplate(
        _ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String
    ) {
        requireEditable()
        fetchRequestTemplatesByName[name] = fetchRequestTemplate
    }

    /// A copy of the fetch request of a name, its variables replaced; nil where there is no such request.
    ///
    /// Variables without a value stay variables.
    open func fetchRequestFromTemplate(
        withName name: String, substitutionVariables variables: [String: Any]
    ) -> NSFetchRequest<any NSFetchRequestResult>? {
        guard let copy = fetchRequestTemplatesByName[name]?.copy() as? NSFetchRequest<any NSFetchRequestResult>
        else { return nil }
        copy.predicate = copy.predicate?.withSubstitutionVariables(variables)
        return copy
    }

    // MARK: - Versions

    /// The developer's own names of this version, strings as a rule. They enter a store's metadata and no hash.
    open var versionIdentifiers: Set<AnyHashable> = [] { willSet { requireEditable() } }

    /// Localised names of entities, properties and errors.
    open var localizationDictionary: [String: String]? { willSet { requireEditable() } }

    /// The version hash of each entity by name. Cost: one SHA-256 for each property; in a frozen model nothing.
    open var entityVersionHashesByName: [String: Data] {
        frozenVersionHashes ?? ModelValueWriter().versionHashes(of: self)
    }

    // MARK: - Freezing

    /// Makes the model unchangeable: called by a coordinator before it uses the model. Safe on any thread, any number of
    /// times. Cost, the first time: one SHA-256 and one layout for each entity.
    internal final func freeze() {
        freezing.withLock {
            guard isEditable else { return }
            orderedEntities = Self.order(ownEntities)
            for (index, entity) in orderedEntities.enumerated() {
                entity.index = index
                entity.subtree = index..<(index + 1)
                // Ancestors came before: each grows to hold this one.
                for ancestor in entity.lineage { ancestor.subtree = ancestor.subtree.lowerBound..<(index + 1) }
            }
            frozenVersionHashes = entityVersionHashesByName
            frozenEntitiesByName = entitiesByName
            for entity in orderedEntities { entity.keepNames() }
            isEditable = false
            let oneWayToManys = OneWayToManys(in: self)
            for entity in orderedEntities where entity.madeLayout == nil {
                entity.madeLayout = EntityLayout(entity: entity, oneWayToManys: oneWayToManys)
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
        precondition(isEditable, "The model cannot be changed: a coordinator uses it. Change a copy instead.")
    }

    // MARK: - Copying

    /// A copy of the model and all that it holds, which can be changed.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = type(of: self).init(copying: self)
        return copy
    }

    /// A copy of the original; subclasses that add state override it.
    public required init(copying original: NSManagedObjectModel) {
        super.init()
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

    /// Two models are equal when they state the same.
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

    /// Reads a model that ``encode(with:)`` wrote; nil where the archive holds none.
    public required convenience init?(coder: NSCoder) {
        guard let data = coder.decodeObject(of: NSData.self, forKey: ModelCoding.compiledModelKey) else { return nil }
        do {
            try self.init(value: ModelArchive.read(Data(referencing: data)))
        } catch {
            coder.failWithError(error)
            return nil
        }
    }

    /// Writes the model's compiled form into the archive.
    open func encode(with coder: NSCoder) {
        do {
            coder.encode(NSData(data: try ModelArchive.write(modelValue())), forKey: ModelCoding.compiledModelKey)
        } catch {
            coder.failWithError(error)
        }
    }
}

import Foundation

/// A kind of object: its name, its class, and its properties.
///
/// A description can be changed until a coordinator uses its model; a change after that is a programmer error and stops
/// the program.
open class NSEntityDescription: NSObject, NSCopying, NSSecureCoding,
    @unchecked Sendable  // because it is frozen once a coordinator uses its model, and caches nothing before
{
    /// The entity's name; not empty, and unique in its model.
    open var name: String? { willSet { requireEditable() } }

    /// Whether only subentities have objects.
    open var isAbstract: Bool = false { willSet { requireEditable() } }

    /// The developer's own remarks.
    open var userInfo: [AnyHashable: Any]? = [:] { willSet { requireEditable() } }

    /// Any text; a change of it changes the entity's version hash.
    open var versionHashModifier: String? { willSet { requireEditable() } }

    /// Lists of properties, by name or description, whose values together are unique among the entity's objects.
    open var uniquenessConstraints: [[Any]] = [] { willSet { requireEditable() } }

    /// Indexes over several properties, by name or description: the form before fetch indexes.
    open var compoundIndexes: [[Any]] = [] { willSet { requireEditable() } }

    /// The indexes of the entity's rows.
    open var indexes: [NSFetchIndexDescription] = [] {
        willSet { requireEditable() }
        didSet { for index in indexes { index.entity = self } }
    }

    // MARK: - The model

    /// The model. It is a programmer error to ask an entity that belongs to none.
    open var managedObjectModel: NSManagedObjectModel {
        guard let managedObjectModelIfAny else {
            preconditionFailure("The entity “\(name ?? "")” belongs to no model, or its model is gone.")
        }
        return managedObjectModelIfAny
    }

    /// The model, or nil as long as the entity belongs to none.
    internal final weak var managedObjectModelIfAny: NSManagedObjectModel?

    /// The position in the frozen model: depth first, siblings by name without regard to case. One less than `Z_ENT`.
    internal final var index: Int = 0

    /// The positions of the entity and all below it.
    internal final var subtree: Range<Int> = 0..<0

    /// Where each property of an object has its place. Made when the model is frozen, so that no two threads make it.
    internal final var layout: EntityLayout {
        if let madeLayout { return madeLayout }
        let made = EntityLayout(entity: self, oneWayToManys: OneWayToManys(in: managedObjectModelIfAny))
        madeLayout = made
        return made
    }
    /// The layout holds the entity; the model breaks the circle when it goes.
    internal final var madeLayout: EntityLayout?

    /// What the name dictionaries hold once the model is frozen.
    private var frozenProperties: [String: NSPropertyDescription]?
    private var frozenAttributes: [String: NSAttributeDescription] = [:]
    private var frozenRelationships: [String: NSRelationshipDescription] = [:]

    // MARK: - Inheritance

    /// The entity that this one inherits from. Set through its ``subentities``.
    open internal(set) weak var superentity: NSEntityDescription?

    /// The entities that inherit from this one directly.
    open var subentities: [NSEntityDescription] = [] {
        willSet { requireEditable() }
        didSet {
            for entity in oldValue where entity.superentity === self { entity.superentity = nil }
            for entity in subentities {
                entity.superentity = self
                if let managedObjectModelIfAny { managedObjectModelIfAny.adopt(entity) }
            }
        }
    }

    /// ``subentities`` by name.
    open var subentitiesByName: [String: NSEntityDescription] {
        Dictionary(subentities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { $1 })
    }

    /// The entity at the top of the hierarchy: this one, where it inherits from none.
    internal final var rootEntity: NSEntityDescription { lineage[0] }

    /// The entity and what it inherits from, the root first.
    internal final var lineage: [NSEntityDescription] {
        var lineage = [self]
        while let superentity = lineage[lineage.count - 1].superentity, !lineage.contains(where: { $0 === superentity })
        {
            lineage.append(superentity)
        }
        return lineage.reversed()
    }

    /// Whether the entity is the other or inherits from it. Cost in a frozen model: one comparison of numbers.
    open func isKindOf(entity: NSEntityDescription) -> Bool {
        if entity === self { return true }
        if frozenProperties != nil, entity.frozenProperties != nil,
            entity.managedObjectModelIfAny === managedObjectModelIfAny
        {
            return entity.subtree.contains(index)
        }
        return lineage.contains { $0 === entity }
    }

    // MARK: - Properties

    /// The properties that the entity itself declares.
    internal final var ownProperties: [NSPropertyDescription] = []

    /// The properties, the inherited ones first. What is set is what the entity itself declares; inherited ones among it
    /// are left where they are.
    open var properties: [NSPropertyDescription] {
        get { lineage.flatMap(\.ownProperties) }
        set {
            requireEditable()
            let ancestors = lineage.dropLast()
            let declared = newValue.filter { property in !ancestors.contains { $0 === property.entityIfAny } }
            precondition(
                Set(declared.map(\.name)).count == declared.count,
                "The entity “\(name ?? "")” cannot have two properties of one name.")
            for property in ownProperties where property.entityIfAny === self { property.entityIfAny = nil }
            ownProperties = declared
            for property in declared { take(property) }
        }
    }

    /// What ``ownProperties`` holds, sorted by name literally: the order of columns.
    internal final var sortedOwnProperties: [NSPropertyDescription] {
        ownProperties.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// The properties by name, the inherited ones too. Made anew on each call as long as the model can be changed.
    open var propertiesByName: [String: NSPropertyDescription] {
        frozenProperties ?? Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    }

    /// The attributes by name, the inherited ones too.
    open var attributesByName: [String: NSAttributeDescription] {
        frozenProperties == nil ? propertiesByName.compactMapValues { $0 as? NSAttributeDescription } : frozenAttributes
    }

    /// The relationships by name, the inherited ones too.
    open var relationshipsByName: [String: NSRelationshipDescription] {
        frozenProperties == nil
            ? propertiesByName.compactMapValues { $0 as? NSRelationshipDescription } : frozenRelationships
    }

    /// The relationships, inherited ones too, whose destination is the entity; sorted by name.
    open func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
        relationshipsByName.values.filter { $0.destinationEntity === entity }.sorted { $0.name < $1.name }
    }

    private func take(_ property: NSPropertyDescription) {
        property.entityIfAny = self
        for element in (property as? NSCompositeAttributeDescription)?.allElements ?? [] { element.entityIfAny = self }
    }

    // MARK: - Class and names

    private var ownClassName: String?

    /// The name of the class of the entity's objects, `NSManagedObject` unless set. A class of a Swift module is named
    /// with it (`Library.Book`); a name without a module, or with a leading dot, is also looked for in the program's own
    /// module and among the classes that made themselves known to ``KeyPathRegistry``.
    open var managedObjectClassName: String! {
        get { ownClassName ?? "NSManagedObject" }
        set {
            requireEditable()
            ownClassName = newValue
        }
    }

    /// The class name where one was set that is not that of `NSManagedObject`.
    internal final var explicitClassName: String? { ownClassName == "NSManagedObject" ? nil : ownClassName }

    /// The class that ``managedObjectClassName`` names; nil where it has not been found yet.
    internal final var foundManagedObjectClass: ManagedObjectClasses.Finding?

    private var ownRenamingIdentifier: String?

    /// The name that the entity had in the version before; its name, unless set.
    open var renamingIdentifier: String? {
        get { ownRenamingIdentifier ?? name }
        set {
            requireEditable()
            ownRenamingIdentifier = newValue
        }
    }

    /// The renaming identifier where one was set that is not the name.
    internal final var explicitRenamingIdentifier: String? {
        ownRenamingIdentifier == name ? nil : ownRenamingIdentifier
    }

    /// The hash that names this version of the entity: 32 bytes, the same that Apple's tools compute.
    /// Cost: one SHA-256 for each property, and in a frozen model nothing.
    open var versionHash: Data {
        managedObjectModelIfAny?.frozenVersionHashes?[name ?? ""] ?? ModelValueWriter().versionHash(of: self)
    }

    // MARK: - Copying and freezing

    /// An entity without a name and properties.
    public required override init() {}

    /// A copy that belongs to no model and can be changed, with copies of the subentities. Its relationships keep their
    /// destinations; copy the model to copy those too.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = type(of: self).init()
        copy.assign(from: self)
        var pending = [(self, copy)]
        while let (original, copy) = pending.popLast() {
            copy.subentities = original.subentities.map { subentity in
                let copy = type(of: subentity).init()
                copy.assign(from: subentity)
                pending.append((subentity, copy))
                return copy
            }
        }
        return copy
    }

    /// Takes over everything that the original itself states, but for its place among other entities.
    internal final func assign(from original: NSEntityDescription) {
        name = original.name
        isAbstract = original.isAbstract
        userInfo = original.userInfo
        versionHashModifier = original.versionHashModifier
        ownClassName = original.ownClassName
        ownRenamingIdentifier = original.ownRenamingIdentifier
        properties = original.ownProperties.compactMap { $0.copy() as? NSPropertyDescription }
        uniquenessConstraints = original.uniquenessConstraints.map(Self.names)
        compoundIndexes = original.compoundIndexes.map(Self.names)
        let copies = Dictionary(ownProperties.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        indexes = original.indexes.compactMap { $0.copy() as? NSFetchIndexDescription }
        for element in indexes.flatMap(\.elements) where !(element.property is NSExpressionDescription) {
            if let name = element.propertyName, let copy = copies[name] { element.property = copy }
        }
    }

    /// Names from a list that may hold names and descriptions.
    internal static func names(_ elements: [Any]) -> [String] {
        elements.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
    }

    /// Keeps the name dictionaries. Called once, by the model.
    internal final func keepNames() {
        let all = propertiesByName
        frozenAttributes = all.compactMapValues { $0 as? NSAttributeDescription }
        frozenRelationships = all.compactMapValues { $0 as? NSRelationshipDescription }
        frozenProperties = all
    }

    private func requireEditable() {
        precondition(
            managedObjectModelIfAny?.isEditable != false,
            "The entity “\(name ?? "")” cannot be changed: a coordinator uses its model. Change a copy of the model.")
    }

    // MARK: - Equality

    /// Two entities are equal when they state the same.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSEntityDescription else { return false }
        return self === other || (name == other.name && ModelValueWriter().stateTheSame(self, other))
    }

    open override var hash: Int { name.hashValue }

    open override var description: String {
        "(<\(type(of: self))>) name \(name ?? ""), managedObjectClassName \(managedObjectClassName ?? ""), "
            + "superentity \(superentity?.name ?? "none"), isAbstract \(isAbstract), "
            + "properties \(propertiesByName.keys.sorted())"
    }

    // MARK: - Coding

    public static var supportsSecureCoding: Bool { true }

    /// Always nil: an entity is coded with its model.
    public required init?(coder: NSCoder) {
        super.init()
        coder.failWithError(ModelCoding.onlyWholeModels)
        return nil
    }

    /// Fails: an entity is coded with its model.
    open func encode(with coder: NSCoder) { coder.failWithError(ModelCoding.onlyWholeModels) }
}

import Foundation

/// A type of objects: its name, its class, and its properties.
///
/// A description can be changed until a coordinator uses its model; a change after that, except of ``userInfo``, is a programmer
/// error and stops the program.
open class NSEntityDescription: NSObject, NSCopying, NSSecureCoding,
    @unchecked Sendable  // because it is frozen once a coordinator uses its model, and caches nothing before
{
    /// The entity's name; not empty, and unique in its model.
    open var name: String? { willSet { requireEditable() } }

    /// Whether the entity cannot have objects of its own, only its subentities.
    open var isAbstract: Bool = false { willSet { requireEditable() } }

    /// The developer's own key-value pairs. They can be changed on any thread, even while a coordinator uses the model.
    open var userInfo: [AnyHashable: Any]? {
        get { ownUserInfo.dictionary }
        set { ownUserInfo.dictionary = newValue }
    }
    private let ownUserInfo = DescriptionUserInfo()

    /// An arbitrary text that is part of the entity's version hash.
    open var versionHashModifier: String? { willSet { requireEditable() } }

    /// Lists of properties, by name or description, whose combined values are unique among the entity's objects.
    open var uniquenessConstraints: [[Any]] = [] { willSet { requireEditable() } }

    /// Indexes over several properties, by name or description: the form before fetch indexes.
    open var compoundIndexes: [[Any]] = [] { willSet { requireEditable() } }

    /// The indexes of the entity's rows.
    open var indexes: [NSFetchIndexDescription] = [] {
        willSet { requireEditable() }
        didSet { for index in indexes { index.entity = self } }
    }

    // MARK: - The model

    /// The model. Reading it from an entity without a model is a programmer error.
    open var managedObjectModel: NSManagedObjectModel {
        guard let managedObjectModelIfAny else {
            preconditionFailure("The entity “\(name ?? "")” belongs to no model, or its model was deallocated.")
        }
        return managedObjectModelIfAny
    }

    /// The model, or nil as long as the entity belongs to none.
    internal final weak var managedObjectModelIfAny: NSManagedObjectModel?

    /// The index in the frozen model: depth first, siblings by name without regard to case. One less than `Z_ENT`.
    package final var index: Int = 0

    /// The indexes of the entity and its descendants.
    package final var subtree: Range<Int> = 0..<0

    /// The storage layout of the entity's objects. Created when the model is frozen, so that no two threads create it.
    package final var layout: EntityLayout {
        if let madeLayout { return madeLayout }
        let made = EntityLayout(
            entity: self, inverselessRelationships: InverselessRelationships(in: managedObjectModelIfAny))
        madeLayout = made
        return made
    }
    /// The layout retains the entity; the model breaks the reference cycle when it is deallocated.
    internal final var madeLayout: EntityLayout?

    /// The content of the name dictionaries after the model is frozen.
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

    /// The root of the hierarchy: this entity, if it has no superentity.
    package final var rootEntity: NSEntityDescription { superentity == nil ? self : lineage[0] }

    /// The index of the root of the hierarchy in the frozen model.
    package final var rootIndex: Int = 0

    /// The hash value of the root's name in the frozen model. It is the same in all models that have the hierarchy.
    internal final var rootNameHash: Int = 0

    /// The entity and its ancestors, the root first.
    package final var lineage: [NSEntityDescription] {
        var lineage = [self]
        // Ends at a cycle. A set is worth its memory in long chains only.
        var met: Set<ObjectIdentifier> = []
        while let superentity = lineage[lineage.count - 1].superentity {
            if lineage.count == 16 { met = Set(lineage.map { ObjectIdentifier($0) }) }
            let isNew =
                lineage.count < 16
                ? !lineage.contains { $0 === superentity } : met.insert(ObjectIdentifier(superentity)).inserted
            guard isNew else { break }
            lineage.append(superentity)
        }
        return lineage.reversed()
    }

    /// Whether the entity is equal to another or inherits from it. Cost in a frozen model: one comparison of numbers.
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
    package final var ownProperties: [NSPropertyDescription] = []

    /// The properties, the inherited ones first. Setting them sets the entity's own properties; inherited ones in the
    /// new value are ignored.
    open var properties: [NSPropertyDescription] {
        get { lineage.flatMap(\.ownProperties) }
        set {
            requireEditable()
            let ancestors = lineage.dropLast()
            let declared = newValue.filter { property in !ancestors.contains { $0 === property.entityIfAny } }
            precondition(
                Set(declared.map(\.name)).count == declared.count,
                "The entity “\(name ?? "")” cannot have two properties with the same name.")
            for property in ownProperties where property.entityIfAny === self { property.entityIfAny = nil }
            ownProperties = declared
            for property in declared { take(property) }
        }
    }

    /// ``ownProperties``, sorted by name literally: the order of columns.
    package final var sortedOwnProperties: [NSPropertyDescription] {
        ownProperties.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// The properties by name, including inherited ones. Computed on each access until the model is frozen.
    open var propertiesByName: [String: NSPropertyDescription] {
        frozenProperties ?? Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    }

    /// The attributes by name, including inherited ones.
    open var attributesByName: [String: NSAttributeDescription] {
        frozenProperties == nil ? propertiesByName.compactMapValues { $0 as? NSAttributeDescription } : frozenAttributes
    }

    /// The relationships by name, including inherited ones.
    open var relationshipsByName: [String: NSRelationshipDescription] {
        frozenProperties == nil
            ? propertiesByName.compactMapValues { $0 as? NSRelationshipDescription } : frozenRelationships
    }

    /// The relationships whose destination is the entity, including inherited ones; sorted by name.
    open func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
        relationshipsByName.values.filter { $0.destinationEntity === entity }.sorted { $0.name < $1.name }
    }

    private func take(_ property: NSPropertyDescription) {
        property.entityIfAny = self
        for element in (property as? NSCompositeAttributeDescription)?.allElements ?? [] { element.entityIfAny = self }
    }

    // MARK: - Class and names

    private var ownClassName: String?

    /// The name of the class of the entity's objects, `NSManagedObject` by default. A class of a Swift module has the
    /// module in its name (`Library.Book`); a name without a module, or with a leading dot, is also looked up in the
    /// program's own module and among the classes registered with ``KeyPathRegistry``.
    open var managedObjectClassName: String! {
        get { ownClassName ?? "NSManagedObject" }
        set {
            requireEditable()
            ownClassName = newValue
        }
    }

    /// The class name, unless it is `NSManagedObject` or was not set.
    internal final var explicitClassName: String? { ownClassName == "NSManagedObject" ? nil : ownClassName }

    /// The class of the entity's objects if a module above the engine, such as SwiftData, decides it. It is not part of the
    /// model: no file names it.
    package final var assignedClass: NSManagedObject.Type?

    /// What a module above the engine keeps with the entity.
    package final var companion: AnyObject?

    /// The class with the name ``managedObjectClassName``; nil if it has not been looked up yet.
    internal final var foundManagedObjectClass: ManagedObjectClasses.Finding?

    private var ownRenamingIdentifier: String?

    /// The name of the entity in the previous version; by default its current name.
    open var renamingIdentifier: String? {
        get { ownRenamingIdentifier ?? name }
        set {
            requireEditable()
            ownRenamingIdentifier = newValue
        }
    }

    /// The renaming identifier, unless it equals the name or was not set.
    internal final var explicitRenamingIdentifier: String? {
        ownRenamingIdentifier == name ? nil : ownRenamingIdentifier
    }

    /// The hash of this version of the entity: 32 bytes, the same as computed by Apple's tools. Cost: one SHA-256 for
    /// each property of the model, the first time after a change of the model.
    open var versionHash: Data {
        managedObjectModelIfAny?.cachedVersionHashes?[name ?? ""] ?? ModelValueWriter().versionHash(of: self)
    }

    // MARK: - By name

    /// The entity of a name in the model of the context's coordinator, or nil if it does not exist.
    ///
    /// A context without a coordinator is a programmer error.
    open class func entity(
        forEntityName entityName: String, in context: NSManagedObjectContext
    ) -> NSEntityDescription? {
        guard let model = context.modelIfAny else {
            preconditionFailure("The entity “\(entityName)” cannot be looked up: the context has no coordinator.")
        }
        return model.entitiesByName[entityName]
    }

    /// Creates an object of an entity, with the entity's class, and inserts it into the context.
    ///
    /// A name that the context's model does not have is a programmer error.
    open class func insertNewObject(
        forEntityName entityName: String, into context: NSManagedObjectContext
    ) -> NSManagedObject {
        guard let entity = entity(forEntityName: entityName, in: context) else {
            preconditionFailure("The model of the context has no entity named “\(entityName)”.")
        }
        return entity.managedObjectClass.init(entity: entity, insertInto: context)
    }

    // MARK: - Copying and freezing

    /// Creates an entity without a name and properties.
    public override init() {}

    /// A copy that belongs to no model and can be changed, with copies of the subentities. Its relationships keep their
    /// destinations; copy the model to copy these too.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = CopyingCoder.blank { type(of: self).init(coder: $0) }
        copy.assign(from: self)
        var pending = [(self, copy)]
        while let (original, copy) = pending.popLast() {
            copy.subentities = original.subentities.map { subentity in
                let copy = CopyingCoder.blank { type(of: subentity).init(coder: $0) }
                copy.assign(from: subentity)
                pending.append((subentity, copy))
                return copy
            }
        }
        return copy
    }

    /// Copies everything except the entity's relations to other entities.
    internal final func assign(from original: NSEntityDescription) {
        name = original.name
        isAbstract = original.isAbstract
        userInfo = original.userInfo
        versionHashModifier = original.versionHashModifier
        ownClassName = original.ownClassName
        ownRenamingIdentifier = original.ownRenamingIdentifier
        assignedClass = original.assignedClass
        companion = original.companion
        // `copy()` would first look up the conformance of each class.
        properties = original.ownProperties.compactMap { $0.copy(with: nil) as? NSPropertyDescription }
        uniquenessConstraints = original.uniquenessConstraints.map(Self.names)
        compoundIndexes = original.compoundIndexes.map(Self.names)
        let copies = Dictionary(ownProperties.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        indexes = original.indexes.compactMap { $0.copy(with: nil) as? NSFetchIndexDescription }
        for element in indexes.flatMap(\.elements) where !(element.property is NSExpressionDescription) {
            if let name = element.propertyName, let copy = copies[name] { element.property = copy }
        }
    }

    /// The names of a list of names and descriptions.
    package static func names(_ elements: [Any]) -> [String] {
        elements.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
    }

    /// Stores the name dictionaries. Called once, by the model.
    internal final func keepNames() {
        let all = propertiesByName
        frozenAttributes = all.compactMapValues { $0 as? NSAttributeDescription }
        frozenRelationships = all.compactMapValues { $0 as? NSRelationshipDescription }
        frozenProperties = all
    }

    private func requireEditable() {
        managedObjectModelIfAny?.noteChange()
        precondition(
            managedObjectModelIfAny?.isEditable != false,
            "The entity “\(name ?? "")” cannot be changed: a coordinator uses its model. Change a copy of the model.")
    }

    // MARK: - Equality

    /// Two entities are equal when their contents are equal.
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

    /// Always nil: an entity is archived with its model.
    public required init?(coder: NSCoder) {
        super.init()
        guard !(coder is CopyingCoder) else { return }
        coder.failWithError(ModelCoding.onlyWholeModels)
        return nil
    }

    /// Fails: an entity is archived with its model.
    open func encode(with coder: NSCoder) { coder.failWithError(ModelCoding.onlyWholeModels) }
}

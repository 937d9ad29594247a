import ModelFiles
import Synchronization

/// Makes the entities of a schema from model classes.
struct SchemaBuilder {
    let entities: [Schema.Entity]

    init(_ classes: [ModelClass]) {
        let byName = Dictionary(classes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var made: [ObjectIdentifier: Schema.Entity] = [:]
        for each in classes { made[ObjectIdentifier(each)] = Self.entity(of: each, byName) }
        for each in classes {
            guard let entity = made[ObjectIdentifier(each)], let superclass = each.superclass,
                let superentity = made[ObjectIdentifier(superclass)]
            else { continue }
            superentity.subentities.insert(entity)
            entity.inheritedProperties = superclass.properties.map { Self.property($0, of: superclass, byName) }
        }
        entities = classes.compactMap { made[ObjectIdentifier($0)] }
    }

    private static func entity(of modelClass: ModelClass, _ classes: [String: ModelClass]) -> Schema.Entity {
        let entity = Schema.Entity(modelClass.name)
        entity.storedProperties = modelClass.ownProperties.map { property($0, of: modelClass, classes) }
        for property in modelClass.ownProperties where property.metadata?.isUnique == true {
            entity.uniquenessConstraints.append([property.name])
        }
        func names(_ paths: [AnyKeyPath]) -> [String] { paths.compactMap { modelClass.property($0)?.name } }
        for group in modelClass.groups {
            if group.isConstraint {
                for names in group.groups.map(names) where !entity.uniquenessConstraints.contains(names) {
                    entity.uniquenessConstraints.append(names)
                }
            } else {
                entity.indices += group.groups.map(names)
                entity.treeIndices += group.treeGroups.map(names)
            }
        }
        return entity
    }

    private static func property(
        _ property: ModelProperty, of modelClass: ModelClass, _ classes: [String: ModelClass]
    ) -> any SchemaProperty {
        guard let destination = property.destination else { return attribute(property) }
        let stated = property.metadata as? Schema.Relationship
        let relationship = Schema.Relationship(
            deleteRule: stated?.deleteRule ?? .nullify, minimumModelCount: stated?.minimumModelCount ?? 0,
            maximumModelCount: stated?.maximumModelCount ?? 0, originalName: stated?.originalName,
            inverse: stated?.inverseKeyPath, hashModifier: stated?.hashModifier)
        relationship.options = stated?.options ?? []
        relationship.name = property.name
        if relationship.originalName.isEmpty { relationship.originalName = property.name }
        relationship.valueType = property.valueType
        relationship.destination = ModelClass.name(of: destination)
        relationship.keypath = property.keyPath
        let inverse = Inverses.find(property, in: modelClass, among: classes)
        relationship.inverseName = inverse?.name
        relationship.inverseKeyPath = inverse?.keyPath
        return relationship
    }

    private static func attribute(_ property: ModelProperty) -> Schema.Attribute {
        let stated = property.metadata as? Schema.Attribute
        let originalName = stated?.originalName.isEmpty == false ? stated?.originalName : nil
        let options = stated?.options ?? []
        guard let form = property.form,
            let elements = form.elements(named: property.name, optional: property.isOptional)
        else {
            return Schema.Attribute(
                name: property.name, originalName: originalName, options: options, valueType: property.valueType,
                defaultValue: property.defaultValue, hashModifier: stated?.hashModifier)
        }
        let composite = Schema.CompositeAttribute(
            name: property.name, originalName: originalName, options: options, valueType: property.valueType,
            defaultValue: property.defaultValue, hashModifier: stated?.hashModifier)
        composite.properties = elements.map(\.attribute)
        return composite
    }
}

extension ModelProperty {
    var isOptional: Bool { OptionalLayout.wrappedType(of: valueType) != nil }
    /// Whether the property has a value in memory only.
    var isEphemeral: Bool { (metadata as? Schema.Attribute)?.isTransient == true }
}

/// A property of an entity in a ``Schema``: an attribute, a relationship, or a statement about several of them.
public protocol SchemaProperty: Decodable, Encodable, Hashable {
    /// The name of the Swift property, which is the name in the store.
    var name: String { get set }
    /// The name in an earlier version of the schema; the same as ``name`` if it has not changed.
    var originalName: String { get set }
    /// The Swift type of the value.
    var valueType: any Any.Type { get set }
    var isAttribute: Bool { get }
    var isRelationship: Bool { get }
    var isTransient: Bool { get }
    var isOptional: Bool { get }
    var isUnique: Bool { get }
}

extension SchemaProperty {
    public var isAttribute: Bool { false }
    public var isRelationship: Bool { false }
    public var isTransient: Bool { false }
    public var isOptional: Bool { valueType is any OptionalType.Type }
}

/// Recognises optional types, and what they wrap.
protocol OptionalType {
    static var wrappedType: any Any.Type { get }
    static var none: Self { get }
    var wrappedValue: Any? { get }
}

extension Optional: OptionalType {
    static var wrappedType: any Any.Type { Wrapped.self }
    var wrappedValue: Any? { self }
}

/// The type without its optionality.
func unwrappedType(_ type: any Any.Type) -> any Any.Type { OptionalLayout.wrappedType(of: type) ?? type }

/// The value without optionals around it; nil if one of them is empty.
func unwrapped(_ value: Any?) -> Any? {
    guard let value else { return nil }
    guard OptionalLayout.wrappedType(of: type(of: value)) != nil, let optional = value as? any OptionalType else {
        return value
    }
    return unwrapped(optional.wrappedValue)
}

/// Finds the inverse of a relationship: the stated one, else the only possible one.
enum Inverses {
    /// The inverse of a class's relationship, among all models reachable from the class. Cost: a look-up after the first time.
    static func inverse(of property: ModelProperty, in modelClass: ModelClass) -> ModelProperty? {
        let key = Key(modelClass: ObjectIdentifier(modelClass), index: property.index)
        if let found = known.withLock({ $0[key] }) { return found }
        let classes = Dictionary(
            ModelClass.reachable(from: [modelClass.type]).map { ($0.name, $0) },
            uniquingKeysWith: { first, _ in first })
        let found = find(property, in: modelClass, among: classes)
        known.withLock { $0[key] = .some(found) }
        return found
    }

    private struct Key: Hashable {
        let modelClass: ObjectIdentifier
        let index: Int
    }

    private static let known = Mutex<[Key: ModelProperty?]>([:])

    /// The inverse of a class's relationship in a schema with some classes, of which each takes the place of those with its name.
    static func find(
        _ property: ModelProperty, in modelClass: ModelClass, among classes: [String: ModelClass]
    ) -> ModelProperty? {
        guard let declared = property.destination.map(ModelClass.of) else { return nil }
        let destination = classes[declared.name] ?? declared
        let (own, others) = (ends(of: modelClass), ends(of: destination))
        guard let end = own.first(where: { $0.name == property.name }) else { return nil }
        let name = end.inverse(in: modelClass.name, own: own, others: others) { name, other in
            guard let one = classes[name], let other = classes[other] else { return false }
            return one.isKind(of: other)
        }
        return name.flatMap(destination.property(named:))
    }

    /// The relationships of a class, inherited ones included.
    private static func ends(of modelClass: ModelClass) -> [RelationshipEnd] {
        modelClass.properties.compactMap { property in
            guard let destination = property.destination.map(ModelClass.of) else { return nil }
            let stated = (property.metadata as? Schema.Relationship)?.inverseKeyPath
            return RelationshipEnd(
                name: property.name, destination: destination.name, isStated: property.metadata != nil,
                inverse: stated.flatMap { destination.property($0)?.name })
        }
    }
}

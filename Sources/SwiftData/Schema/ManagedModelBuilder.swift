import CoreData
import ManagedObjects
import ModelFiles

/// Makes the managed object model of a schema, as Apple's framework makes it: names, hashes and tables are the same. The rules are
/// those of `Model(storing:version:)`; here they get what the metadata of the classes states.
enum ManagedModelBuilder {
    /// Makes the model.
    ///
    /// - Throws: ``SwiftDataError/loadIssueModelContainer`` with the class and the property that cannot be stored.
    static func model(of schema: Schema) throws -> NSManagedObjectModel {
        let classes = Dictionary(schema.classes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        if schema.classes.count != classes.count {
            let names = Dictionary(grouping: schema.classes, by: \.name).filter { $0.value.count > 1 }.keys.sorted()
            throw SwiftDataError.loadIssueModelContainer.because(
                "Several classes have the same entity name: \(names.joined(separator: ", ")).")
        }
        let superentities = Dictionary(
            schema.entities.flatMap { entity in entity.subentities.map { ($0.name, entity.name) } },
            uniquingKeysWith: { first, _ in first })
        let stored = schema.entities.map { storedClass($0, superentities[$0.name]) }
        let model: NSManagedObjectModel
        do {
            model = try NSManagedObjectModel(value: Model(storing: stored, version: schema.version.description))
        } catch let error as ModelError {
            throw SwiftDataError.loadIssueModelContainer.because(error.description)
        }
        for entity in schema.entities {
            guard let description = model.entitiesByName[entity.name] else { continue }
            description.assignedClass = ModelObject.self
            description.companion = classes[entity.name]
            for case let attribute as Schema.Attribute in entity.storedProperties {
                guard let own = description.attributesByName[attribute.name],
                    let initial = unwrapped(attribute.defaultValue)
                else { continue }
                let form = form(of: attribute)
                if case .transformed = form { continue }
                // A value that cannot be stored is found when it is set.
                if let stored = try? form.stored(initial, named: attribute.name) { set(stored, of: own) }
            }
        }
        return model
    }

    /// States the initial value of an attribute, or those of the elements of a composite: a migration gives them to the rows that there
    /// are. Hashes do not contain them.
    private static func set(_ initial: Any, of attribute: NSAttributeDescription) {
        guard let composite = attribute as? NSCompositeAttributeDescription else {
            attribute.defaultValue = initial
            return
        }
        let values = initial as? [String: Any] ?? [:]
        for element in composite.elements {
            if let value = values[element.name] { set(value, of: element) }
        }
    }

    private static func storedClass(_ entity: Schema.Entity, _ superclass: String?) -> StoredClass {
        var stored = StoredClass(name: entity.name, superclassName: superclass)
        stored.properties = entity.storedProperties.compactMap { property in
            switch property {
            case let attribute as Schema.Attribute: Self.property(attribute)
            case let relationship as Schema.Relationship: Self.property(relationship)
            default: nil
            }
        }
        stored.constraints = entity.uniquenessConstraints
        (stored.indexes, stored.treeIndexes) = (entity.indices, entity.treeIndices)
        return stored
    }

    private static func form(of attribute: Schema.Attribute) -> ValueForm {
        if let name = attribute.options.lazy.compactMap(\.transformerName).first { return .transformed(by: name) }
        return attribute.isCodable ? .json : ValueForm.of(unwrappedType(attribute.valueType))
    }

    private static func property(_ attribute: Schema.Attribute) -> StoredProperty {
        var stored = StoredAttribute(
            form: form(of: attribute).storedForm,
            typeName: _typeName(unwrappedType(attribute.valueType), qualified: false))
        stored.options = Set(
            StoredOption.allCases.filter { option in
                // The schema states unique properties as constraints of the entity.
                option != .unique && attribute.options.contains { $0.name == option.rawValue }
            })
        var property = StoredProperty(
            name: attribute.name, isOptional: attribute.isOptional, content: .attribute(stored))
        (property.originalName, property.hashModifier) = (attribute.originalName, attribute.hashModifier)
        return property
    }

    private static func property(_ relationship: Schema.Relationship) -> StoredProperty {
        var stored = StoredRelationship(
            destination: relationship.destination, isToMany: !relationship.isToOneRelationship)
        // The schema has the inverses already.
        (stored.isStated, stored.inverse) = (true, relationship.inverseName)
        stored.minimumCount = relationship.minimumModelCount ?? 0
        stored.maximumCount = relationship.maximumModelCount ?? 0
        stored.deleteRule =
            switch relationship.deleteRule {
            case .noAction: .noAction
            case .nullify: .nullify
            case .cascade: .cascade
            case .deny: .deny
            }
        var property = StoredProperty(
            name: relationship.name, isOptional: relationship.isOptional, content: .relationship(stored))
        (property.originalName, property.hashModifier) = (relationship.originalName, relationship.hashModifier)
        return property
    }
}

extension NSManagedObjectModel {
    /// The model of some classes, for a Core Data stack over the same store.
    public static func makeManagedObjectModel(
        for entityTypes: any PersistentModel.Type..., mergedWith managedObjectModel: NSManagedObjectModel? = nil
    ) -> NSManagedObjectModel? {
        makeManagedObjectModel(for: Schema(entityTypes), mergedWith: managedObjectModel)
    }

    /// The model of some classes, for a Core Data stack over the same store.
    public static func makeManagedObjectModel(
        for entityTypes: [any PersistentModel.Type], mergedWith managedObjectModel: NSManagedObjectModel? = nil
    ) -> NSManagedObjectModel? {
        makeManagedObjectModel(for: Schema(entityTypes), mergedWith: managedObjectModel)
    }

    /// The model of a schema, for a Core Data stack over the same store; nil if the schema cannot be stored, or cannot be merged.
    /// Its objects are plain managed objects.
    public static func makeManagedObjectModel(
        for schema: Schema, mergedWith managedObjectModel: NSManagedObjectModel? = nil
    ) -> NSManagedObjectModel? {
        guard let model = try? plainModel(of: schema) else { return nil }
        guard let managedObjectModel else { return model }
        return NSManagedObjectModel(byMerging: [managedObjectModel, model])
    }

    /// The model of a schema, without its classes.
    static func plainModel(of schema: Schema) throws -> NSManagedObjectModel {
        let model = try ManagedModelBuilder.model(of: schema)
        for entity in model.entities { (entity.assignedClass, entity.companion) = (nil, nil) }
        return model
    }

    /// The model of a schema, merged with this one.
    public func makeManagedObjectModel(
        for schema: Schema, mergedWith managedObjectModel: NSManagedObjectModel? = nil
    ) -> NSManagedObjectModel? {
        let merged = managedObjectModel.flatMap { NSManagedObjectModel(byMerging: [self, $0]) } ?? self
        return Self.makeManagedObjectModel(for: schema, mergedWith: merged)
    }
}

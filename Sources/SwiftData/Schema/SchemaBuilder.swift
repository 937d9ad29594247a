/// Makes the entities of a schema from model classes.
struct SchemaBuilder {
    let entities: [Schema.Entity]

    init(_ classes: [ModelClass]) {
        var made: [ObjectIdentifier: Schema.Entity] = [:]
        for each in classes { made[ObjectIdentifier(each)] = Self.entity(of: each) }
        for each in classes {
            guard let entity = made[ObjectIdentifier(each)], let superclass = each.superclass,
                let superentity = made[ObjectIdentifier(superclass)]
            else { continue }
            superentity.subentities.insert(entity)
            entity.inheritedProperties = superclass.properties.map { Self.property($0, of: superclass) }
        }
        entities = classes.compactMap { made[ObjectIdentifier($0)] }
    }

    private static func entity(of modelClass: ModelClass) -> Schema.Entity {
        let entity = Schema.Entity(modelClass.name)
        entity.storedProperties = modelClass.ownProperties.map { property($0, of: modelClass) }
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

    private static func property(_ property: ModelProperty, of modelClass: ModelClass) -> any SchemaProperty {
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
        let inverse = Inverses.inverse(of: property, in: modelClass)
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
    var isOptional: Bool { valueType is any OptionalType.Type }
}

extension Model {
    /// What a store can be made from, but what people come to regret: in the model's order, with file and line where it was
    /// read from a source.
    ///
    /// Cost: one step a property.
    public func warnings() -> [ModelError] {
        entities.flatMap { entity in
            ModelRegrets(entity: entity, inheritance: ModelInheritance(self)).warnings
        }
    }
}

/// Collects the warnings about an entity.
private struct ModelRegrets {
    let entity: ModelEntity
    let inheritance: ModelInheritance

    var warnings: [ModelError] {
        var warnings: [ModelError] = []
        if entity.isAbstract, !inheritance.entities.values.contains(where: { $0.parentName == entity.name }) {
            warnings.append(warning(.neverUsed, "The entity is abstract, and nothing inherits from it."))
        }
        for property in entity.properties {
            if Self.reservedNames.contains(property.name) {
                warnings.append(
                    warning(
                        .reservedName, "Managed objects have a '\(property.name)' of their own: choose another name.",
                        property))
            } else if property.name.first?.isUppercase == true {
                warnings.append(
                    warning(.unusualName, "The name of a property begins with a small letter.", property))
            }
        }
        for (number, index) in entity.fetchIndexes.enumerated() where entity.fetchIndexes[..<number].contains(index) {
            let text = "The index '\(index.name)' is declared twice; a store has it once."
            warnings.append(warning(.repeatedIndex, text, at: index.position))
        }
        for relationship in entity.relationships { warnings += self.warnings(about: relationship) }
        for attribute in entity.attributes { warnings += self.warnings(about: attribute) }
        return warnings
    }

    private func warnings(about relationship: ModelRelationship) -> [ModelError] {
        var warnings: [ModelError] = []
        guard let destination = relationship.destinationName else { return [] }
        guard let inverseName = relationship.inverseName else {
            let text = "The relationship has no inverse, so that deleting leaves references to nothing."
            return [warning(.missingInverse, text, relationship)]
        }
        if relationship.deleteRule == .noAction {
            let text = "With the delete rule 'no action', deleting leaves references to nothing."
            warnings.append(warning(.danglingReferences, text, relationship))
        }
        let inverse = inheritance.relationships(of: destination).last { $0.name == inverseName }
        if relationship.deleteRule == .cascade, inverse?.deleteRule == .cascade {
            let text =
                "The relationship and its inverse both cascade: deleting one object deletes all that hang together."
            warnings.append(warning(.mutualCascade, text, relationship))
        }
        if relationship.deleteRule == .cascade, inverse?.isToMany == true {
            let text = "Deleting one object deletes what other objects share, for the inverse is to-many."
            warnings.append(warning(.sharedCascade, text, relationship))
        }
        return warnings
    }

    private func warnings(about attribute: ModelAttribute) -> [ModelError] {
        guard attribute.type == .transformable, attribute.valueTransformerName == nil, !attribute.isTransient else {
            return []
        }
        let text = "The transformable attribute names no transformer; name a secure one."
        return [warning(.insecureTransformer, text, attribute)]
    }

    private func warning(
        _ code: ModelError.Code, _ message: String, _ property: (any ModelProperty)? = nil,
        at position: ModelPosition? = nil
    ) -> ModelError {
        let place = position ?? property?.position ?? entity.position
        return ModelError(
            code, message, file: place.file ?? entity.position.file, line: place.line, entity: entity.name,
            property: property?.name)
    }

    /// What managed objects, and the objects that they are, answer to already.
    private static let reservedNames: Set<String> = [
        "class", "copy", "debugDescription", "description", "entity", "faultingState", "hasChanges",
        "hasPersistentChangedValues", "hash", "hashValue", "isDeleted", "isFault", "isInserted", "isUpdated",
        "managedObjectContext", "objectID", "observationInfo", "self", "superclass",
    ]
}

extension ModelError.Code {
    /// An abstract entity without sub-entities.
    public static let neverUsed = Self(rawValue: "neverUsed")
    /// A property has the name of a method of managed objects.
    public static let reservedName = Self(rawValue: "reservedName")
    /// A name that is allowed, but not usual.
    public static let unusualName = Self(rawValue: "unusualName")
    /// A relationship has no inverse.
    public static let missingInverse = Self(rawValue: "missingInverse")
    /// A delete rule leaves references to objects that are deleted.
    public static let danglingReferences = Self(rawValue: "danglingReferences")
    /// A relationship and its inverse delete each other's objects.
    public static let mutualCascade = Self(rawValue: "mutualCascade")
    /// A relationship deletes objects that others have too.
    public static let sharedCascade = Self(rawValue: "sharedCascade")
    /// An index is declared twice, alike.
    public static let repeatedIndex = Self(rawValue: "repeatedIndex")
    /// A transformable attribute is archived without a list of allowed classes.
    public static let insecureTransformer = Self(rawValue: "insecureTransformer")
}

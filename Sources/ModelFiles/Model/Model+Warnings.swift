extension Model {
    /// Likely mistakes in a valid model, in the model's order, with file and line if it was read from a source.
    ///
    /// Cost: one step for each property.
    public func warnings() -> [ModelError] {
        let inheritance = ModelInheritance(self)
        let parents = Set(entities.compactMap(\.parentName))
        return source.unknownAttributes
            + entities.flatMap { entity in
                WarningCollector(entity: entity, inheritance: inheritance, isParent: parents.contains(entity.name))
                    .warnings
            }
    }
}

/// Collects the warnings about an entity.
private struct WarningCollector {
    let entity: ModelEntity
    let inheritance: ModelInheritance
    /// Whether an entity inherits from it.
    let isParent: Bool

    var warnings: [ModelError] {
        var warnings: [ModelError] = []
        if entity.isAbstract, !isParent {
            warnings.append(warning(.neverUsed, "The entity is abstract, and no entity inherits from it."))
        }
        for property in entity.properties {
            if Self.reservedNames.contains(property.name) {
                warnings.append(
                    warning(
                        .reservedName, "NSManagedObject has a member '\(property.name)': choose another name.",
                        property))
            } else if property.name.first?.isUppercase == true {
                warnings.append(
                    warning(.unusualName, "The name of a property should begin with a lowercase letter.", property))
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
            let text = "The relationship has no inverse, so that deleting leaves dangling references."
            return [warning(.missingInverse, text, relationship)]
        }
        if relationship.deleteRule == .noAction {
            let text = "With the delete rule 'no action', deleting leaves dangling references."
            warnings.append(warning(.danglingReferences, text, relationship))
        }
        if let given = relationship.inverseEntityName, given != destination,
            !inheritance.ancestors(of: destination).contains(where: { $0.name == given })
        {
            let text =
                "The source names '\(given)' as the entity of the inverse, but the destination is '\(destination)'."
            warnings.append(warning(.inverseMismatch, text, relationship))
        }
        let inverse = inheritance.relationships(of: destination).last { $0.name == inverseName }
        if relationship.deleteRule == .cascade, inverse?.deleteRule == .cascade {
            let text =
                "The relationship and its inverse both cascade: deleting one object deletes all connected ones."
            warnings.append(warning(.mutualCascade, text, relationship))
        }
        if relationship.deleteRule == .cascade, inverse?.isToMany == true {
            let text = "Deleting one object deletes objects that others also refer to: the inverse is to-many."
            warnings.append(warning(.sharedCascade, text, relationship))
        }
        return warnings
    }

    private func warnings(about attribute: ModelAttribute) -> [ModelError] {
        guard attribute.type == .transformable, attribute.valueTransformerName == nil, !attribute.isTransient else {
            return []
        }
        let text = "The transformable attribute has no transformer name; use a secure one."
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

    /// The names of members of `NSManagedObject` and `NSObject`.
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
    /// A valid but unusual name.
    public static let unusualName = Self(rawValue: "unusualName")
    /// A relationship has no inverse.
    public static let missingInverse = Self(rawValue: "missingInverse")
    /// A delete rule leaves dangling references.
    public static let danglingReferences = Self(rawValue: "danglingReferences")
    /// A relationship and its inverse both cascade.
    public static let mutualCascade = Self(rawValue: "mutualCascade")
    /// A relationship cascades to objects that other objects also refer to.
    public static let sharedCascade = Self(rawValue: "sharedCascade")
    /// An entity has two identical declarations of an index.
    public static let repeatedIndex = Self(rawValue: "repeatedIndex")
    /// A transformable attribute is archived without a list of allowed classes.
    public static let insecureTransformer = Self(rawValue: "insecureTransformer")
}

import CoreData

/// The shape and the rules of a copier, resolved against the model of the originals and that of the copies before any copy is created.
package final class CopyBlueprint {
    package let rules: CopyRules
    package let model: NSManagedObjectModel
    package let targetModel: NSManagedObjectModel
    private let resolved: ResolvedShape
    private let choices: PropertyRules<CopyRules.RuleClosure>
    private let values: PropertyRules<CopyRules.ValueClosure>
    private var entities: [String: EntityCopy] = [:]
    /// The properties that the copies' model does not have, as `Entity.property`.
    package private(set) var missingProperties: Set<String> = []

    /// Throws `ShapeError` if the shape or the rules contain names that the model does not have.
    package init(
        _ shape: GraphShape, _ rules: CopyRules, model: NSManagedObjectModel, targetModel: NSManagedObjectModel
    ) throws {
        var rules = rules
        rules.conditions = KeyPathResolver.named(rules.conditions, in: model)
        resolved = try ResolvedShape(shape, model: model)
        self.rules = rules
        self.model = model
        self.targetModel = targetModel
        let paths = KeyPathResolver(model)
        choices = try PropertyRules(rules.choices) { try paths.property(at: $0, requiresRelationship: true) }
        values = try PropertyRules(rules.values) { try paths.property(at: $0) }
        for name in rules.conditions.keys.sorted() { _ = try paths.entity(name, in: name) }
        let names = Set(model.entities.flatMap(\.relationshipsByName.keys))
        for name in rules.excludedNames.union(rules.excludedRootNames).sorted() where !names.contains(name) {
            let advice = NameSuggestion.advice(for: name, in: names)
            throw ShapeError(.unknownProperty, "No entity has a relationship \"\(name)\".\(advice)", at: name)
        }
    }

    // MARK: - Entities

    /// The entities whose rules are resolved.
    package var prepared: [EntityCopy] { entities.values.sorted { $0.name < $1.name } }

    /// Whether objects of every entity are copied.
    package var includesAllEntities: Bool { resolved.includesAllEntities }

    /// Whether objects of an entity are copied at all.
    package func includes(_ entity: NSEntityDescription) -> Bool { resolved.includes(entity) }

    /// Resolves the rules of all entities that copying can reach from the given ones, so that invalid rules are reported
    /// before any copy is created, even if the data has no objects of these entities.
    package func prepare(from entities: some Sequence<NSEntityDescription>) throws {
        var pending = Array(entities)
        var met: Set<String> = []
        while let entity = pending.popLast() {
            guard includes(entity), met.insert(entity.name ?? "").inserted else { continue }
            if !entity.isAbstract {
                for relationship in try copy(of: entity).relationships
                where relationship.rule == .embed || relationship.choice != nil || rules.takesLinkedObjects {
                    if let destination = relationship.relationship.destinationEntity { pending.append(destination) }
                }
            }
            pending += entity.subentities
        }
    }

    /// The rules for objects of an entity.
    ///
    /// Throws `CopyError` for invalid directives and incompatible models.
    package func copy(of entity: NSEntityDescription) throws -> EntityCopy {
        let name = entity.name ?? ""
        if let copy = entities[name] { return copy }
        let copy = try makeCopy(of: entity)
        entities[name] = copy
        return copy
    }

    private func makeCopy(of entity: NSEntityDescription) throws -> EntityCopy {
        let name = entity.name ?? ""
        guard let target = targetModel === model ? entity : counterpart(of: entity), !target.isAbstract else {
            throw CopyError(.modelMismatch, "The model of the copies has no entity \"\(name)\".", at: name)
        }
        let stated = resolved.properties(of: entity)
        let values = values.rules(for: entity)
        var attributes: [AttributeCopy] = []
        for (key, attribute) in entity.attributesByName.sorted(by: { $0.key < $1.key })
        where stated.isIncluded(attribute) != false {
            if let copy = try attributeCopy(attribute, value: values[key], at: "\(name).\(key)", target) {
                attributes.append(copy)
            }
        }
        let choices = choices.rules(for: entity)
        var relationships: [RelationshipCopy] = []
        for (key, relationship) in entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
            if let copy = try relationshipCopy(
                relationship, stated, choice: choices[key], at: "\(name).\(key)", target)
            {
                relationships.append(copy)
            }
        }
        let condition = sequence(first: entity, next: \.superentity).lazy
            .compactMap { self.rules.conditions[$0.name ?? ""] }.first
        return EntityCopy(
            entity: entity, target: target, attributes: attributes, relationships: relationships, condition: condition)
    }

    /// The directives of copies; nil if the shape ignores directives.
    private var directives: CopyDirectives? {
        resolved.shape.honoursUserInfo ? CopyDirectives(keys: rules.directiveKeys, model: model) : nil
    }

    // MARK: - Attributes

    private func attributeCopy(
        _ attribute: NSAttributeDescription, value closure: CopyRules.ValueClosure?, at place: String,
        _ target: NSEntityDescription
    ) throws -> AttributeCopy? {
        guard !attribute.isTransient, !(attribute is NSDerivedAttributeDescription) else { return nil }
        let source: AttributeCopy.Source?
        if let closure {
            source = .closure(closure)
        } else if let directives, !rules.isSubset {
            source = try directives.source(of: attribute, at: place)
        } else {
            source = .original
        }
        guard let source else { return nil }
        guard let counterpart = counterpart(of: attribute, in: target) as? NSAttributeDescription else {
            missingProperties.insert(place)
            return nil
        }
        guard !counterpart.isTransient, !(counterpart is NSDerivedAttributeDescription) else { return nil }
        guard counterpart.attributeType == attribute.attributeType || closure != nil else {
            throw CopyError(
                .modelMismatch, "\(place) has another type in the model of the copies: set its value by a closure.",
                at: place)
        }
        return AttributeCopy(
            name: attribute.name, target: counterpart, source: source,
            mayHaveFile: attribute.allowsExternalBinaryDataStorage)
    }

    // MARK: - Relationships

    private func relationshipCopy(
        _ relationship: NSRelationshipDescription, _ stated: ResolvedShape.Properties, choice: CopyRules.RuleClosure?,
        at place: String, _ target: NSEntityDescription
    ) throws -> RelationshipCopy? {
        guard !relationship.isTransient, !rules.excludedNames.contains(relationship.name),
            stated.isIncluded(relationship) != false
        else { return nil }
        let statedRule = try self.statedRule(for: relationship, stated, at: place)
        let rule = statedRule ?? resolved.shape.base.rule(for: relationship)
        if rule == .omit, choice == nil { return nil }
        guard let counterpart = counterpart(of: relationship, in: target) as? NSRelationshipDescription else {
            missingProperties.insert(place)
            return nil
        }
        let listsEmbedding =
            try statedRule == nil && choice == nil
            && resolved.listsEmbedding(relationship) { other, entity in
                let stated = resolved.properties(of: entity)
                let rule = try self.statedRule(for: other, stated, at: "\(entity.name ?? "").\(other.name)")
                return (rule ?? resolved.shape.base.rule(for: other)) == .embed
            }
        return RelationshipCopy(
            relationship, target: counterpart, rule: rule, listsEmbedding: listsEmbedding, choice: choice, rules: rules)
    }

    /// The rule that code or the model states; nil if the base decides.
    private func statedRule(
        for relationship: NSRelationshipDescription, _ stated: ResolvedShape.Properties, at place: String
    ) throws -> RelationshipRule? {
        try stated.ruleInCode(for: relationship) ?? directives?.rule(for: relationship, at: place)
            ?? stated.ruleInModel(for: relationship)
    }

    // MARK: - The other model

    /// The entity of the copies' model with the same name, or with this name as its renaming identifier.
    private func counterpart(of entity: NSEntityDescription) -> NSEntityDescription? {
        let name = entity.name ?? ""
        return targetModel.entitiesByName[name]
            ?? targetModel.entities.first { $0.renamingIdentifier == name }
            ?? entity.renamingIdentifier.flatMap { targetModel.entitiesByName[$0] }
    }

    private func counterpart(
        of property: NSPropertyDescription, in target: NSEntityDescription
    ) -> NSPropertyDescription? {
        if let found = target.propertiesByName[property.name] { return found }
        guard targetModel !== model else { return nil }
        return target.properties.first { $0.renamingIdentifier == property.name }
            ?? property.renamingIdentifier.flatMap { target.propertiesByName[$0] }
    }
}

extension CopyBlueprint {
    /// The shape in which originals are loaded: with the relationships that are copied or linked, without the others.
    package func shape() throws -> GraphShape {
        var shape = GraphShape(.roots)
        shape.honoursUserInfo = false
        for copy in prepared {
            let names = Set(copy.relationships.map(\.name))
            for name in copy.entity.relationshipsByName.keys {
                shape.set("\(copy.name).\(name)", names.contains(name) ? .reference : .omit)
            }
        }
        return shape
    }
}

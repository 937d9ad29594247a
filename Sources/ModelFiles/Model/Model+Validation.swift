import CodedErrors
import PredicateLanguage

extension Model {
    /// The errors in the model, in its order, with file and line if it was read from a source. Empty when a store
    /// can be created from it.
    ///
    /// Cost: one step for each property and one look-up for each name.
    public func validate() -> [ModelError] {
        var validation = ModelValidator(self)
        validation.checkModel()
        for entity in entities { validation.check(entity) }
        return validation.errors
    }
}

/// Collects the errors of a model.
private struct ModelValidator {
    private let model: Model
    private let inheritance: ModelInheritance
    private let cycles: Set<String>
    /// The names of the properties that an entity inherits.
    private let inheritedNames: [String: Set<String>]
    var errors: [ModelError] = []

    init(_ model: Model) {
        self.model = model
        let inheritance = ModelInheritance(model)
        self.inheritance = inheritance
        cycles = inheritance.cycles()
        inheritedNames = inheritance.parentsFirst().reduce(into: [:]) { names, entity in
            guard let parent = entity.parentName.flatMap({ inheritance.entities[$0] }) else { return }
            names[entity.name] = (names[parent.name] ?? []).union(parent.properties.map(\.name))
        }
    }

    private mutating func report(
        _ code: ModelError.Code, _ message: String, _ entity: ModelEntity? = nil,
        _ property: (any ModelProperty)? = nil,
        at position: ModelPosition? = nil
    ) {
        let place = position ?? property?.position ?? entity?.position ?? ModelPosition()
        errors.append(
            ModelError(
                code, message, file: place.file ?? entity?.position.file, line: place.line, entity: entity?.name,
                property: property?.name))
    }

    /// What to write instead of the name of an entity that does not exist.
    private func entityAdvice(_ name: String) -> String { advice(name, inheritance.entities.keys) }

    /// What to write instead of a name that does not exist. Only the first errors have it: it costs a step for each name that exists.
    private func advice(_ name: String, _ names: some Sequence<String>) -> String {
        errors.count < 20 ? NameSuggestion.advice(for: name, in: names) : ""
    }

    mutating func checkModel() {
        var names: Set<String> = []
        for entity in model.entities where !names.insert(entity.name).inserted {
            report(.duplicateName, "There are two entities '\(entity.name)'.", entity)
        }
        names = []
        for configuration in model.configurations {
            if !names.insert(configuration.name).inserted {
                report(.duplicateName, "There are two configurations '\(configuration.name)'.")
            }
            for name in configuration.entityNames where inheritance.entities[name] == nil {
                report(
                    .unknownEntity,
                    "The configuration '\(configuration.name)' has the unknown entity '\(name)'.\(entityAdvice(name))")
            }
        }
        names = []
        for template in model.fetchRequestTemplates {
            if !names.insert(template.name).inserted {
                report(.duplicateName, "There are two fetch requests '\(template.name)'.", at: template.position)
            }
            if !isEntity(template.fetchRequest.entityName) {
                report(
                    .unknownEntity, "The fetch request '\(template.name)' is for an unknown entity.",
                    at: template.position)
            }
            check(template.fetchRequest, in: "the fetch request '\(template.name)'", at: template.position)
        }
    }

    private func isEntity(_ name: String?) -> Bool {
        name.map { inheritance.entities[$0] != nil } ?? false
    }

    mutating func check(_ entity: ModelEntity) {
        if !Self.isName(entity.name) {
            report(.invalidName, "'\(entity.name)' is not a valid name of an entity.", entity)
        }
        if let parent = entity.parentName {
            if !isEntity(parent) {
                let message = "The parent entity '\(parent)' does not exist.\(entityAdvice(parent))"
                report(.unknownEntity, message, entity)
            } else if cycles.contains(entity.name) {
                report(.inheritanceCycle, "The entity inherits from itself.", entity)
            }
        }
        var names: Set<String> = []
        let inherited = inheritedNames[entity.name] ?? []
        for property in entity.properties {
            if !Self.isName(property.name) {
                report(.invalidName, "'\(property.name)' is not a valid name of a property.", entity, property)
            }
            if !names.insert(property.name).inserted {
                report(.duplicateName, "There are two properties '\(property.name)'.", entity, property)
            } else if inherited.contains(property.name) {
                report(.duplicateName, "The property '\(property.name)' is already inherited.", entity, property)
            }
            for validation in property.validations {
                check(validation.predicate, in: "the validation", entity, property)
            }
        }
        for attribute in entity.attributes { check(attribute, of: entity) }
        for relationship in entity.relationships { check(relationship, of: entity) }
        for property in entity.fetchedProperties {
            if !isEntity(property.fetchRequest.entityName) {
                report(.unknownEntity, "The fetched property fetches an unknown entity.", entity, property)
            }
            check(property.fetchRequest, in: "the fetch request", entity, property)
        }
        checkLists(of: entity, known: names.union(inherited))
    }

    /// A letter or underscore, then letters, digits and underscores.
    private static func isName(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, first == "_" || first.properties.isAlphabetic else { return false }
        return name.unicodeScalars.allSatisfy { scalar in
            scalar == "_" || scalar.properties.isAlphabetic || scalar.properties.numericType != nil
        }
    }

    private mutating func checkLists(of entity: ModelEntity, known: Set<String>) {
        for constraint in entity.uniquenessConstraints {
            for name in constraint where !known.contains(Self.firstKey(name)) {
                let message = "A uniqueness constraint contains the unknown property '\(name)'.\(advice(name, known))"
                report(.unknownProperty, message, entity)
            }
        }
        for index in entity.compoundIndexes {
            for name in index where !isIndexable(name, known) {
                let message = "A compound index contains the unknown property '\(name)'.\(advice(name, known))"
                report(.unknownProperty, message, entity)
            }
        }
        var indexes: [String: ModelFetchIndex] = [:]
        for index in entity.fetchIndexes {
            // An identical second declaration is only a warning: see `Model.warnings()`.
            if let known = indexes.updateValue(index, forKey: index.name), known != index {
                report(.duplicateName, "There are two indexes '\(index.name)'.", entity, at: index.position)
            }
            check(index.partialIndexPredicate, in: "the index '\(index.name)'", entity, at: index.position)
            for case .expression(let expression, _, _) in index.elements.map(\.target) {
                check(expression, in: "the index '\(index.name)'", entity, at: index.position)
            }
            for case .property(let name) in index.elements.map(\.target) where !isIndexable(name, known) {
                let message = "The index '\(index.name)' contains the unknown property '\(name)'.\(advice(name, known))"
                report(.unknownProperty, message, entity, at: index.position)
            }
        }
    }

    /// An index may also contain the entity and the key of rows, which are not properties.
    private func isIndexable(_ name: String, _ known: Set<String>) -> Bool {
        known.contains(Self.firstKey(name)) || ["entity", "self"].contains(name)
    }

    /// An element of a composite is named by a path; its first key is the property.
    private static func firstKey(_ path: String) -> String {
        String(path.prefix { $0 != "." })
    }
}

// MARK: - Predicates and expressions

extension ModelValidator {
    private mutating func check(
        _ request: ModelFetchRequest, in part: String, _ entity: ModelEntity? = nil,
        _ property: (any ModelProperty)? = nil, at position: ModelPosition? = nil
    ) {
        check(request.predicate, in: part, entity, property, at: position)
        check(request.havingPredicate, in: part, entity, property, at: position)
    }

    private mutating func check(
        _ predicate: PredicateNode?, in part: String, _ entity: ModelEntity?, _ property: (any ModelProperty)? = nil,
        at position: ModelPosition? = nil
    ) {
        guard let predicate else { return }
        compile(part, entity, property, at: position) { _ = try PredicateEvaluator(predicate) }
    }

    private mutating func check(
        _ expression: ExpressionNode, in part: String, _ entity: ModelEntity?,
        _ property: (any ModelProperty)? = nil, at position: ModelPosition? = nil
    ) {
        compile(part, entity, property, at: position) { _ = try ExpressionEvaluator(expression) }
    }

    private mutating func compile(
        _ part: String, _ entity: ModelEntity?, _ property: (any ModelProperty)?, at position: ModelPosition?,
        _ body: () throws -> Void
    ) {
        do {
            try body()
        } catch {
            report(
                .invalidPredicate, "The expression of \(part) is not valid. \(error)", entity, property, at: position)
        }
    }
}

// MARK: - Properties

extension ModelValidator {
    private mutating func check(_ attribute: ModelAttribute, of entity: ModelEntity) {
        if let derivation = attribute.derivation {
            check(derivation.expression, in: "the derivation", entity, attribute)
            check(derivation.filteringPredicate, in: "the derivation", entity, attribute)
        }
        if attribute.type == .undefined, !attribute.isTransient {
            report(.missingType, "The attribute has no type.", entity, attribute)
        }
        if attribute.type == .composite, attribute.elements.isEmpty {
            report(.unknownComposite, "The composite attribute has no elements.", entity, attribute)
        }
        let (minimum, maximum) = (attribute.minimum, attribute.maximum)
        if let minimum, let maximum, Self.isLess(maximum, minimum) {
            report(.contradictoryLimits, "The minimum is greater than the maximum.", entity, attribute)
        }
        let range = Self.range(of: attribute.type)
        if let range {
            // Limits beyond the range are usual (a maximum of 65535), unless no value remains.
            if let minimum, Self.isLess(.integer(range.upperBound), minimum) {
                report(
                    .contradictoryLimits, "The minimum is greater than every value of \(attribute.type).", entity,
                    attribute)
            }
            if let maximum, Self.isLess(maximum, .integer(range.lowerBound)) {
                report(
                    .contradictoryLimits, "The maximum is less than every value of \(attribute.type).", entity,
                    attribute)
            }
        }
        guard var value = attribute.defaultValue else { return }
        if attribute.type == .string {
            guard case .string(let text) = value else { return }
            value = .integer(Int64(text.utf16.count))
        }
        if let range, case .integer(let value) = value, !range.contains(value) {
            report(
                .contradictoryLimits, "The default value is not in the range of \(attribute.type).", entity, attribute)
        }
        if minimum.map({ Self.isLess(value, $0) }) ?? false || maximum.map({ Self.isLess($0, value) }) ?? false {
            report(.contradictoryLimits, "The default value is outside the limits.", entity, attribute)
        }
    }

    /// The values of an integer type.
    private static func range(of type: ModelAttributeType) -> ClosedRange<Int64>? {
        switch type {
        case .integer16: Int64(Int16.min)...Int64(Int16.max)
        case .integer32: Int64(Int32.min)...Int64(Int32.max)
        case .integer64: Int64.min...Int64.max
        default: nil
        }
    }

    /// Whether a number or a date is less than another one; false for values that have no order.
    private static func isLess(_ one: ModelValue, _ other: ModelValue) -> Bool {
        switch (one, other) {
        // A double does not distinguish all integers of 64 bits.
        case (.integer(let one), .integer(let other)): return one < other
        case (.decimal(let one), .decimal(let other)): return one < other
        default:
            guard let one = number(one), let other = number(other) else { return false }
            return one < other
        }
    }

    private static func number(_ value: ModelValue) -> Double? {
        switch value {
        case .integer(let value): Double(value)
        case .double(let value): value
        case .decimal(let value): Double(value.description)
        case .date(let value): value.timeIntervalSinceReferenceDate
        default: nil
        }
    }

    private mutating func check(_ relationship: ModelRelationship, of entity: ModelEntity) {
        if relationship.maximumCount > 0, relationship.minimumCount > relationship.maximumCount {
            report(.contradictoryLimits, "The minimum count is greater than the maximum count.", entity, relationship)
        }
        guard let destination = relationship.destinationName else {
            return report(.missingDestination, "The relationship has no destination.", entity, relationship)
        }
        guard isEntity(destination) else {
            let message = "The destination entity '\(destination)' does not exist.\(entityAdvice(destination))"
            return report(.unknownEntity, message, entity, relationship)
        }
        guard let name = relationship.inverseName else { return }
        let candidates = inheritance.relationships(of: destination)
        guard let inverse = candidates.last(where: { $0.name == name }) else {
            let advice = advice(name, candidates.map(\.name))
            return report(
                .unknownProperty, "The inverse '\(name)' is not a relationship of '\(destination)'.\(advice)", entity,
                relationship)
        }
        guard inverse.inverseName == relationship.name else {
            return report(
                .inverseMismatch,
                "The inverse '\(destination).\(name)' has the inverse '\(inverse.inverseName ?? "none")'.", entity,
                relationship)
        }
        // The destination of the inverse is this entity, an ancestor, or, for an inherited relationship, a descendant.
        let back = inverse.destinationName ?? ""
        let isRelated =
            back == entity.name || inheritance.ancestors(of: entity.name).contains { $0.name == back }
            || inheritance.ancestors(of: back).contains { $0.name == entity.name }
        if !isRelated {
            report(
                .inverseMismatch, "The inverse '\(destination).\(name)' has the destination '\(back)'.", entity,
                relationship)
        }
    }
}

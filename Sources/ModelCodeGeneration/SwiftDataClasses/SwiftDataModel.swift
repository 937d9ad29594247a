import Foundation
import ModelFiles

/// The part of a model that classes of SwiftData can express, and what they cannot.
struct SwiftDataModel {
    /// The model that the classes have.
    let model: Model
    /// What is lost, as sentences by the names of the entities. Not everything that is lost changes a version hash.
    private(set) var losses: [String: [String]] = [:]

    init(_ original: Model) {
        var model = original
        var losses: [String: [String]] = [:]
        model.entities = original.entities.map { entity in
            var reasons: [String] = []
            let expressed = Self.expressed(entity, &reasons)
            if !reasons.isEmpty { losses[entity.name] = reasons }
            return expressed
        }
        self.model = model
        self.losses = losses
        let (before, after) = (VersionHash(original).entityHashes, VersionHash(model).entityHashes)
        changed = before.keys.filter { before[$0] != after[$0] }.sorted()
    }

    /// The entities whose version hashes differ, so that the classes do not open the store.
    let changed: [String]

    private static func expressed(_ entity: ModelEntity, _ losses: inout [String]) -> ModelEntity {
        var entity = entity
        if entity.isAbstract {
            losses.append("A class cannot be abstract.")
            entity.isAbstract = false
        }
        for property in entity.fetchedProperties {
            losses.append("\(property.name) is a fetched property, which SwiftData does not have.")
        }
        entity.fetchedProperties = []
        if entity.versionHashModifier != nil {
            losses.append("A class has no hash modifier.")
            entity.versionHashModifier = nil
        }
        entity.attributes = entity.attributes.compactMap { attribute in
            guard attribute.type != .undefined, attribute.type != .objectID else {
                losses.append("\(attribute.name) has a type that Swift does not have.")
                return nil
            }
            var attribute = attribute
            if !attribute.validations.isEmpty {
                losses.append("\(attribute.name) has validation rules, which SwiftData does not have.")
                (attribute.minimum, attribute.maximum, attribute.regularExpression) = (nil, nil, nil)
                attribute.customValidations = []
            }
            if attribute.derivation != nil {
                losses.append("\(attribute.name) is derived, and would be an ordinary attribute.")
                attribute.derivation = nil
            }
            return attribute
        }
        entity.relationships = entity.relationships.map { relationship in
            var relationship = relationship
            if relationship.isOrdered {
                losses.append("\(relationship.name) is ordered, which SwiftData's relationships are not.")
                relationship.isOrdered = false
            }
            return relationship
        }
        for index in entity.fetchIndexes where index.partialIndexPredicate != nil || index.propertyNames == nil {
            losses.append(
                "The index \(index.name) has expressions or a condition, which SwiftData's indexes do not have.")
        }
        return entity
    }
}

extension ModelFetchIndex {
    /// The names of the indexed properties; nil if an element is an expression.
    var propertyNames: [String]? {
        let names = elements.compactMap { element -> String? in
            if case .property(let name) = element.target { name } else { nil }
        }
        return names.count == elements.count && !names.isEmpty ? names : nil
    }
}

/// The names of a model as names in Swift. The model of a store is not trusted, and its names become code.
enum SwiftDataNames {
    /// - Throws: ``ModelError`` for the first name that Swift does not admit.
    static func check(_ model: Model) throws {
        for entity in model.entities {
            func refuse(_ name: String, _ subject: String, _ property: String? = nil) -> ModelError {
                ModelError(
                    .invalidValue, "\(name.debugDescription) cannot be the name of \(subject).", entity: entity.name,
                    property: property)
            }
            for name in [entity.name, entity.parentName].compactMap({ $0 }) where !SwiftName.isName(name) {
                throw refuse(name, "a class")
            }
            for property in entity.properties where !SwiftName.isName(property.name) {
                throw refuse(property.name, "a property", property.name)
            }
            for relationship in entity.relationships {
                if let name = relationship.destinationName, !SwiftName.isName(name) {
                    throw refuse(name, "a class", relationship.name)
                }
                if let name = relationship.inverseName, !SwiftName.isName(name) {
                    throw refuse(name, "a property", relationship.name)
                }
            }
            // Elements of a composite attribute have a path.
            let groups = entity.uniquenessConstraints + entity.fetchIndexes.compactMap(\.propertyNames)
            for path in groups.joined() {
                let names = path.split(separator: ".", omittingEmptySubsequences: false)
                guard names.allSatisfy({ SwiftName.isName(String($0)) }) else { throw refuse(path, "a property") }
            }
            for attribute in entity.attributes { try check(attribute, in: attribute, refuse) }
        }
    }

    private static func check(
        _ part: ModelAttribute, in attribute: ModelAttribute, _ refuse: (String, String, String?) -> ModelError
    ) throws {
        if let name = part.valueClassName, !SwiftName.isType(name) {
            throw refuse(name, "a type", attribute.name)
        }
        for name in part.caseNames ?? [] where !SwiftName.isName(name) { throw refuse(name, "a case", attribute.name) }
        for element in part.elements {
            guard SwiftName.isName(element.name) else { throw refuse(element.name, "a property", attribute.name) }
            try check(element, in: attribute, refuse)
        }
    }
}

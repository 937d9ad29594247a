import Coral
import CoreData
import GraphDocuments

/// A repair for rows or properties that would stop a migration. It is applied to a copy of the store, which replaces the store
/// when the migration is complete.
public struct MigrationRepair: Sendable, Hashable {
    /// The treatment of a value that the new type of its attribute cannot represent.
    public enum Narrowing: Sendable, Hashable {
        /// The migration fails.
        case fail
        /// A number becomes the nearest one of the new type; other values are refused.
        case clamp
        /// The value is removed. A required attribute gets its default value.
        case clear
        /// The value becomes this one.
        case replace(GraphValue)
    }

    /// The kinds of repairs.
    public enum Rule: Sendable, Hashable {
        /// Objects without a value of the attribute get this one. Text is converted to the attribute's type.
        case fill(attribute: String, GraphValue)
        /// Values are converted to the attribute's new type, by the rules of an import.
        case convert(attribute: String, Narrowing)
        /// Objects with equal values of these attributes and to-one relationships are merged as by ``Deduplicator``:
        /// the first by primary key is kept and receives its missing values, and the references, from the others.
        case deduplicate([String])
    }

    /// The entity that declares the properties, by its name in the version that needs the repair.
    public var entity: String
    /// The kind of repair, with the properties and values that it concerns.
    public var rule: Rule

    /// Creates a repair.
    public init(_ entity: String, _ rule: Rule) {
        self.entity = entity
        self.rule = rule
    }

    /// The attribute whose values are changed; nil for a deduplication.
    var attribute: String? {
        switch rule {
        case .fill(let attribute, _), .convert(let attribute, _): attribute
        case .deduplicate: nil
        }
    }

    /// The names of the properties.
    var properties: [String] {
        if case .deduplicate(let names) = rule { names } else { [attribute].compactMap { $0 } }
    }

    /// Checks that one of some models has the entity with the properties.
    ///
    /// - Throws: ``MigrationError`` with a suggestion.
    func requireProperties(in models: [NSManagedObjectModel]) throws {
        guard let last = models.last, !models.contains(where: has) else { return }
        guard let entity = last.entitiesByName[entity] else {
            throw MigrationError(.wrongRepair, NameSuggestion.noEntity(entity, in: last.entitiesByName.keys))
        }
        let unknown = properties.first { entity.propertiesByName[$0] == nil } ?? ""
        let advice = NameSuggestion.advice(for: unknown, in: entity.propertiesByName.keys)
        throw MigrationError(
            .wrongRepair,
            "The entity \"\(self.entity)\" has no property \"\(unknown)\" that can be repaired.\(advice)")
    }

    private func has(_ model: NSManagedObjectModel) -> Bool {
        guard let entity = model.entitiesByName[entity] else { return false }
        return attribute.map { entity.attributesByName[$0] != nil }
            ?? properties.allSatisfy {
                entity.attributesByName[$0] != nil || entity.relationshipsByName[$0]?.isToMany == false
            }
    }
}

import Foundation
import ModelFiles

@testable import ManagedObjects

/// Random models, and random changes of them that can be inferred; the same for the same seed.
struct ModelEvolution {
    private var state: UInt64
    private var made = 0

    init(seed: UInt64) { state = seed &+ 77 }

    private mutating func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }

    private mutating func name(_ prefix: String) -> String {
        made += 1
        // The alphabetical order of the names is unrelated to the order of their creation.
        return prefix + String(UnicodeScalar(UInt8(97 + next(26)))) + "\(made)"
    }

    // MARK: - Models

    mutating func makeModel() -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        let roots = (0..<2 + next(3)).map { _ in NotesModel.entity(name("E"), makeAttributes()) }
        var all = roots
        for _ in 0..<next(4) {
            let child = NotesModel.entity(name("E"), makeAttributes())
            all[next(all.count)].subentities += [child]
            all.append(child)
        }
        model.entities = all
        for _ in 0..<1 + next(5) { addRelationship(model) }
        return model
    }

    private mutating func makeAttributes() -> [NSAttributeDescription] {
        (0..<next(4)).map { _ in makeAttribute() }
    }

    private mutating func makeAttribute() -> NSAttributeDescription {
        let types: [NSAttributeType] = [
            .integer16AttributeType, .integer32AttributeType, .floatAttributeType, .doubleAttributeType,
            .stringAttributeType, .booleanAttributeType, .dateAttributeType, .binaryDataAttributeType,
        ]
        let type = types[next(types.count)]
        let attribute = NotesModel.attribute(name("a"), type)
        if type == .stringAttributeType, next(2) == 0 { attribute.defaultValue = "default" }
        if type == .binaryDataAttributeType, next(2) == 0 { attribute.allowsExternalBinaryDataStorage = true }
        return attribute
    }

    private mutating func addRelationship(_ model: NSManagedObjectModel) {
        let entities = model.entities
        let (source, destination) = (entities[next(entities.count)], entities[next(entities.count)])
        let relationship = makeRelationship(to: destination)
        source.properties += [relationship]
        guard next(4) > 0 else { return }
        let inverse = makeRelationship(to: source)
        destination.properties += [inverse]
        relationship.inverseRelationship = inverse
        inverse.inverseRelationship = relationship
    }

    private mutating func makeRelationship(to destination: NSEntityDescription) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name("r")
        relationship.destinationEntity = destination
        relationship.isOptional = true
        relationship.maxCount = next(2)
        relationship.isOrdered = relationship.isToMany && next(3) == 0
        return relationship
    }

    // MARK: - Changes

    /// A copy of the model with one to six changes, and what they are.
    mutating func evolved(_ model: NSManagedObjectModel) throws -> (NSManagedObjectModel, edits: [String]) {
        var current = try MigrationComparison.copy(model)
        var edits: [String] = []
        for _ in 0..<1 + next(6) {
            let candidate = try MigrationComparison.copy(current)
            guard let edit = edit(candidate),
                InferredMapping(from: model.modelValue(), to: candidate.modelValue()).obstacles.isEmpty
            else { continue }
            edits.append(edit)
            current = candidate
        }
        return (current, edits)
    }

    private mutating func edit(_ model: NSManagedObjectModel) -> String? {
        let entity = model.entities[next(model.entities.count)]
        let attributes = entity.properties.compactMap { $0 as? NSAttributeDescription }.filter { $0.entity === entity }
        let relationships = entity.properties.compactMap { $0 as? NSRelationshipDescription }
            .filter { $0.entity === entity }
        let label = entity.name ?? ""
        switch next(12) {
        case 0:
            let attribute = makeAttribute()
            entity.properties += [attribute]
            return "\(label) + \(attribute.name)"
        case 1:
            guard let attribute = attributes.first else { return nil }
            entity.properties.removeAll { $0 === attribute }
            return "\(label) - \(attribute.name)"
        case 2:
            guard let attribute = attributes.last else { return nil }
            return rename(attribute, "a", label)
        case 3:
            guard let attribute = attributes.first(where: { $0.attributeType == .integer16AttributeType }) else {
                return nil
            }
            attribute.attributeType = next(2) == 0 ? .integer64AttributeType : .doubleAttributeType
            return "\(label).\(attribute.name) wider"
        case 4:
            entity.renamingIdentifier = entity.renamingIdentifier ?? entity.name
            entity.name = name("E")
            return "\(label) renamed \(entity.name ?? "")"
        case 5:
            model.entities += [NotesModel.entity(name("E"), makeAttributes())]
            return "an entity"
        case 6:
            addRelationship(model)
            return "a relationship"
        case 7:
            guard let relationship = relationships.first else { return nil }
            relationship.inverseRelationship?.inverseRelationship = nil
            entity.properties.removeAll { $0 === relationship }
            return "\(label) - \(relationship.name)"
        case 8:
            guard let relationship = relationships.first(where: { $0.isToMany }) else { return nil }
            relationship.isOrdered.toggle()
            return "\(label).\(relationship.name) ordered: \(relationship.isOrdered)"
        case 9:
            // If a to-many relationship without an inverse gets one of several objects, the order of the objects determines
            // which.
            guard
                let relationship = relationships.first(where: { !$0.isToMany && $0.inverseRelationship != nil })
            else { return nil }
            relationship.maxCount = 0
            return "\(label).\(relationship.name) to-many"
        case 10:
            guard let relationship = relationships.last else { return nil }
            return rename(relationship, "r", label)
        default:
            guard let attribute = attributes.first, let parent = entity.superentity else { return nil }
            entity.properties.removeAll { $0 === attribute }
            guard let moved = attribute.copy() as? NSAttributeDescription else { return nil }
            parent.properties += [moved]
            return "\(label).\(attribute.name) up"
        }
    }

    private mutating func rename(_ property: NSPropertyDescription, _ prefix: String, _ label: String) -> String {
        let before = property.name
        property.renamingIdentifier = property.renamingIdentifier ?? before
        property.name = name(prefix)
        return "\(label).\(before) renamed \(property.name)"
    }
}

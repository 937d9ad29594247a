import Foundation
import KeyedArchives
import PredicateLanguage

/// Reads the file `elements`, the format of source models before Xcode 4, which mapping models still embed: an archive
/// of the editor's own classes. The attributes of a property are in stereotypes: dictionaries of named slots with a
/// default each.
public struct ModelElementsReader {
    private let predicates: PredicateArchiveReader
    private let budget: ReadingBudget

    private init(_ budget: ReadingBudget) {
        self.budget = budget
        predicates = PredicateArchiveReader(budget: budget)
    }

    /// Reads such an archive. `file` is the path for error messages. Throws ``ModelError`` when the data is damaged.
    public static func read(_ data: Data, file: String? = nil) throws -> Model {
        try ModelArchive.reportingErrors(in: file) {
            try read(KeyedArchive(data: data), byteCount: data.count)
        }
    }

    static func read(_ archive: KeyedArchive, byteCount: Int) throws -> Model {
        guard let root = try archive.root, root.isKind(of: "XDPMModel") else {
            throw ModelError(.unknownFormat, "The archive contains no source model.")
        }
        return try ModelElementsReader(ReadingBudget(byteCount: byteCount)).model(root)
    }

    private func model(_ root: ArchivedObject) throws -> Model {
        var model = Model()
        if let identifier = try root.string("_modelVersionIdentifier") { model.versionIdentifiers = [identifier] }
        for (_, object) in try budget.pairs(root.object("_xd_rootPackage")?.object("XDBucketForClassesstorage")) {
            guard let object, object.isKind(of: "XDPMEntity") else { continue }
            let (entity, templates) = try entity(object)
            model.entities.append(entity)
            model.fetchRequestTemplates += templates
        }
        model.entities.sort { $0.name < $1.name }
        for (key, members) in try budget.pairs(root.object("_configurationsByName")) {
            guard let name = try key?.string else { continue }
            let names = try budget.members(members).compactMap { try $0?.string("_name") ?? $0?.string }
            model.configurations.append(ModelConfiguration(name: name, entityNames: names.sorted()))
        }
        model.configurations.sort { $0.name < $1.name }
        return model
    }

    private func entity(_ object: ArchivedObject) throws -> (ModelEntity, [ModelFetchRequestTemplate]) {
        guard let name = try object.string("_name") else { throw ModelError(.invalidName, "An entity has no name.") }
        let slots = try Slots(of: object, budget)
        var entity = ModelEntity(name: name)
        entity.className = try slots.string("XD_PSK_entityClassName")
        entity.isAbstract = try slots.flag("XD_PSK_isAbstract")
        entity.renamingIdentifier = try slots.renamingIdentifier("XD_PSK_elementID", name: name)
        entity.versionHashModifier = try slots.string("XD_PSK_versionHashModifier")
        entity.userInfo = try slots.userInfo("XD_PSK_userInfo")
        entity.parentName = try parentName(object)
        entity.compoundIndexes = try slots.lists("XDPMCompoundIndexes")
        entity.uniquenessConstraints = try slots.lists("XDPMUniquenessConstraints")
        for (_, property) in try budget.pairs(object.object("XDBucketForOwnedAttributesstorage")) {
            guard let property else { continue }
            if property.isKind(of: "XDPMAttribute") {
                entity.attributes.append(try attribute(property))
            } else if property.isKind(of: "XDPMRelationship") {
                entity.relationships.append(try relationship(property))
            } else if property.isKind(of: "XDPMFetchedProperty") {
                entity.fetchedProperties.append(try fetchedProperty(property))
            }
        }
        entity.attributes.sort { $0.name < $1.name }
        entity.relationships.sort { $0.name < $1.name }
        entity.fetchedProperties.sort { $0.name < $1.name }
        let templates = try budget.members(slots["XD_PSK_fetchRequestsArray"]).compactMap { $0 }.compactMap {
            try template($0, entityName: name)
        }
        return (entity, templates)
    }

    /// The name of the general entity of the entity's only generalisation.
    private func parentName(_ object: ArchivedObject) throws -> String? {
        let storage = try object.object("XDBucketForGeneralizationsstorage")
        let generalizations = try storage?.pairs?.map(\.value) ?? storage?.members ?? []
        return try generalizations.first.flatMap { try $0?.object("_general")?.string("_name") }
    }

    private func template(_ object: ArchivedObject, entityName: String) throws -> ModelFetchRequestTemplate? {
        guard let name = try object.string("_name") ?? object.string("name") else { return nil }
        var request = ModelFetchRequest(entityName: entityName)
        for field in ["_predicate", "predicate"] {
            if let predicate = try object.object(field), predicate.isKind(of: "NSPredicate") {
                request.predicate = try predicates.predicate(predicate)
            }
        }
        return ModelFetchRequestTemplate(name: name, fetchRequest: request)
    }
}

// MARK: - Properties

extension ModelElementsReader {
    private func readCommon(_ property: inout some ModelProperty, _ slots: Slots) throws {
        property.isOptional = try slots.flag("XD_PPSK_isOptional")
        property.isTransient = try slots.flag("XD_PPSK_isTransient")
        property.isIndexed = try slots.flag("XD_PPSK_isIndexed")
        property.isIndexedBySpotlight = try slots.flag("XD_PPSK_isSpotlightIndexed")
        property.renamingIdentifier = try slots.renamingIdentifier("XD_PPSK_elementID", name: property.name)
        property.versionHashModifier = try slots.string("XD_PPSK_versionHashModifier")
        property.userInfo = try slots.userInfo("XD_PPSK_userInfo")
    }

    private func name(_ object: ArchivedObject) throws -> String {
        guard let name = try object.string("_name") else { throw ModelError(.invalidName, "A property has no name.") }
        return name
    }

    private func attribute(_ object: ArchivedObject) throws -> ModelAttribute {
        let slots = try Slots(of: object, budget)
        let number = try slots.integer("XD_PAttK_attributeType") ?? 0
        guard let type = ModelAttributeType(rawValue: number) else {
            throw ModelError(.invalidValue, "The attribute type \(number) is unknown.", property: try name(object))
        }
        var attribute = ModelAttribute(name: try name(object), type: type)
        try readCommon(&attribute, slots)
        attribute.isStoredInExternalRecord = try slots.flag("XD_PPSK_isStoredInTruthFile")
        attribute.allowsExternalBinaryDataStorage = try slots.flag("XD_PAttK_allowsExternalBinaryDataStorage")
        attribute.valueTransformerName = try slots.string("XD_PAttK_valueTransformerName")
        attribute.regularExpression = try slots.string("XD_PAttK_regularExpressionString")
        if attribute.regularExpression?.isEmpty == true { attribute.regularExpression = nil }
        attribute.defaultValue = try slots.value("XD_PAttK_defaultValueAsString", type, SourceText.value)
        attribute.minimum = try slots.value("XD_PAttK_minValueString", type, SourceText.limit)
        attribute.maximum = try slots.value("XD_PAttK_maxValueString", type, SourceText.limit)
        return attribute
    }

    private func relationship(_ object: ArchivedObject) throws -> ModelRelationship {
        let slots = try Slots(of: object, budget)
        var relationship = ModelRelationship(
            name: try name(object), destinationName: try slots["XD_PRK_destination"]?.string("_name"),
            inverseName: try slots["XD_PRK_inverseRelationship"]?.string("_name"))
        try readCommon(&relationship, slots)
        relationship.inverseEntityName =
            try slots["XD_PRK_inverseRelationship"]?.object("_owner")?.string("_name")
        relationship.minimumCount = try slots.integer("XD_PRK_minCount") ?? 0
        relationship.isOrdered = try slots.flag("XD_PRK_ordered")
        let isToMany = try slots.flag("XD_PRK_isToMany")
        // A to-many relationship without limit has the maximum 0, or 1 in old files if it was to-one before.
        let maximum = try slots.integer("XD_PRK_maxCount") ?? 0
        relationship.maximumCount = isToMany ? (maximum == 1 ? 0 : maximum) : 1
        if !isToMany, slots["XD_PRK_isToMany"] == nil, maximum != 1 { relationship.maximumCount = maximum }
        let rule = try slots.integer("XD_PRK_deleteRule") ?? ModelDeleteRule.nullify.rawValue
        guard let deleteRule = ModelDeleteRule(rawValue: rule) else {
            throw ModelError(.invalidValue, "The delete rule \(rule) is unknown.", property: relationship.name)
        }
        relationship.deleteRule = deleteRule
        return relationship
    }

    private func fetchedProperty(_ object: ArchivedObject) throws -> ModelFetchedProperty {
        let slots = try Slots(of: object, budget)
        let request = slots["XD_PFPK_fetchRequest"]
        var fetchRequest = ModelFetchRequest(
            entityName: try (request?.object("entity") ?? slots["XD_PFPK_destination"])?.string("_name"))
        if let predicate = try (request?.object("predicate") ?? slots["XD_PFPK_predicate"]),
            predicate.isKind(of: "NSPredicate")
        {
            fetchRequest.predicate = try predicates.predicate(predicate)
        }
        var property = ModelFetchedProperty(name: try name(object), fetchRequest: fetchRequest)
        try readCommon(&property, slots)
        property.isOptional = true
        property.isTransient = true
        return property
    }
}

/// The slots of all stereotypes of an element, by name.
private struct Slots {
    private var values: [String: ArchivedObject] = [:]
    private let budget: ReadingBudget

    init(of element: ArchivedObject, _ budget: ReadingBudget) throws {
        self.budget = budget
        for (_, stereotype) in try budget.pairs(element.object("XDBucketForStereotypesstorage")) {
            for (key, slot) in try budget.pairs(stereotype?.object("XDBucketForOwnedAttributesstorage")) {
                if let key = try key?.string, let value = try slot?.object("_default") { values[key] = value }
            }
        }
    }

    subscript(name: String) -> ArchivedObject? { values[name] }

    func string(_ name: String) throws -> String? { try values[name]?.string }

    func flag(_ name: String) throws -> Bool { values[name]?.value.boolean ?? false }

    func integer(_ name: String) throws -> Int? {
        values[name]?.value.integer.flatMap { Int(exactly: $0) }
    }

    func renamingIdentifier(_ slot: String, name: String) throws -> String? {
        let identifier = try string(slot)
        return identifier == name || identifier == "" ? nil : identifier
    }

    /// User info without the settings of an abandoned synchronisation service, which editors wrote into every model.
    func userInfo(_ name: String) throws -> [String: PropertyListValue] {
        guard let object = values[name] else { return [:] }
        let userInfo = PropertyListValue(try budget.value(object)).dictionary?.contents ?? [:]
        return userInfo.filter { !$0.key.hasPrefix("com.apple.syncservices.") }
    }

    /// Reads a list of lists of names.
    func lists(_ name: String) throws -> [[String]] {
        try budget.members(values[name]).map { list in
            try budget.members(list).compactMap { try $0?.string ?? $0?.string("_name") }
        }
    }

    /// A value written as text; nil for empty text.
    func value(
        _ name: String, _ type: ModelAttributeType, _ parse: (String, ModelAttributeType) -> ModelValue?
    ) throws -> ModelValue? {
        guard let text = try string(name), !text.isEmpty || type == .string else { return nil }
        return parse(text, type)
    }
}

import Foundation
import KeyedArchives
import PredicateLanguage

/// Writes the archive of an `NSManagedObjectModel`. Entities and properties refer to each other in cycles, so the indexes of
/// all are reserved before any object is filled in.
struct ModelArchiveWriter {
    let model: Model
    let form: ModelArchive.Form
    let inheritance: ModelInheritance
    /// The names of the entities directly below an entity, in the model's order.
    private let children: [String: [String]]
    var builder = KeyedArchiveBuilder()
    private var root: PropertyListValue
    var entityReferences: [String: PropertyListValue] = [:]
    var propertyReferences: [String: [String: PropertyListValue]] = [:]
    private var emptyDictionary: PropertyListValue
    /// The number of indexed expressions so far; they are named by their number.
    var expressionCount = 0

    init(_ model: Model, form: ModelArchive.Form) {
        self.model = model
        self.form = form
        inheritance = ModelInheritance(model)
        children = Dictionary(grouping: model.entities.lazy.filter { $0.parentName != nil }) { $0.parentName ?? "" }
            .mapValues { $0.map(\.name) }
        root = builder.reserve()
        emptyDictionary = builder.add(dictionary: [])
        for entity in model.entities {
            entityReferences[entity.name] = builder.reserve()
            var references: [String: PropertyListValue] = [:]
            for name in Self.propertyNames(of: entity, in: inheritance, form) { references[name] = builder.reserve() }
            propertyReferences[entity.name] = references
        }
    }

    /// The names of the properties that are written for an entity, sorted.
    private static func propertyNames(
        of entity: ModelEntity, in inheritance: ModelInheritance, _ form: ModelArchive.Form
    ) -> [String] {
        let owners = form == .cached ? inheritance.lineage(of: entity.name) : [entity]
        return Set(owners.flatMap { $0.properties.map(\.name) }).sorted()
    }

    mutating func write() throws -> Data {
        for entity in model.entities {
            do {
                try write(entity)
            } catch var error as ModelError {
                error.entity = error.entity ?? entity.name
                error.file = error.file ?? entity.position.file
                error.line = error.line ?? entity.position.line
                throw error
            }
        }
        var fields = PropertyListDictionary()
        fields["NSEntities"] = dictionary(model.entities.map { ($0.name, reference(to: $0.name)) })
        fields["NSFetchRequestTemplates"] = try fetchRequestTemplates()
        fields["NSVersionIdentifiers"] = builder.add(
            set: model.versionIdentifiers.sorted().map { builder.add(string: $0) })
        if !model.configurations.isEmpty {
            var pairs: [(key: PropertyListValue, value: PropertyListValue)] = []
            for configuration in model.configurations {
                let members = builder.add(set: configuration.entityNames.map { reference(to: $0) })
                pairs.append((builder.add(string: configuration.name), members))
            }
            fields["NSConfigurations"] = builder.add(dictionary: pairs, isMutable: true)
        }
        builder.fill(root, classChain: ["NSManagedObjectModel", "NSObject"], fields: fields)
        return try builder.archive(root: root)
    }

    func reference(to entityName: String?) -> PropertyListValue {
        entityName.flatMap { entityReferences[$0] } ?? KeyedArchiveBuilder.null
    }

    /// The entities by name; in a cached model a dictionary with fixed keys, sorted.
    mutating func dictionary(_ pairs: [(String, PropertyListValue)]) -> PropertyListValue {
        let keys = pairs.map { builder.add(string: $0.0) }
        guard form == .cached else {
            return builder.add(dictionary: zip(keys, pairs).map { (key: $0, value: $1.1) }, isMutable: true)
        }
        let keyArray = builder.add(array: keys)
        let strategy = builder.add(
            classChain: ["NSKnownKeysMappingStrategy1", "NSKnownKeysMappingStrategy", "NSObject"],
            fields: PropertyListDictionary([
                ("version", .integer(1)), ("length", .integer(Int64(pairs.count))), ("keys", keyArray),
            ]))
        let token = builder.add(string: "__empty_slot_token_4c24_98dc_ac1e_b773__")
        let values = builder.add(array: pairs.map(\.1))
        return builder.add(
            classChain: [
                "NSKnownKeysDictionary1", "NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary", "NSObject",
            ],
            fields: PropertyListDictionary([
                ("version", .integer(1)), ("searchMapping", strategy), ("emptyToken", token), ("values", values),
            ]))
    }

    mutating func userInfo(_ userInfo: [String: PropertyListValue]) throws -> PropertyListValue {
        guard !userInfo.isEmpty else { return emptyDictionary }
        return try builder.add(ReadableValue(.dictionary(PropertyListDictionary(sorted: userInfo))))
    }

    mutating func write(_ entity: ModelEntity) throws {
        var fields = PropertyListDictionary([
            ("NSEntityName", builder.add(string: entity.name)),
            ("NSClassNameForEntity", builder.add(string: entity.className)),
            ("NSManagedObjectModel", root),
            ("NSSuperentity", reference(to: entity.parentName)),
            ("NSVersionHashModifier", builder.add(string: entity.versionHashModifier)),
            ("NSRenamingIdentifier", builder.add(string: entity.renamingIdentifier ?? entity.name)),
        ])
        fields["NSUserInfo"] = try userInfo(entity.userInfo)
        let children = (children[entity.name] ?? []).map { child in
            (key: builder.add(string: child), value: reference(to: child))
        }
        fields["NSSubentities"] = builder.add(dictionary: children, isMutable: true)
        fields["NSProperties"] = try properties(of: entity)
        if entity.isAbstract { fields["NSIsAbstract"] = .boolean(true) }
        if !entity.uniquenessConstraints.isEmpty { fields["NSUniqueTuples"] = names(entity.uniquenessConstraints) }
        if !entity.compoundIndexes.isEmpty { fields["NSCompoundIndexes"] = names(entity.compoundIndexes) }
        if !entity.fetchIndexes.isEmpty {
            var indexes: [PropertyListValue] = []
            for index in entity.fetchIndexes { indexes.append(try add(index, of: entity)) }
            fields["NSFetchIndexDescriptions"] = builder.add(array: indexes, isMutable: true)
        }
        builder.fill(
            reference(to: entity.name), classChain: ["NSEntityDescription", "NSObject"], fields: fields)
    }

    mutating func names(_ lists: [[String]]) -> PropertyListValue {
        let arrays = lists.map { list in
            builder.add(array: list.map { builder.add(string: $0) }, isMutable: true)
        }
        return builder.add(array: arrays, isMutable: true)
    }
}

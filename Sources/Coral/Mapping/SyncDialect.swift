import CoreData
import GraphDocuments

/// The words of Sync, and its conventions.
///
/// Keys are snake_case, or as the model has them; `sync.remoteKey` says another, as a path. The key of an object is the
/// attribute with `sync.isPrimaryKey`, else `id` or `remoteID`, which documents call `id`. Relationships are found under their
/// name as objects, under the name with `_id` or `_ids` as keys, and under a `sync.remoteKey` as either.
/// `sync.valueTransformer` and `sync.nonExportable` are as they say. The older prefix `hyper.` is read too.
enum SyncDialect {
    private static let words = ["remoteKey", "isPrimaryKey", "nonExportable", "valueTransformer"]
    private static let knownWords = ["sync.", "hyper."].flatMap { prefix in words.map { prefix + $0 } }
    /// Names that attributes cannot have, which Sync puts the entity's name before.
    private static let reserved = ["type", "description", "signed", "hash", "class", "self"]

    static func read(_ model: NSManagedObjectModel) -> DialectReading {
        var reading = DialectReading()
        reading.mapping.keys = .snakeCase
        reading.mapping.dates = MappedDates([.iso8601Milliseconds, .unix])
        for entity in model.sortedEntities {
            let name = entity.name ?? ""
            var mapping = EntityMapping()
            let key = primaryKey(of: entity)
            mapping.identity = key.map { [$0] }
            for property in entity.propertiesByName.values.sorted(by: { $0.name < $1.name }) {
                for prefix in ["sync.", "hyper."] {
                    reading.checkWords(of: property.userInfo, known: knownWords, prefix: prefix, name, property.name)
                }
                mapping[property.name] = self.mapping(of: property, entity, key: key)
            }
            reading.mapping[name] = mapping
        }
        return reading
    }

    private static func word(_ name: String, _ property: NSPropertyDescription) -> String? {
        directive("sync.\(name)", in: property.userInfo) ?? directive("hyper.\(name)", in: property.userInfo)
    }

    private static func primaryKey(of entity: NSEntityDescription) -> String? {
        let attributes = entity.attributesByName.values.sorted { $0.name < $1.name }
        let marked = attributes.first { ["yes", "true", "1"].contains(word("isPrimaryKey", $0)?.lowercased() ?? "") }
        return marked?.name ?? attributes.first { $0.name == "id" || $0.name == "remoteID" }?.name
    }

    private static func mapping(
        of property: NSPropertyDescription, _ entity: NSEntityDescription, key: String?
    ) -> PropertyMapping {
        var mapping = PropertyMapping()
        let snake = KeyStrategy.snakeCase.keys(of: property.name, in: "")
        mapping.keys = word("remoteKey", property).map { [$0] } ?? snake
        mapping.transformer = word("valueTransformer", property).map { .named($0) }
        if word("nonExportable", property) != nil { mapping.direction = .read }
        if let relationship = property as? NSRelationshipDescription {
            if word("remoteKey", property) == nil {
                mapping.referenceKeys = [(snake.first ?? property.name) + (relationship.isToMany ? "_ids" : "_id")]
            }
        } else if word("remoteKey", property) == nil {
            if property.name == key, property.name == "id" || property.name == "remoteID" { mapping.keys = ["id"] }
            mapping.keys += reservedKeys(of: property.name, entity)
        }
        return mapping
    }

    /// `userType` may be called `type`.
    private static func reservedKeys(of property: String, _ entity: NSEntityDescription) -> [String] {
        let prefix = (entity.name ?? "").prefix(1).lowercased() + (entity.name ?? "").dropFirst()
        return reserved.filter { property == prefix + $0.prefix(1).uppercased() + $0.dropFirst() }
    }

    /// Objects that the document does not list lose their link, and where they can have but one are deleted.
    static func adjust(_ options: inout ImportOptions, _ model: NSManagedObjectModel) {
        options.danglingReferences = .skip
        options.reading.allowsTrailingCommas = true
        for entity in model.entities {
            for (name, relationship) in entity.relationshipsByName where relationship.isToMany {
                guard relationship.inverseRelationship?.isToMany == false else { continue }
                let key = "\(entity.name ?? "").\(name)"
                if options.relationshipPolicies[key] == nil { options.relationshipPolicies[key] = .replace }
            }
        }
    }

    /// What a synchronisation deletes: the objects of an entity that the document does not have; of one with parents of its
    /// own kind those at the top.
    static func scope(of entity: NSEntityDescription) -> DeletionScope {
        let parent = entity.relationshipsByName.values.filter {
            !$0.isToMany && $0.destinationEntity?.name == entity.name
        }
        .min { $0.name < $1.name }
        return DeletionScope(
            entity: entity.name ?? "",
            predicate: parent.map { NSPredicate(format: "%K == nil", argumentArray: [$0.name]) })
    }
}

extension Dialect {
    /// Options to bring an entity's objects in line with a document, as Sync does: what the document does not have is deleted,
    /// where `operations` say so.
    ///
    /// Throws `MappingError` where the user info is not well formed, `ImportError` where the model has no such entity.
    public static func syncOptions(
        _ entity: String, in model: NSManagedObjectModel, operations: ImportOptions.Operations = .all,
        relationshipOperations: ImportOptions.Operations? = nil, predicate: NSPredicate? = nil
    ) throws -> ImportOptions {
        guard let description = model.entitiesByName[entity] else {
            throw ImportError(.misuse, "The model has no entity \"\(entity)\".", entity: entity)
        }
        var options = try Dialect.sync.importOptions(for: model)
        options.operations = operations
        options.relationshipOperations = relationshipOperations
        var scope = SyncDialect.scope(of: description)
        if let predicate { scope.predicate = predicate }
        options.deletionScopes = [scope]
        return options
    }
}

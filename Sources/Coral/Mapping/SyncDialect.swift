import CoreData
import GraphDocuments

/// The directives and conventions of Sync.
///
/// Keys are snake_case, or as in the model; `sync.remoteKey` sets another, as a path. The key of an object is the
/// attribute with `sync.isPrimaryKey`, else `id` or `remoteID`, which is `id` in documents. Relationships are read
/// under their name as objects, under the name with `_id` or `_ids` as keys, and under a `sync.remoteKey` as either.
/// `sync.valueTransformer` names a transformer, `sync.nonExportable` excludes a property from exports. The older prefix
/// `hyper.` is read too.
enum SyncDialect {
    private static let words = ["remoteKey", "isPrimaryKey", "nonExportable", "valueTransformer"]
    private static let knownWords = ["sync.", "hyper."].flatMap { prefix in words.map { prefix + $0 } }
    /// Names that attributes cannot have, which Sync prefixes with the entity's name.
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

    /// `userType` may be `type` in documents.
    private static func reservedKeys(of property: String, _ entity: NSEntityDescription) -> [String] {
        let prefix = (entity.name ?? "").prefix(1).lowercased() + (entity.name ?? "").dropFirst()
        return reserved.filter { property == prefix + $0.prefix(1).uppercased() + $0.dropFirst() }
    }

    /// Objects that the document does not list are removed from relationships, and deleted if the inverse is to-one. Values
    /// that do not fit are omitted and reported. Records without the primary key are omitted; in a to-one relationship they
    /// update the current destination, or insert one.
    static func adjust(_ options: inout ImportOptions, _ model: NSManagedObjectModel) {
        options.danglingReferences = .skip
        options.mismatchedValues = .record
        options.mustHaveKeys = true
        options.allowsTrailingCommas = true
        for entity in model.entities {
            for (name, relationship) in entity.relationshipsByName where relationship.isToMany {
                guard relationship.inverseRelationship?.isToMany == false else { continue }
                let key = "\(entity.name ?? "").\(name)"
                if options.relationshipPolicies[key] == nil { options.relationshipPolicies[key] = .replace }
            }
        }
    }

    /// The scope of deletions of a synchronisation: the objects of an entity that are not in the document; for an
    /// entity with parents of its own kind, only those without a parent.
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
    /// Options for synchronising an entity's objects with a document, as Sync does: objects that are not in the
    /// document are deleted, if `operations` includes it.
    ///
    /// Throws `MappingError` if the user info is malformed, `ImportError` if the entity does not exist.
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

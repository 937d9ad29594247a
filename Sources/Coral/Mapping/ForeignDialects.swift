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
    static func scope(of entity: NSEntityDescription) -> NSPredicate {
        let parent = entity.relationshipsByName.values.filter {
            !$0.isToMany && $0.destinationEntity?.name == entity.name
        }
        .min { $0.name < $1.name }
        return parent.map { NSPredicate(format: "%K == nil", argumentArray: [$0.name]) } ?? NSPredicate(value: true)
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
            let message = NameSuggestion.noEntity(entity, in: model.entitiesByName.keys)
            throw ImportError(.misuse, message, entity: entity)
        }
        var options = try Dialect.sync.importOptions(for: model)
        options.operations = operations
        options.relationshipOperations = relationshipOperations
        options.deletionScopes = [entity: predicate ?? SyncDialect.scope(of: description)]
        return options
    }
}

/// The directives of MagicalImport.
///
/// `mappedKeyName`, and as alternatives `mappedKeyName.1` to `.9`, are the key as a path; `dateFormat` is the format of
/// a date, where `UnixTime` means seconds or milliseconds since 1970; `relatedByAttribute`, of an entity or a
/// relationship, is the attribute by which objects are found, by default `<entity>ID`. Members in a document are added
/// to a relationship.
enum MagicalImportDialect {
    private static let keyWords = ["mappedKeyName"] + (1...9).map { "mappedKeyName.\($0)" }
    private static let propertyWords = keyWords + ["dateFormat", "relatedByAttribute", "attributeValueClassName"]

    static func read(_ model: NSManagedObjectModel) -> DialectReading {
        var reading = DialectReading()
        for entity in model.sortedEntities {
            let name = entity.name ?? ""
            reading.checkWords(of: entity.userInfo, known: ["relatedByAttribute"], name)
            var mapping = EntityMapping()
            mapping.identity = key(
                of: entity, directive("relatedByAttribute", in: entity.userInfo), name, nil, &reading)
            for property in entity.ownProperties {
                reading.checkWords(of: property.userInfo, known: propertyWords, name, property.name)
                mapping[property.name] = self.mapping(of: property, name, &reading)
            }
            reading.mapping[name] = mapping
        }
        return reading
    }

    /// The attribute that identifies an entity's objects; nil if there is none.
    private static func key(
        of entity: NSEntityDescription, _ declared: String?, _ name: String, _ property: String?,
        _ reading: inout DialectReading
    ) -> [String]? {
        if let declared {
            if entity.attributesByName[declared] != nil { return [declared] }
            let advice = NameSuggestion.advice(for: declared, in: entity.attributesByName.keys)
            // MagicalImport prints a message, and continues without a key.
            reading.note(
                .unknownProperty,
                "relatedByAttribute is \"\(declared)\", which \(entity.name ?? "") does not have.\(advice)", name,
                property,
                isWarning: true)
            return nil
        }
        let usual = (entity.name ?? "").prefix(1).lowercased() + (entity.name ?? "").dropFirst() + "ID"
        return entity.attributesByName[usual] != nil ? [usual] : nil
    }

    private static func mapping(
        of property: NSPropertyDescription, _ entity: String, _ reading: inout DialectReading
    ) -> PropertyMapping {
        var mapping = PropertyMapping()
        mapping.keys = keyWords.compactMap { directive($0, in: property.userInfo) }
        if mapping.keys.isEmpty { mapping.keys = [property.name] }
        if let format = directive("dateFormat", in: property.userInfo) {
            mapping.dates = format == "UnixTime" ? .unix : .format(format)
        }
        if let relationship = property as? NSRelationshipDescription, let destination = relationship.destinationEntity {
            mapping.identity = key(
                of: destination, directive("relatedByAttribute", in: property.userInfo), entity, property.name, &reading
            )
        }
        return mapping
    }

    static func adjust(_ options: inout ImportOptions, _ model: NSManagedObjectModel) {
        options.danglingReferences = .skip
        options.allowsTrailingCommas = true
        options.insertsAbstractEntities = true
        for entity in model.entities {
            for (name, relationship) in entity.relationshipsByName where relationship.isToMany {
                let key = "\(entity.name ?? "").\(name)"
                if options.relationshipPolicies[key] == nil { options.relationshipPolicies[key] = .union }
            }
        }
    }
}

/// The directives of Groot.
///
/// Only properties with a `JSONKeyPath` are mapped. `JSONTransformerName` names a value transformer; for entities,
/// `identityAttribute` or `identityAttributes` declare the key, `entityMapperName` names a transformer from a
/// dictionary to an entity's name, `JSONDictionaryTransformerName` one from a dictionary to a dictionary. Entities
/// inherit the directives of their ancestors. A reference by a bare key to an object that does not exist creates the object
/// with only its key set.
enum GrootDialect {
    private static let entityWords = [
        "identityAttribute", "identityAttributes", "entityMapperName", "JSONDictionaryTransformerName",
    ]
    private static let propertyWords = ["JSONKeyPath", "JSONTransformerName"]

    static func read(_ model: NSManagedObjectModel) -> DialectReading {
        var reading = DialectReading()
        for entity in model.sortedEntities {
            let name = entity.name ?? ""
            reading.checkWords(of: entity.userInfo, known: entityWords, name)
            var mapping = EntityMapping()
            mapping.isOptIn = true
            if let key = directive("identityAttributes", in: entity.userInfo)
                ?? directive("identityAttribute", in: entity.userInfo)
            {
                mapping.identity = key.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            }
            mapping.choice = directive("entityMapperName", in: entity.userInfo).map { .named($0) }
            mapping.transformer = directive("JSONDictionaryTransformerName", in: entity.userInfo).map { .named($0) }
            for property in entity.ownProperties {
                reading.checkWords(of: property.userInfo, known: propertyWords, name, property.name)
                guard let path = directive("JSONKeyPath", in: property.userInfo) else { continue }
                var mapped = PropertyMapping(path)
                mapped.transformer = directive("JSONTransformerName", in: property.userInfo).map { .named($0) }
                mapping[property.name] = mapped
            }
            reading.mapping[name] = mapping
        }
        return reading
    }

    static func adjust(_ options: inout ImportOptions, _ model: NSManagedObjectModel) {
        options.danglingReferences = .stub
        options.allowsTrailingCommas = true
    }
}

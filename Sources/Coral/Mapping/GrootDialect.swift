import CoreData
import GraphDocuments

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

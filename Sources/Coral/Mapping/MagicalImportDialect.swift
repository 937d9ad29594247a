import CoreData
import GraphDocuments

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
            let question = NameSuggestion.question(for: declared, in: entity.attributesByName.keys)
            // MagicalImport prints a message, and continues without a key.
            reading.note(
                .unknownProperty,
                "relatedByAttribute is \"\(declared)\", which \(entity.name ?? "") does not have.\(question)", name,
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

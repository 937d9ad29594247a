import Foundation
import KeyedArchives
import PredicateLanguage

extension MappingArchive {
    /// The archive of entity mappings: the content of a `.cdm`. Equal mappings give equal bytes.
    ///
    /// - Throws: ``ModelError`` for an expression that has no archived form.
    public static func data(of entities: [Entity]) throws -> Data {
        var writer = MappingArchiveWriter()
        return try writer.write(entities)
    }
}

/// Writes the archive of an `NSMappingModel`, with the classes and keys of Xcode's compiled mapping models.
private struct MappingArchiveWriter {
    private var builder = KeyedArchiveBuilder()

    mutating func write(_ entities: [MappingArchive.Entity]) throws -> Data {
        let root = builder.reserve()
        var mappings: [PropertyListValue] = []
        for entity in entities { mappings.append(try add(entity)) }
        var byName: [(key: PropertyListValue, value: PropertyListValue)] = []
        for (entity, mapping) in zip(entities, mappings) {
            byName.append((builder.add(string: entity.name), mapping))
        }
        let list = builder.add(array: mappings)
        builder.fill(
            root, classChain: ["NSMappingModel", "NSObject"],
            fields: PropertyListDictionary([
                ("NSEntityMappings", list),
                ("NSEntityMappingsByName", builder.add(dictionary: byName, isMutable: true)),
            ]))
        return try builder.archive(root: root)
    }

    private mutating func add(_ entity: MappingArchive.Entity) throws -> PropertyListValue {
        let source = try entity.source.map { try builder.add(expression: $0) } ?? KeyedArchiveBuilder.null
        let attributes = try add(entity.attributes)
        let relationships = try add(entity.relationships)
        return builder.add(
            classChain: ["NSEntityMapping", "NSObject"],
            fields: PropertyListDictionary([
                ("NSMappingName", builder.add(string: entity.name)), ("NSMappingType", .integer(Int64(entity.type))),
                ("NSSourceEntityName", builder.add(string: entity.sourceName)),
                ("NSSourceEntityVersionHash", add(entity.sourceHash)),
                ("NSDestinationEntityName", builder.add(string: entity.destinationName)),
                ("NSDestinationEntityVersionHash", add(entity.destinationHash)), ("NSSourceExpression", source),
                ("NSAttributeMappings", attributes), ("NSRelationshipMappings", relationships),
                ("NSEntityMigrationPolicyClassName", builder.add(string: entity.policyClassName)),
                ("NSUserInfo", try add(entity.userInfo)),
            ]))
    }

    private mutating func add(_ properties: [MappingArchive.Property]) throws -> PropertyListValue {
        var references: [PropertyListValue] = []
        for property in properties {
            let value = try property.value.map { try builder.add(expression: $0) } ?? KeyedArchiveBuilder.null
            references.append(
                builder.add(
                    classChain: ["NSPropertyMapping", "NSObject"],
                    fields: PropertyListDictionary([
                        ("NSDestinationPropertyName", builder.add(string: property.name)),
                        ("NSValueExpression", value), ("NSUserInfo", try add(property.userInfo)),
                        ("NSPropertyTransforms", KeyedArchiveBuilder.null),
                    ])))
        }
        return builder.add(array: references)
    }

    private mutating func add(_ data: Data?) -> PropertyListValue {
        data.map { builder.add(value: .data($0)) } ?? KeyedArchiveBuilder.null
    }

    private mutating func add(_ userInfo: [String: PropertyListValue]) throws -> PropertyListValue {
        guard !userInfo.isEmpty else { return KeyedArchiveBuilder.null }
        return try builder.add(ReadableValue(.dictionary(PropertyListDictionary(sorted: userInfo))))
    }
}

import Foundation
import FoundationAdditions
import ManagedObjects
import ModelFiles
import PredicateLanguage

/// Reads mapping models, and finds compiled ones in bundles.
enum MappingModelFiles {
    /// - Throws: `CocoaError.fileReadCorruptFile` or `.fileReadNoSuchFile`, with the reason in its description.
    static func entityMappings(at url: URL) throws -> [NSEntityMapping] {
        do {
            return try MappingArchive.read(at: url).map(mapping)
        } catch let error as ModelError {
            throw CocoaError(
                error.code == .unreadableFile ? .fileReadNoSuchFile : .fileReadCorruptFile, error.description, url: url,
                userInfo: [NSUnderlyingErrorKey: error])
        }
    }

    /// The mappings of the first file whose version hashes are those of the entities of two models; nil if there is none.
    static func entityMappings(
        in bundles: [Bundle]?, from source: [String: Data], to destination: [String: Data]
    ) -> [NSEntityMapping]? {
        for url in ModelBundles.urls(in: bundles ?? [.main], extensions: ["cdm"]) {
            guard let mappings = try? entityMappings(at: url), !mappings.isEmpty else { continue }
            let fits = mappings.allSatisfy {
                MappingArchive.isEntity($0.sourceEntityName, $0.sourceEntityVersionHash, in: source)
                    && MappingArchive.isEntity(
                        $0.destinationEntityName, $0.destinationEntityVersionHash, in: destination)
            }
            if fits { return mappings }
        }
        return nil
    }

    // MARK: - From plain values

    private static func mapping(_ value: MappingArchive.Entity) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.name = value.name
        mapping.mappingType = NSEntityMappingType(rawValue: value.type) ?? .undefinedEntityMappingType
        mapping.sourceEntityName = value.sourceName
        mapping.sourceEntityVersionHash = value.sourceHash
        mapping.destinationEntityName = value.destinationName
        mapping.destinationEntityVersionHash = value.destinationHash
        mapping.entityMigrationPolicyClassName = value.policyClassName
        mapping.attributeMappings = value.attributes.map(propertyMapping)
        mapping.relationshipMappings = value.relationships.map(propertyMapping)
        mapping.userInfo = value.userInfo.isEmpty ? nil : PlainUserInfo.dictionary(value.userInfo)
        mapping.sourceExpression = value.source.map(NSExpression.expression(stating:))
        return mapping
    }

    private static func propertyMapping(_ value: MappingArchive.Property) -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = value.name
        mapping.valueExpression = value.value.map(NSExpression.expression)
        mapping.userInfo = value.userInfo.isEmpty ? nil : PlainUserInfo.dictionary(value.userInfo)
        return mapping
    }
}

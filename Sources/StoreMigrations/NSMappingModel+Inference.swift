import CoreDataErrors
import Foundation
import FoundationAdditions
import ManagedObjects
import ModelFiles
import PredicateLanguage

extension NSMappingModel {
    /// Infers the mapping model of a store that contains the entities of a configuration only.
    static func inferredMappingModel(
        from sourceModel: NSManagedObjectModel, to destinationModel: NSManagedObjectModel, configuration: String?
    ) throws -> NSMappingModel {
        let inferred = InferredMapping(from: sourceModel, to: destinationModel)
        let names = configuration.flatMap { destinationModel.storedEntities(forConfigurationName: $0) }
            .map { Set($0.flatMap(\.lineage).compactMap(\.name)) }
        func isStored(_ name: String) -> Bool { names?.contains(name) ?? true }
        try requireNone(inferred.obstacles.filter { isStored($0.entity) })
        let hashes = (sourceModel.entityVersionHashesByName, destinationModel.entityVersionHashesByName)
        let model = NSMappingModel()
        model.isInferred = true
        model.entityMappings = inferred.entities.compactMap { entity in
            if let name = entity.destinationName, !isStored(name) { return nil }
            let mapping = NSEntityMapping()
            mapping.name = entity.name
            mapping.mappingType = NSEntityMappingType(entity.kind)
            mapping.sourceEntityName = entity.sourceName
            mapping.sourceEntityVersionHash = entity.sourceName.flatMap { hashes.0[$0] }
            mapping.destinationEntityName = entity.destinationName
            mapping.destinationEntityVersionHash = entity.destinationName.flatMap { hashes.1[$0] }
            guard let source = entity.sourceName.flatMap({ sourceModel.entitiesByName[$0] }),
                let destination = entity.destinationName.flatMap({ destinationModel.entitiesByName[$0] })
            else {
                mapping.attributeMappings = entity.attributes.map { Self.mapping($0, nil) }
                mapping.relationshipMappings = []
                return mapping
            }
            mapping.attributeMappings = entity.attributes.map {
                Self.mapping($0, Self.attributeExpression($0, from: source, to: destination))
            }
            mapping.relationshipMappings = entity.relationships.map {
                Self.mapping($0, Self.relationshipExpression($0))
            }
            mapping.userInfo = Self.userInfo(entity.attributes + entity.relationships, of: source)
            return mapping
        }
        return model
    }

    /// The names of the properties, in the form of Apple's framework: sets of the new and of the other names in the new entity, and
    /// of those in the old entity that have no new property.
    private static func userInfo(
        _ properties: [InferredMapping.Property], of source: NSEntityDescription
    ) -> [AnyHashable: Any] {
        let former = Set(source.attributesByName.keys).union(source.relationshipsByName.keys)
        return [
            "addedProperties": Set(properties.filter { $0.sourceName == nil }.map(\.name)),
            "mappedProperties": Set(properties.filter { $0.sourceName != nil }.map(\.name)),
            "removedProperties": former.subtracting(properties.compactMap(\.sourceName)),
        ]
    }

    private static func requireNone(_ obstacles: [InferredMapping.Obstacle]) throws {
        let errors = obstacles.map { obstacle in
            let place = obstacle.property.map { "\(obstacle.entity).\($0)" } ?? obstacle.entity
            var userInfo: [String: Any] = ["entity": obstacle.entity, "reason": obstacle.reason]
            userInfo["property"] = obstacle.property
            return CocoaError(
                .inferredMappingModel, "No mapping model can be inferred. \(place): \(obstacle.reason)",
                userInfo: userInfo)
        }
        guard let first = errors.first else { return }
        guard errors.count > 1 else { throw first }
        var userInfo = first.userInfo
        userInfo[NSDetailedErrorsKey] = errors.map { $0 as NSError }
        throw CocoaError(.inferredMappingModel, userInfo: userInfo)
    }

    private static func mapping(_ property: InferredMapping.Property, _ value: ExpressionNode?) -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = property.name
        mapping.valueExpression = value.map(NSExpression.expression)
        return mapping
    }

    /// The value of the source attribute; where only the new attribute is required, its default value replaces nil.
    private static func attributeExpression(
        _ property: InferredMapping.Property, from source: NSEntityDescription, to destination: NSEntityDescription
    ) -> ExpressionNode? {
        guard let name = property.sourceName else { return nil }
        let value = ExpressionNode.keyPath(base: .variable(NSMigrationSourceObjectKey), keys: [name])
        guard let attribute = destination.attributesByName[property.name], !attribute.isOptional,
            attribute.attributeType != .transformableAttributeType, let initial = attribute.defaultValue,
            source.attributesByName[name]?.isOptional != false
        else { return value }
        let isNil = PredicateNode.comparison(ComparisonNode(value, .equalTo, .constant(value: nil)))
        return .conditional(isNil, then: .constant(value: initial), otherwise: value)
    }

    private static func relationshipExpression(_ property: InferredMapping.Property) -> ExpressionNode? {
        guard let name = property.sourceName else { return nil }
        return .call(
            receiver: .variable(NSMigrationManagerKey), selector: MigrationFunction.relationshipInstances.rawValue,
            arguments: [
                .constant(value: name), .keyPath(base: .variable(NSMigrationSourceObjectKey), keys: [name]),
            ])
    }
}

extension NSEntityMappingType {
    fileprivate init(_ kind: InferredMapping.Kind) {
        switch kind {
        case .add: self = .addEntityMappingType
        case .remove: self = .removeEntityMappingType
        case .copy: self = .copyEntityMappingType
        case .transform: self = .transformEntityMappingType
        }
    }
}

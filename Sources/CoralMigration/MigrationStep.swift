import Coral
import CoreData

/// A step of a migration, from one version of a model to a later one.
public struct MigrationStep: Sendable {
    /// How a step migrates.
    package enum Kind: Sendable {
        /// Core Data infers the changes from the two models: lightweight migration.
        case inferred
        /// A mapping model of the two versions determines the changes.
        case mapping(MigrationMapping)
        /// The changes are inferred, except for the properties with repairs.
        case repaired
        /// The step cannot be inferred, and there is no mapping model.
        case impossible([MigrationObstacle])
    }

    /// The version before the step.
    public let source: ModelVersion
    /// The version after the step.
    public let destination: ModelVersion
    /// How the step migrates.
    package let kind: Kind

    /// Why an impossible step cannot be inferred, a sentence for each obstacle; empty for other steps.
    public var obstacles: [String] { placedObstacles.map(\.description) }

    /// Whether Core Data infers the changes.
    package var isInferred: Bool { if case .inferred = kind { true } else { false } }

    /// The obstacles with their places.
    package var placedObstacles: [MigrationObstacle] {
        if case .impossible(let obstacles) = kind { obstacles } else { [] }
    }
}

extension [MigrationStep] {
    /// The models through which consecutive steps lead.
    var models: [NSManagedObjectModel] { prefix(1).map(\.source.model) + map(\.destination.model) }
}

/// A reason why a migration cannot be inferred.
package struct MigrationObstacle: Sendable, Hashable {
    /// The entity of the newer version.
    package var entity: String
    /// The property of the newer version; nil if the obstacle concerns the entity.
    package var property: String?
    /// The reason, in sentences.
    package var reason: String

    /// The obstacles between two models, by Core Data's inference; none if the migration can be inferred.
    static func obstacles(from source: NSManagedObjectModel, to destination: NSManagedObjectModel)
        -> [MigrationObstacle]
    {
        do {
            _ = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
            return []
        } catch {
            let error = error as NSError
            let details = error.userInfo[NSDetailedErrorsKey] as? [any Error] ?? [error]
            return details.map { MigrationObstacle($0 as NSError) }
        }
    }

    init(entity: String, property: String?, reason: String) {
        self.entity = entity
        self.property = property
        self.reason = reason
    }

    private init(_ error: NSError) {
        entity = error.userInfo["entity"] as? String ?? ""
        property = error.userInfo["property"] as? String
        reason = error.userInfo["reason"] as? String ?? error.localizedDescription
    }
}

extension MigrationObstacle: CustomStringConvertible {
    package var description: String {
        let place = [entity.isEmpty ? nil : entity, property].compactMap { $0 }.joined(separator: ".")
        return place.isEmpty ? reason : "\(place): \(reason)"
    }
}

import Foundation
import ModelFiles

/// The classes with `@Model` for a model: one file for each entity, and one with the version and the migration plan.
public struct SwiftDataClasses {
    /// One file.
    public struct File {
        public let name: String
        public let text: String
        /// The entity of the class; nil for the file with the versions.
        public let entityName: String?
    }

    /// A raw value of an enumeration.
    public enum RawValue: Hashable, Comparable, Sendable {
        case integer(Int64)
        case text(String)
    }

    public let files: [File]
    /// The entities whose classes do not open a store of the model, because their version hashes differ, by name.
    public let changedEntities: [String]
    /// What classes cannot express, as sentences by the names of the entities.
    public let losses: [String: [String]]

    /// Makes the classes.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - name: The name of the file that the model comes from.
    ///   - rawValues: The raw values that a store has, by `Entity.property`: a model does not contain them.
    /// - Throws: ``ModelError`` for an entity or a property whose name Swift does not admit.
    public init(of model: Model, named name: String, rawValues: [String: Set<RawValue>] = [:]) throws {
        let expressed = SwiftDataModel(model)
        let model = expressed.model
        try SwiftDataNames.check(model)
        let entities = model.entities.sorted { $0.name < $1.name }
        files =
            [
                File(
                    name: "Versions.swift", text: Self.versions(of: model, named: name, entities.map(\.name)),
                    entityName: nil)
            ]
            + entities.map { entity in
                let writer = SwiftDataClass(entity, model, rawValues)
                return File(name: "\(entity.name).swift", text: writer.text(named: name), entityName: entity.name)
            }
        changedEntities = expressed.changed
        losses = expressed.losses
    }

    private static func versions(of model: Model, named name: String, _ classes: [String]) -> String {
        let identifier = model.versionIdentifiers.min() ?? "1.0.0"
        var numbers = identifier.split(separator: ".").compactMap { Int($0) }.filter { $0 >= 0 }
        numbers = Array((numbers + [0, 0, 0]).prefix(3))
        if numbers == [0, 0, 0] { numbers = [1, 0, 0] }
        let version = "Version" + numbers.map(String.init).joined(separator: "_")
        var text = SwiftText(
            heading: "\(SwiftText.heading)\(SwiftText.line(of: name)).", imports: ["import SwiftData"])
        text.line("/// The version of the store that the classes were generated from.")
        text.block("enum \(version): VersionedSchema") { text in
            text.line(
                "static let versionIdentifier = Schema.Version(\(numbers.map(String.init).joined(separator: ", ")))")
            text.block("static var models: [any PersistentModel.Type]") { text in
                text.line("[\(classes.map { SwiftName.identifier($0) + ".self" }.joined(separator: ", "))]")
            }
        }
        text.line()
        text.line("/// The versions of the store, the oldest first. Add the next one with the stage that leads to it.")
        text.block("enum Versions: SchemaMigrationPlan") { text in
            text.line("static var schemas: [any VersionedSchema.Type] { [\(version).self] }")
            text.line("static var stages: [MigrationStage] { [] }")
        }
        return text.finished()
    }
}

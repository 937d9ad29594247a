import CoreData
import ModelFiles

extension Operation {
    /// Operations on models that are large in one direction. What grows faster than the model has another number of allocations for
    /// each of its parts.
    static var ofModels: [Operation] {
        [
            Operation("validate an attribute of a large entity", startingWith: .empty) { _, count in
                let model = wide(count)
                return { _ = model.validate() + model.warnings() }
            },
            Operation("compile an attribute of a large entity", startingWith: .empty) { _, count in
                let model = wide(count)
                return { _ = try ModelConversion.compiled(of: model) }
            },
            Operation("validate an entity of a long chain of subentities", startingWith: .empty) { _, count in
                let model = chain(count)
                return { _ = model.validate() + model.warnings() }
            },
            Operation("compile an entity of a long chain of subentities", startingWith: .empty) { _, count in
                let model = chain(count)
                return { _ = try ModelConversion.compiled(of: model) }
            },
            Operation("hash an entity of a long chain of subentities", startingWith: .empty) { _, count in
                let model = chain(count)
                return { _ = VersionHash(model).entityHashes }
            },
            Operation("find the migration of a version of a model", startingWith: .empty) { _, count in
                let versions = (0..<count).map { number in
                    ModelFile.Version(name: "\(100_000 + number)", model: wide(2 + number % 2))
                }
                let file = try ModelFile(kind: .compiled, versions: versions, currentName: versions.last?.name)
                return { _ = try VersionMigrations(of: file) }
            },
        ]
    }

    /// A model of one entity with many attributes.
    private static func wide(_ count: Int) -> Model {
        let attributes = (0..<count).map {
            ModelAttribute(name: "value\(100_000 + $0)", type: .string, isOptional: true)
        }
        return Model(entities: [ModelEntity(name: "Wide", attributes: attributes)])
    }

    /// A model in which each entity is the parent of the next.
    private static func chain(_ count: Int) -> Model {
        Model(
            entities: (0..<count).map { number in
                ModelEntity(
                    name: "Entity\(100_000 + number)", parentName: number == 0 ? nil : "Entity\(99_999 + number)",
                    attributes: number == 0 ? [ModelAttribute(name: "name", type: .string, isOptional: true)] : [])
            })
    }
}

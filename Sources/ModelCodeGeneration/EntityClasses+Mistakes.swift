import ModelFiles

extension EntityClasses {
    /// Errors of a model that is valid, but cannot be represented by Swift classes.
    static func mistakes(in model: Model, moduleName: String?) -> [ModelError] {
        var mistakes: [ModelError] = []
        func report(
            _ code: ModelError.Code, _ message: String, _ entity: ModelEntity, _ property: (any ModelProperty)? = nil
        ) {
            let place = property?.position ?? entity.position
            mistakes.append(
                ModelError(
                    code, message, file: place.file ?? entity.position.file, line: place.line, entity: entity.name,
                    property: property?.name))
        }
        var owners: [String: String] = [:]
        for entity in model.entities where entity.codeGeneration != .manual {
            guard let name = entity.ownClassName else { continue }
            if let owner = owners.updateValue(entity.name, forKey: name) {
                report(
                    .duplicateName,
                    "The class '\(name)' is already generated for '\(owner)'. Use another name, or set code generation"
                        + " to manual.", entity)
            }
            if let module = entity.classModuleName, let moduleName, module != moduleName {
                report(
                    .invalidName,
                    "The class belongs to the module '\(module)' and cannot be generated in '\(moduleName)'.", entity)
            }
            for property in entity.properties where SwiftName.isTaken(property.name) {
                report(
                    .invalidName,
                    "NSManagedObject has a member '\(property.name)': a property cannot have this name.",
                    entity, property)
            }
        }
        return mistakes
    }
}

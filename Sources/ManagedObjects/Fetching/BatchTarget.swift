/// The entity of a batch request: given directly, or by a name that is looked up when the request is executed.
enum BatchTarget {
    case entity(NSEntityDescription)
    case name(String)

    var name: String {
        switch self {
        case .entity(let entity): entity.name ?? ""
        case .name(let name): name
        }
    }

    var entity: NSEntityDescription? {
        if case .entity(let entity) = self { entity } else { nil }
    }

    /// The entity in a model.
    ///
    /// - Throws: `CocoaError.coreData` if the model has no entity with the name.
    func entity(in model: NSManagedObjectModel) throws -> NSEntityDescription {
        try FetchSpecification(entityName: name, entity: entity).entity(in: model)
    }
}

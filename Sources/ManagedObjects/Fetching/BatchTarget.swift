/// The entity that a batch request changes: given itself, or by a name that is looked up when the request is executed.
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

    /// The entity as a model has it.
    ///
    /// - Throws: `CocoaError.coreData` where the model has no entity of the name.
    func entity(in model: NSManagedObjectModel) throws -> NSEntityDescription {
        try FetchSpecification(entityName: name, entity: entity).entity(in: model)
    }
}

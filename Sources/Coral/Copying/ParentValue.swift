import CoreData

/// An attribute of an ancestor in the graph, whose value is used: that of the nearest ancestor that has it.
struct ParentValue {
    /// The required entity of the ancestor, if any.
    var entity: String?
    var attribute: String
    /// Whether the attribute keeps the value of a new object if there is no such ancestor; otherwise the original's
    /// value is copied.
    var isBlankWithoutParent: Bool

    /// Whether an object of an entity has the attribute, with the type of the one that takes its value.
    func isAttribute(of entity: NSEntityDescription, type: NSAttributeType) -> Bool {
        guard entity.attributesByName[attribute]?.attributeType == type else { return false }
        guard let name = self.entity else { return true }
        return sequence(first: entity) { $0.superentity }.contains { $0.name == name }
    }
}

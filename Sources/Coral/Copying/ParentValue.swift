import CoreData

/// An attribute of an ancestor in the graph whose value a copy takes. The nearest ancestor with the attribute is used.
struct ParentValue {
    /// The required entity of the ancestor, if any.
    var entity: String?
    var attribute: String
    /// Whether the attribute keeps the value of a new object if there is no such ancestor; otherwise the original's
    /// value is copied.
    var isBlankWithoutParent: Bool

    /// Whether objects of an entity have the attribute, and it has the given type: that of the attribute that takes its value.
    func isAttribute(of entity: NSEntityDescription, type: NSAttributeType) -> Bool {
        guard entity.attributesByName[attribute]?.attributeType == type else { return false }
        guard let name = self.entity else { return true }
        return sequence(first: entity) { $0.superentity }.contains { $0.name == name }
    }
}

import CoreData

/// Sets attributes of copies to values of the copies of their ancestors in the graph.
struct ParentValues {
    private let graph: CopyGraph
    /// Copies of this batch that are not created yet, by the indexes of their objects.
    private let drafts: [Int: CopyDraft]
    private let copy: (Int) -> NSManagedObject?

    init(graph: CopyGraph, drafts: [CopyDraft], copy: @escaping (Int) -> NSManagedObject?) {
        self.graph = graph
        self.drafts = Dictionary(drafts.map { ($0.node, $0) }, uniquingKeysWith: { first, _ in first })
        self.copy = copy
    }

    /// Sets the attributes of a copy that follow an ancestor. The walk visits ancestors first, so that their values are
    /// set already.
    func follow(_ draft: CopyDraft) {
        for (index, attribute) in draft.entity.attributes.enumerated() {
            guard case .parent(let parent) = attribute.source else { continue }
            if let value = value(of: parent, above: draft.node, type: attribute.target.attributeType) {
                draft.values[index] = .set(value.value)
            } else if !parent.isBlankWithoutParent {
                draft.values[index] = .set(draft.original.value(forKey: attribute.name))
            }
        }
    }

    /// The value of the nearest ancestor with such an attribute; nil if none has it.
    private func value(
        of parent: ParentValue, above node: Int, type: NSAttributeType
    ) -> (value: Any?, Void)? {
        var next = graph.nodes[node].parent
        while let number = next {
            let entity = graph.nodes[number].entity
            next = graph.nodes[number].parent
            guard parent.isAttribute(of: entity.entity, type: type) else { continue }
            guard let attribute = entity.attributes.first(where: { $0.name == parent.attribute }) else {
                return (entity.entity.attributesByName[parent.attribute]?.defaultValue, ())
            }
            if let draft = drafts[number] { return (draft.value(attribute.target.name), ()) }
            return (copy(number)?.value(forKey: attribute.target.name), ())
        }
        return nil
    }
}

/// An attribute of an ancestor in the graph whose value a copy takes. The nearest ancestor with the attribute is used.
package struct ParentValue {
    /// The required entity of the ancestor, if any.
    package var entity: String?
    package var attribute: String
    /// Whether the attribute keeps the value of a new object if there is no such ancestor; otherwise the original's
    /// value is copied.
    package var isBlankWithoutParent: Bool

    /// Whether objects of an entity have the attribute, and it has the given type: that of the attribute that takes its value.
    package func isAttribute(of entity: NSEntityDescription, type: NSAttributeType) -> Bool {
        guard entity.attributesByName[attribute]?.attributeType == type else { return false }
        guard let name = self.entity else { return true }
        return sequence(first: entity) { $0.superentity }.contains { $0.name == name }
    }
}

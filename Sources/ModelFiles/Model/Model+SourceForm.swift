extension Model {
    /// The model in the form of a source model: the elements of composite attributes are declared as composite types,
    /// which the attributes refer to by name. Existing types are kept; attributes of a compiled model with equal
    /// elements share a type. Throws ``ModelError`` if they are nested too deeply (``ModelAttribute/maximumNesting``).
    package func sourceForm() throws -> Model {
        var naming = CompositeNaming(self)
        var model = self
        for index in model.entities.indices {
            model.entities[index].attributes = try model.entities[index].attributes.map {
                try naming.named($0, of: model.entities[index].name)
            }
        }
        model.composites = naming.composites
        return model
    }
}

/// Creates composite types for attributes that have elements and no type.
private struct CompositeNaming {
    private(set) var composites: [ModelComposite]
    private var names: Set<String>

    init(_ model: Model) {
        composites = model.composites
        names = Set(model.composites.map(\.name) + model.entities.map(\.name))
    }

    /// Recursive for nested elements, to a depth of ``ModelAttribute/maximumNesting``.
    mutating func named(
        _ attribute: ModelAttribute, of entityName: String, depth: Int = 0
    ) throws -> ModelAttribute {
        guard attribute.type == .composite else { return attribute }
        try ModelAttribute.checkNesting(depth, entity: entityName, property: attribute.name)
        if let name = attribute.compositeName, composites.contains(where: { $0.name == name }) { return attribute }
        var attribute = attribute
        let elements = try attribute.elements.map { try named($0, of: entityName, depth: depth + 1) }
        if let known = composites.first(where: { $0.elements == elements }) {
            attribute.compositeName = known.name
            return attribute
        }
        let base = attribute.name.prefix(1).uppercased() + attribute.name.dropFirst()
        var name = base
        var number = 2
        while !names.insert(name).inserted {
            name = base + String(number)
            number += 1
        }
        composites.append(ModelComposite(name: name, elements: elements))
        attribute.compositeName = name
        return attribute
    }
}

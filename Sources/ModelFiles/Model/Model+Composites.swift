extension Model {
    /// Fills in the elements of composite attributes from the composite types that they name.
    ///
    /// Throws ``ModelError`` when a type does not exist, contains itself, or is nested too deeply
    /// (``ModelAttribute/maximumNesting``).
    public mutating func resolveComposites(file: String? = nil) throws {
        let composites = Dictionary(self.composites.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for index in entities.indices {
            let entity = entities[index]
            entities[index].attributes = try entity.attributes.map { attribute in
                var remaining = ModelAttribute.maximumElementCount
                return try Self.resolved(
                    attribute, composites, owners: [], remaining: &remaining, entity: entity.name, file: file)
            }
        }
    }

    /// Recursive once for each level of types; no type occurs twice.
    private static func resolved(
        _ attribute: ModelAttribute, _ composites: [String: ModelComposite], owners: [String], remaining: inout Int,
        entity: String, file: String?
    ) throws -> ModelAttribute {
        guard attribute.type == .composite, let name = attribute.compositeName else { return attribute }
        let position = attribute.position
        func error(_ code: ModelError.Code, _ message: String) -> ModelError {
            ModelError(
                code, message, file: position.file ?? file, line: position.line, entity: entity,
                property: attribute.name)
        }
        guard let composite = composites[name] else {
            throw error(.unknownComposite, "There is no composite type '\(name)'.")
        }
        guard !owners.contains(name) else {
            throw error(.inheritanceCycle, "The composite type '\(name)' contains itself.")
        }
        try ModelAttribute.checkNesting(
            owners.count, file: position.file ?? file, line: position.line, entity: entity, property: attribute.name)
        remaining -= composite.elements.count
        guard remaining >= 0 else {
            throw error(.invalidValue, "The composite type '\(name)' has too many elements.")
        }
        var attribute = attribute
        attribute.elements = try composite.elements.map { element in
            try resolved(
                element, composites, owners: owners + [name], remaining: &remaining, entity: entity, file: file)
        }
        return attribute
    }
}

extension ModelAttribute {
    /// The attributes that contain values: the attribute itself, or the innermost elements of a composite, in order.
    public var leaves: [ModelAttribute] {
        guard type == .composite else { return [self] }
        var leaves: [ModelAttribute] = []
        var pending = Array(elements.reversed())
        while let next = pending.popLast() {
            if next.type == .composite {
                pending.append(contentsOf: next.elements.reversed())
            } else {
                leaves.append(next)
            }
        }
        return leaves
    }
}

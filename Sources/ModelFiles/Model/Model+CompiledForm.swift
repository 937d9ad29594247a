extension Model {
    /// The model without the parts that only a source model has, as a compiler produces it.
    ///
    /// The module's name is prefixed to class names of the form `.Name`; without a module the dot is removed. Entities
    /// and properties are sorted by name. Attributes with an ascending index of their own are marked as indexed, too.
    public func compiledForm(moduleName: String? = nil) -> Model {
        var model = self
        model.source = ModelSource()
        model.composites = []
        model.entities = entities.map { $0.compiledForm(moduleName: moduleName) }.sorted { $0.name < $1.name }
        model.configurations = configurations.map {
            ModelConfiguration(name: $0.name, entityNames: $0.entityNames.sorted())
        }
        model.configurations.sort { $0.name < $1.name }
        model.fetchRequestTemplates.sort { $0.name < $1.name }
        return model
    }
}

extension ModelEntity {
    fileprivate func compiledForm(moduleName: String?) -> ModelEntity {
        var entity = self
        if let name = className {
            let isRelative = name.hasPrefix(".")
            entity.className = isRelative ? (moduleName.map { $0 + name } ?? String(name.dropFirst())) : name
            if name == "NSManagedObject" { entity.className = nil }
        }
        entity.codeGeneration = .manual
        entity.isSyncable = nil
        entity.spotlightDisplayNameExpression = nil
        entity.attributes = attributes.map { $0.compiledForm(isIndexed: isIndexedAlone($0.name)) }
        entity.attributes.sort { $0.name < $1.name }
        entity.relationships = relationships.map { relationship in
            var relationship = relationship
            relationship.inverseEntityName = nil
            relationship.isSyncable = nil
            return relationship
        }
        entity.relationships.sort { $0.name < $1.name }
        entity.fetchedProperties = fetchedProperties.map { property in
            var property = property
            property.isSyncable = nil
            return property
        }
        entity.fetchedProperties.sort { $0.name < $1.name }
        return entity
    }

    /// Whether there is an index of this property alone, ascending.
    private func isIndexedAlone(_ name: String) -> Bool {
        fetchIndexes.contains { index in
            index.elements.count == 1 && index.elements[0].target == .property(name)
                && index.elements[0].isAscending && index.elements[0].collation == .binary
                && index.partialIndexPredicate == nil
        }
    }
}

extension ModelAttribute {
    fileprivate func compiledForm(isIndexed: Bool) -> ModelAttribute {
        var attribute = self
        attribute.isIndexed = isIndexed || self.isIndexed
        attribute.usesScalarValueType = nil
        attribute.isSyncable = nil
        attribute.compositeName = nil
        if attribute.valueTransformerName?.isEmpty == true { attribute.valueTransformerName = nil }
        attribute.elements = elements.map { $0.compiledForm(isIndexed: false) }
        return attribute
    }
}

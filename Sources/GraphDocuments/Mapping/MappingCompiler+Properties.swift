// The plans of properties.

extension MappingCompiler {
    private mutating func paths(
        _ keys: [String], _ entity: String, _ property: String, isOwn: Bool
    ) -> [MappedPath] {
        var paths: [MappedPath] = []
        for key in keys {
            if let path = MappedPath(key) {
                paths.append(path)
            } else if isOwn {
                note(.wrongPath, "\"\(key)\" is not a valid path.", entity, property)
            }
        }
        return paths
    }

    /// The keys of a property: the declared ones, else those of the strategy.
    func keys(_ said: PropertyMapping, _ declared: EntityMapping, _ name: String, _ entity: String) -> [String] {
        guard said.keys.isEmpty else { return said.keys }
        // A name from the model is not parsed as a path.
        return (declared.keys ?? mapping.keys).keys(of: name, in: entity)
    }

    /// The declared elements of a composite attribute, in the order of their paths.
    mutating func elements(
        of attribute: GraphSchema.Attribute, _ declared: EntityMapping, _ entity: String, _ own: EntityMapping
    ) -> [ElementMappingPlan] {
        guard attribute.type == .composite else { return [] }
        var elements: [ElementMappingPlan] = []
        for (path, said) in declared.properties.sorted(by: { $0.key < $1.key }) {
            guard path.hasPrefix(attribute.name + "."), let element = element(path, of: attribute) else { continue }
            let isOwn = own.properties[path] != nil
            if isOwn, said.defaultValue != nil {
                note(.wrongType, "An element of a composite attribute cannot have a default.", entity, path)
            }
            let steps = path.split(separator: ".").dropFirst().map(String.init)
            var said = said
            if said.keys.isEmpty {
                // Inside the attribute's own value.
                let keys = keys(
                    declared.properties[attribute.name] ?? PropertyMapping(), declared, attribute.name, entity)
                said.keys = keys.map { ([$0] + steps).joined(separator: ".") }
            }
            if let plan = plan(for: element, said, declared, entity, name: path, isOwn: isOwn) {
                elements.append(ElementMappingPlan(path: steps, plan: plan))
            }
        }
        return elements
    }

    /// - Parameter path: The path of an element of a composite attribute; nil for an attribute of the entity.
    mutating func plan(
        for attribute: GraphSchema.Attribute, _ said: PropertyMapping, _ declared: EntityMapping, _ entity: String,
        name path: String? = nil, elements: [ElementMappingPlan] = [], isOwn: Bool
    ) -> AttributeMappingPlan? {
        let name = path ?? attribute.name
        let paths = paths(keys(said, declared, name, entity), entity, name, isOwn: isOwn)
        if isOwn {
            if !said.referenceKeys.isEmpty || said.identity != nil || said.isKeyed {
                note(
                    .wrongType, "Only relationships can have reference keys or an identity, or be keyed.", entity, name)
            }
            if said.dates != nil, attribute.type != .date {
                note(.wrongType, "Dates are declared for an attribute of type \(attribute.type.name).", entity, name)
            }
            if let value = said.defaultValue, !value.fits(attribute.type), attribute.type != .undefined {
                note(.wrongType, "The default is not a value of type \(attribute.type.name).", entity, name)
            }
        }
        let coder = attribute.type == .date ? (said.dates ?? mapping.dates).map(MappedDateCoder.init) : nil
        let functions = resolve(said.transformer, entity, name, isOwn: isOwn)
        guard said.direction != .none || !elements.isEmpty else { return nil }
        return AttributeMappingPlan(
            attribute: attribute, read: said.direction.isRead ? paths : [],
            write: said.direction.isWritten ? paths.first(where: \.isWritable) : nil, functions: functions,
            dates: coder, defaultValue: said.defaultValue, elements: elements)
    }

    mutating func plan(
        for relationship: GraphSchema.Relationship, _ said: PropertyMapping, _ declared: EntityMapping,
        _ entity: String, isOwn: Bool
    ) -> RelationshipMappingPlan? {
        let name = relationship.name
        let paths = paths(keys(said, declared, name, entity), entity, name, isOwn: isOwn)
        let references = self.paths(said.referenceKeys, entity, name, isOwn: isOwn)
        if isOwn {
            if said.dates != nil || said.defaultValue != nil {
                note(.wrongType, "A relationship cannot have dates or a default.", entity, name)
            }
            if said.isKeyed, !relationship.isToMany {
                note(.wrongType, "Only a to-many relationship can be keyed.", entity, name)
            }
            if let identity = said.identity, let destination = schema.entity(relationship.destination) {
                for part in identity where destination.attribute(part) == nil {
                    let advice = NameSuggestion.advice(for: part, in: destination.attributes.map(\.name))
                    note(
                        .unknownProperty,
                        "Its objects are identified by \"\(part)\", which \(destination.name) lacks.\(advice)",
                        entity, name)
                }
            }
        }
        let functions = resolve(said.transformer, entity, name, isOwn: isOwn)
        guard said.direction != .none else { return nil }
        let isWritten = said.direction.isWritten
        return RelationshipMappingPlan(
            relationship: relationship, read: said.direction.isRead ? paths : [],
            readReferences: said.direction.isRead ? references : [],
            write: isWritten ? paths.first(where: \.isWritable) : nil,
            writeReferences: isWritten ? references.first(where: \.isWritable) : nil, functions: functions,
            identity: said.identity, isKeyed: said.isKeyed)
    }

    mutating func resolve(
        _ transformer: MappedTransformer?, _ entity: String, _ property: String?, isOwn: Bool
    ) -> MappedFunctions? {
        switch transformer {
        case nil: return nil
        case .functions(let read, let write)?:
            return MappedFunctions(
                read: read.map { read in { try read($0) } }, write: write.map { write in { try write($0) } })
        case .named(let name)?:
            if let found = functions(name) { return found }
            if isOwn { noteUnknownTransformer(name, entity, property) }
            return nil
        }
    }

    mutating func noteUnknownTransformer(_ name: String, _ entity: String, _ property: String?) {
        note(.unknownTransformer, "No transformer \"\(name)\" is registered.", entity, property)
    }

    // MARK: - Writing

    /// Assigns each path to one property, the first by name, and reports properties whose path is inside the value of
    /// another.
    mutating func assignWrittenPaths(
        _ attributes: inout [AttributeMappingPlan], _ relationships: inout [RelationshipMappingPlan], of entity: String
    ) {
        var taken: [MappedPath: String] = [:]
        for index in attributes.indices {
            guard let path = attributes[index].write else { continue }
            if path.place == nil, taken[path] != nil {
                attributes[index].write = nil
            } else {
                taken[path] = attributes[index].attribute.name
            }
        }
        for index in attributes.indices {
            for place in attributes[index].elements.indices {
                guard let path = attributes[index].elements[place].plan.write else { continue }
                if taken[path] != nil {
                    attributes[index].elements[place].plan.write = nil
                } else {
                    taken[path] = attributes[index].attribute.name
                }
            }
        }
        for index in relationships.indices {
            guard let path = relationships[index].write else { continue }
            if taken[path] != nil {
                relationships[index].write = nil
            } else {
                taken[path] = relationships[index].relationship.name
            }
        }
        for attribute in attributes
        where attribute.attribute.type != .transformable && attribute.attribute.type != .composite {
            guard let path = attribute.write, path.place == nil else { continue }
            for (other, name) in taken
            where other.steps.count > path.steps.count && other.steps.starts(with: path.steps) {
                note(
                    .conflictingKeys, "\(name) would be written inside its value, at \"\(other.text)\".", entity,
                    attribute.attribute.name)
            }
        }
    }
}

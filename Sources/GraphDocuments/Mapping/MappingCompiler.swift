/// Compiles a mapping to plans, and collects its errors.
struct MappingCompiler {
    private let mapping: Mapping
    private let schema: GraphSchema
    private let identities: [String: [String]]
    private let functions: MappedFunctionLookup
    private(set) var mistakes: [MappingMistake] = []

    init(
        _ mapping: Mapping, schema: GraphSchema, identities: [String: [String]],
        functions: @escaping MappedFunctionLookup
    ) {
        self.mapping = mapping
        self.schema = schema
        self.identities = identities
        self.functions = functions
    }

    mutating func plans() -> [String: EntityMappingPlan] {
        checkNames()
        var plans: [String: EntityMappingPlan] = [:]
        for entity in schema.entities { plans[entity.name] = plan(for: entity) }
        return plans
    }

    mutating func rootPath() -> MappedPath? {
        guard let root = mapping.root else { return nil }
        guard let path = MappedPath(root), path.place == nil, path.isWritable else {
            note(.wrongPath, "The root \"\(root)\" is not a path of object members.", "", nil)
            return nil
        }
        return path
    }

    // MARK: - Names

    /// Checks for declarations of unknown entities and properties.
    private mutating func checkNames() {
        for (name, declared) in mapping.entities {
            guard let entity = schema.entity(name) else {
                let question = NameSuggestion.question(for: name, in: schema.entities.map(\.name))
                note(.unknownEntity, "The model has no entity \"\(name)\".\(question)", name, nil)
                continue
            }
            for property in declared.properties.keys where !isDeclared(property, in: entity) {
                let names = entity.attributes.map(\.name) + entity.relationships.map(\.name)
                let question = NameSuggestion.question(for: property, in: names)
                note(.unknownProperty, "Unknown property \"\(property)\".\(question)", name, property)
            }
            checkIdentity(declared.identity ?? [], of: entity, isWarning: false)
        }
    }

    /// Whether an entity has a property, or an element of a composite attribute, with that name.
    private func isDeclared(_ name: String, in entity: GraphSchema.Entity) -> Bool {
        if entity.property(name) != nil { return true }
        return entity.attributes.contains { name.hasPrefix($0.name + ".") && element(name, of: $0) != nil }
    }

    /// The element of a composite attribute at a path that begins with the attribute's name: `size.width`.
    private func element(_ path: String, of attribute: GraphSchema.Attribute) -> GraphSchema.Attribute? {
        var current = attribute
        for name in path.split(separator: ".", omittingEmptySubsequences: false).dropFirst() {
            guard let next = current.elements.first(where: { $0.name == name }) else { return nil }
            current = next
        }
        return current
    }

    private mutating func checkIdentity(_ names: [String], of entity: GraphSchema.Entity, isWarning: Bool) {
        for name in names {
            if entity.attribute(name) != nil { continue }
            if let relationship = entity.relationship(name), !relationship.isToMany { continue }
            let question = NameSuggestion.question(for: name, in: entity.attributes.map(\.name))
            note(
                .unknownProperty,
                "The identity contains \"\(name)\", which is not an attribute or to-one relationship.\(question)",
                entity.name, nil)
        }
    }

    private mutating func note(
        _ code: MappingMistake.Code, _ message: String, _ entity: String, _ property: String?
    ) {
        mistakes.append(MappingMistake(code, message, entity: entity, property: property))
    }

    // MARK: - Entities

    /// The entity and its ancestors, the topmost first.
    private func lineage(of entity: GraphSchema.Entity) -> [GraphSchema.Entity] {
        var lineage = [entity]
        while let parent = lineage[0].parent.flatMap(schema.entity), lineage.count <= schema.entities.count {
            lineage.insert(parent, at: 0)
        }
        return lineage
    }

    private mutating func plan(for entity: GraphSchema.Entity) -> EntityMappingPlan {
        let lineage = lineage(of: entity)
        var declared = EntityMapping()
        var documentKey: String?
        for ancestor in lineage {
            guard let said = mapping.entities[ancestor.name] else { continue }
            declared = declared.merging(said)
            documentKey = ancestor.name == entity.name ? said.documentKey : nil
        }
        /// Whether the declaration is this entity's own, so that its errors are reported once.
        let own = mapping.entities[entity.name] ?? EntityMapping()
        var attributes: [AttributeMappingPlan] = []
        for attribute in entity.attributes {
            let said = declared.properties[attribute.name]
            let elements = elements(of: attribute, declared, entity.name, own)
            if said == nil, declared.isOptIn == true, elements.isEmpty { continue }
            var property = said ?? PropertyMapping()
            if said == nil, declared.isOptIn == true { property.direction = .none }
            if let plan = plan(
                for: attribute, property, declared, entity.name, elements: elements,
                isOwn: own.properties[attribute.name] != nil)
            {
                attributes.append(plan)
            }
        }
        var relationships: [RelationshipMappingPlan] = []
        for relationship in entity.relationships {
            let said = declared.properties[relationship.name]
            if said == nil, declared.isOptIn == true { continue }
            if let plan = plan(
                for: relationship, said ?? PropertyMapping(), declared, entity.name,
                isOwn: own.properties[relationship.name] != nil)
            {
                relationships.append(plan)
            }
        }
        assignWrittenPaths(&attributes, &relationships, of: entity.name)
        let choice = choice(declared.choice, of: entity, isOwn: own.choice != nil)
        return EntityMappingPlan(
            entity, attributes: attributes, relationships: relationships,
            identity: declared.identity ?? identities[entity.name], documentKey: documentKey ?? entity.name,
            choose: choice.choose, choiceMark: choice.mark, choicePath: choice.path,
            functions: resolve(declared.transformer, entity.name, nil, isOwn: own.transformer != nil))
    }

    private mutating func choice(
        _ choice: EntityChoice?, of entity: GraphSchema.Entity, isOwn: Bool
    ) -> (choose: ((ReadableValue) throws -> String?)?, mark: (path: MappedPath, value: String)?, path: MappedPath?) {
        switch choice {
        case nil: return (nil, nil, nil)
        case .function(let function)?: return ({ function($0) }, nil, nil)
        case .named(let name)?:
            guard let found = functions(name) else {
                if isOwn { noteUnknownTransformer(name, entity.name, nil) }
                return (nil, nil, nil)
            }
            let choose: (ReadableValue) throws -> String? = { tree in
                guard case .value(.string(let name))? = try found.read?(tree) else { return nil }
                return name
            }
            return (choose, nil, nil)
        case .value(let key, let names)?:
            guard let path = MappedPath(key) else {
                if isOwn { note(.wrongPath, "\"\(key)\" is not a valid path.", entity.name, nil) }
                return (nil, nil, nil)
            }
            for name in names.values.sorted() where isOwn {
                guard schema.entity(name) != nil, schema.isEntity(name, kindOf: entity.name) else {
                    let question = NameSuggestion.question(for: name, in: schema.entities.map(\.name))
                    note(
                        .unknownEntity,
                        "The choice by \"\(key)\" contains \"\(name)\", which is not one of its entities.\(question)",
                        entity.name, nil)
                    continue
                }
            }
            let choose: (ReadableValue) throws -> String? = { tree in
                guard case .value(let value)? = tree.value(at: path.steps) else { return nil }
                return TextValue.text(of: value).flatMap { names[$0] }
            }
            let own = names.filter { $0.value == entity.name }.keys.sorted().first
            return (choose, path.isWritable ? own.map { (path, $0) } : nil, path)
        }
    }

    // MARK: - Properties

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
    private func keys(_ said: PropertyMapping, _ declared: EntityMapping, _ name: String, _ entity: String) -> [String]
    {
        guard said.keys.isEmpty else { return said.keys }
        // A name from the model is not parsed as a path.
        return (declared.keys ?? mapping.keys).keys(of: name, in: entity)
    }

    /// The declared elements of a composite attribute, in the order of their paths.
    private mutating func elements(
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
    private mutating func plan(
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

    private mutating func plan(
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
                    let question = NameSuggestion.question(for: part, in: destination.attributes.map(\.name))
                    note(
                        .unknownProperty,
                        "Its objects are identified by \"\(part)\", which \(destination.name) lacks.\(question)",
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

    private mutating func resolve(
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

    private mutating func noteUnknownTransformer(_ name: String, _ entity: String, _ property: String?) {
        note(.unknownTransformer, "No transformer \"\(name)\" is registered.", entity, property)
    }

    // MARK: - Writing

    /// Assigns each path to one property, the first by name, and reports properties whose path is inside the value of
    /// another.
    private mutating func assignWrittenPaths(
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

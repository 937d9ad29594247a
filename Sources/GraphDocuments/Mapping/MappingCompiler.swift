/// Compiles a mapping to plans, and collects its errors.
struct MappingCompiler {
    let mapping: Mapping
    let schema: GraphSchema
    private let identities: [String: [String]]
    let functions: MappedFunctionLookup
    var mistakes: [MappingMistake] = []

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
                note(.unknownEntity, NameSuggestion.noEntity(name, in: schema.entities.map(\.name)), name, nil)
                continue
            }
            for property in declared.properties.keys where !isDeclared(property, in: entity) {
                let names = entity.attributes.map(\.name) + entity.relationships.map(\.name)
                let advice = NameSuggestion.advice(for: property, in: names)
                note(.unknownProperty, "Unknown property \"\(property)\".\(advice)", name, property)
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
    func element(_ path: String, of attribute: GraphSchema.Attribute) -> GraphSchema.Attribute? {
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
            let advice = NameSuggestion.advice(for: name, in: entity.attributes.map(\.name))
            note(
                .unknownProperty,
                "The identity contains \"\(name)\", which is not an attribute or to-one relationship.\(advice)",
                entity.name, nil)
        }
    }

    mutating func note(
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

    mutating func plan(for entity: GraphSchema.Entity) -> EntityMappingPlan {
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
                    let advice = NameSuggestion.advice(for: name, in: schema.entities.map(\.name))
                    note(
                        .unknownEntity,
                        "The choice by \"\(key)\" contains \"\(name)\", which is not one of its entities.\(advice)",
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
}

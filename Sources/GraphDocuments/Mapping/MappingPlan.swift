/// A mapping that was checked against a schema, ready to read and write with.
///
/// Makes no use of what cannot be sent elsewhere but the functions of named transformers; make one where it is used.
public final class MappingPlan {
    /// The mapping that the plan was made of.
    public let mapping: Mapping
    /// The schema that it was checked against.
    public let schema: GraphSchema
    /// What is not as it should be, and does not hinder.
    public let warnings: [MappingMistake]
    private let entities: [String: EntityMappingPlan]
    private let entitiesByDocumentKey: [String: EntityMappingPlan]
    let root: MappedPath?

    /// Checks a mapping and makes it ready. Cost: a step for each property of each entity.
    ///
    /// - Parameter identities: For each entity the properties that identify an object, where the mapping does not say it.
    /// - Parameter functions: Finds transformers by name.
    ///
    /// Throws `MappingError` with all mistakes.
    public init(
        _ mapping: Mapping, schema: GraphSchema, identities: [String: [String]] = [:],
        functions: @escaping MappedFunctionLookup = { _ in nil }
    ) throws {
        self.mapping = mapping
        self.schema = schema
        var compiler = MappingCompiler(mapping, schema: schema, identities: identities, functions: functions)
        let plans = compiler.plans()
        root = compiler.rootPath()
        let mistakes = compiler.mistakes.sorted {
            ($0.entity, $0.property ?? "", $0.message) < ($1.entity, $1.property ?? "", $1.message)
        }
        guard mistakes.allSatisfy(\.isWarning) else { throw MappingError(mistakes) }
        warnings = mistakes
        entities = plans
        var byKey: [String: EntityMappingPlan] = [:]
        for plan in plans.values.sorted(by: { $0.name < $1.name }) where byKey[plan.documentKey] == nil {
            byKey[plan.documentKey] = plan
        }
        entitiesByDocumentKey = byKey
        for plan in plans.values.sorted(by: { $0.name < $1.name }) {
            // A chain of parents is no longer than there are entities, unless it is a circle.
            var parent = plan.entity.parent
            for _ in schema.entities {
                guard let name = parent, let ancestor = plans[name] else { break }
                ancestor.adopt(plan)
                parent = ancestor.entity.parent
            }
        }
    }

    func entity(_ name: String) -> EntityMappingPlan? { entities[name] }
    func entity(documentKey: String) -> EntityMappingPlan? { entitiesByDocumentKey[documentKey] }

    /// The properties that identify an entity's objects, for the mapping or for whoever made the plan.
    public func identity(of entity: String) -> [String]? { entities[entity]?.identity }

    /// Whether documents of the mapping hold a relationship, so that writers need follow it.
    public func writes(_ relationship: String, of entity: String) -> Bool {
        guard let plan = entities[entity]?.relationship(relationship) else { return false }
        return plan.write != nil || plan.writeReferences != nil
    }

    /// The attributes that an entity's key is made of in the end, relationships followed; nil where there is no such key.
    func keyLeaves(of entity: String, generation: Int = 0) -> [AttributeMappingPlan]? {
        // A key that leads through more entities than there are leads in a circle.
        guard generation <= entities.count, let plan = entities[entity], let identity = plan.identity, !identity.isEmpty
        else { return nil }
        var leaves: [AttributeMappingPlan] = []
        for name in identity {
            if let attribute = plan.attribute(name) {
                leaves.append(attribute)
            } else if let relationship = plan.entity.relationship(name),
                let more = keyLeaves(of: relationship.destination, generation: generation + 1)
            {
                leaves += more
            } else {
                return nil
            }
        }
        return leaves
    }
}

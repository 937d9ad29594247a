/// A mapping that was checked against a schema and compiled for reading and writing.
///
/// Not `Sendable`, because of the functions of named transformers; create a plan where it is used.
package final class MappingPlan {
    /// The mapping of the plan.
    package let mapping: Mapping
    /// The schema of the plan.
    package let schema: GraphSchema
    /// The warnings about the mapping.
    package let warnings: [MappingMistake]
    private let entities: [String: EntityMappingPlan]
    private let entitiesByDocumentKey: [String: EntityMappingPlan]
    let root: MappedPath?

    /// Checks and compiles a mapping. Cost: a step for each property of each entity.
    ///
    /// - Parameter identities: For each entity the properties that identify an object, if the mapping does not
    ///   declare them.
    /// - Parameter functions: Finds transformers by name.
    ///
    /// Throws `MappingError` with all errors.
    package init(
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
            // The loop is bounded by the number of entities, in case the parents form a cycle.
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

    /// The properties that identify an entity's objects, from the mapping or from `identities`.
    package func identity(of entity: String) -> [String]? { entities[entity]?.identity }

    /// Whether documents of the mapping contain a relationship, so that writers must follow it.
    package func writes(_ relationship: String, of entity: String) -> Bool {
        guard let plan = entities[entity]?.relationship(relationship) else { return false }
        return plan.write != nil || plan.writeReferences != nil
    }

    /// The attributes of an entity's key with relationships resolved; nil if there is no such key.
    func keyLeaves(of entity: String, generation: Int = 0) -> [AttributeMappingPlan]? {
        // A key that passes more entities than there are contains a cycle.
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

import Coral
import SwiftData

/// The rules of the models of a schema, in the form that each task of the toolkit takes.
struct ToolkitRules {
    private(set) var keys: [String: [String]] = [:]
    private var newer: [String: String] = [:]
    private var policies: [String: RelationshipImportPolicy] = [:]
    private var shapes: [String: RelationshipRule] = [:]
    private var copies: [String: RelationshipRule] = [:]
    private var excluded: [String] = []
    private var renewed: [String: @Sendable () -> Any] = [:]

    /// Reads the rules of all classes, and checks them.
    ///
    /// - Throws: ``ModelToolkitError`` with every rule that does not fit.
    init(_ schema: Schema) throws {
        var mistakes: [ModelToolkitError] = []
        for type in schema.modelTypes {
            if let ruled = type as? any RuledModel.Type { mistakes += add(ruled) }
        }
        guard let first = mistakes.first else { return }
        if mistakes.count == 1 { throw first }
        throw ModelToolkitError(.wrongRule, mistakes.map(\.description).joined(separator: " "))
    }

    /// Adds the rules of a class. Returns those that do not fit.
    private mutating func add<Ruled: RuledModel>(_ type: Ruled.Type) -> [ModelToolkitError] {
        // A subclass inherits the conformance of its superclass, whose rules apply to it anyway.
        guard ObjectIdentifier(type) == ObjectIdentifier(Ruled.RuledType.self) else { return [] }
        let entity = Schema.entityName(for: type)
        var mistakes: [ModelToolkitError] = []
        for rule in Ruled.toolkitRules.rules {
            do {
                try add(rule, of: entity)
            } catch {
                mistakes.append(error)
            }
        }
        return mistakes
    }

    private mutating func add<Model>(_ rule: ModelRule<Model>, of entity: String) throws(ModelToolkitError) {
        var names: [String] = []
        for keyPath in rule.keyPaths {
            guard let property = Model.persistedProperty(at: keyPath) else {
                throw ModelToolkitError(
                    .wrongRule, "A rule of \(entity) has the key path of no persisted property.", at: entity)
            }
            try check(property, rule.kind, at: "\(entity).\(property.name)")
            names.append(property.name)
        }
        let path = "\(entity).\(names.first ?? "")"
        switch rule.kind {
        case .key:
            guard !names.isEmpty else { throw ModelToolkitError(.wrongRule, "The key has no properties.", at: entity) }
            keys[entity] = names
        case .copy(let rule): copies[path] = rule
        case .exclude: excluded.append(path)
        case .renew(let value): renewed[path] = value
        case .shape(let rule): shapes[path] = rule
        case .members(let policy): policies[path] = policy
        case .newer: newer[entity] = names.first
        }
    }

    private func check<Model>(
        _ property: PersistedProperty, _ kind: ModelRule<Model>.Kind, at place: String
    ) throws(ModelToolkitError) {
        let problem: String? =
            switch kind {
            case .key where property.isToMany: "A to-many relationship cannot be a part of a key."
            case .copy where !property.isRelationship, .shape where !property.isRelationship:
                "The rule is about relationships, and this is an attribute."
            case .members where !property.isToMany: "The rule is about to-many relationships."
            case .newer where property.isRelationship: "The rule is about attributes, and this is a relationship."
            default: nil
            }
        if let problem { throw ModelToolkitError(.wrongRule, problem, at: place) }
    }

    // MARK: - Applying

    /// Whether there are rules of shapes, which the header of a document cannot state.
    var hasShapes: Bool { !shapes.isEmpty }

    func applied(to options: ImportOptions) -> ImportOptions {
        var options = options
        options.identity.keys.merge(keys) { given, _ in given }
        options.newerAttributes.merge(newer) { given, _ in given }
        options.relationshipPolicies.merge(policies) { given, _ in given }
        return options
    }

    func applied(to shape: GraphShape) -> GraphShape {
        var shape = shape
        for (path, rule) in shapes where !shape.hasRule(for: path) { shape.set(path, rule) }
        return shape
    }

    /// A copier with the rules of the classes, for what code does not set.
    func copier(_ shape: GraphShape, _ rules: CopyRules) -> GraphCopier {
        var (shape, rules) = (shape, rules)
        for path in excluded where !shape.hasRule(for: path) && !rules.hasRule(for: path) { shape.exclude(path) }
        for (path, rule) in copies where !shape.hasRule(for: path) { shape.set(path, rule) }
        for (path, value) in renewed where !rules.hasRule(for: path) && !shape.hasRule(for: path) {
            rules.setValue(path) { _, _ in value() }
        }
        return GraphCopier(shape: applied(to: shape), rules: rules)
    }
}

import PredicateLanguage

/// The kind of values that an expression of a fetch has, where the model determines it.
struct ComparedKind {
    let kind: ValueKind
    /// Whether the expression has several values: its key path passes a to-many relationship.
    var isMany = false
}

/// Determines the kinds of expressions over the objects of an entity.
struct ComparedKinds {
    let entity: NSEntityDescription
    /// The entities of the variables of the enclosing subqueries.
    var variables: [String: NSEntityDescription] = [:]

    /// The kind of an expression; nil where the model does not determine it.
    func kind(of expression: ExpressionNode) -> ComparedKind? {
        switch expression {
        case .evaluatedObject: ComparedKind(kind: .object)
        case .variable(let name): variables[name].map { _ in ComparedKind(kind: .object) }
        case .keyPath(let base, let keys): kind(of: keys, from: base)
        case .element(_, .size): ComparedKind(kind: .number)
        case .element(let collection, _): kind(of: collection).map { ComparedKind(kind: $0.kind) }
        case .subquery: ComparedKind(kind: .object, isMany: true)
        case .function(let name, let arguments): kind(ofFunction: name, arguments)
        case .constant, .aggregate, .conditional, .call, .setOperation, .fetch, .anyKey, .opaque: nil
        }
    }

    /// The entity of the objects that an expression has as values; nil for other values.
    func entity(of expression: ExpressionNode) -> NSEntityDescription? {
        switch expression {
        case .evaluatedObject: entity
        case .variable(let name): variables[name]
        case .element(let collection, let index):
            if case .size = index { nil } else { entity(of: collection) }
        case .subquery(let collection, _, _): entity(of: collection)
        case .keyPath(let base, let keys):
            entity(of: base).flatMap { Self.walk(keys, from: $0) }.flatMap { $0.property == nil ? $0.entity : nil }
        default: nil
        }
    }

    private func kind(ofFunction name: String, _ arguments: [ExpressionNode]) -> ComparedKind? {
        switch name {
        case "uppercase:", "lowercase:", "canonical:": ComparedKind(kind: .text)
        case "now": ComparedKind(kind: .date)
        case "length:", "count:", "sum:", "average:", "multiply:by:", "divide:by:", "abs:": ComparedKind(kind: .number)
        case "add:to:", "from:subtract:": kind(ofDateArithmetic: name, arguments).map { ComparedKind(kind: $0) }
        case "min:", "max:": arguments.first.flatMap { kind(of: $0) }.map { ComparedKind(kind: $0.kind) }
        default: nil
        }
    }

    /// The kind of a sum or a difference: that of a date and a number is a date, all others are numbers. Nil if the kind of
    /// an operand is not known, and could be a date.
    private func kind(ofDateArithmetic name: String, _ operands: [ExpressionNode]) -> ValueKind? {
        let kinds = operands.map { operand -> ValueKind? in
            guard let constant = operand.constantValue else { return kind(of: operand)?.kind }
            if case .date = constant { return .date }
            return .number
        }
        guard kinds.contains(where: { $0 == .date }) else {
            return kinds.contains(where: { $0 == nil }) ? nil : .number
        }
        if name == "add:to:" { return .date }
        return kinds.contains(where: { $0 == nil }) ? nil : kinds.allSatisfy { $0 == .date } ? .number : .date
    }

    private func kind(of keys: [String], from base: ExpressionNode) -> ComparedKind? {
        guard let start = entity(of: base), let end = Self.walk(keys, from: start) else { return nil }
        if end.isNumber { return ComparedKind(kind: .number) }
        var isMany = end.isMany
        if case .subquery = base { isMany = true }
        guard let property = end.property else { return ComparedKind(kind: .object, isMany: isMany) }
        return ValueKind(property).map { ComparedKind(kind: $0, isMany: isMany) }
    }

    /// Where a key path ends.
    private struct End {
        var entity: NSEntityDescription
        /// The attribute; nil if the path ends at objects.
        var property: NSAttributeDescription?
        var isMany = false
        /// Whether the path ends with a number that is computed from its values.
        var isNumber = false
    }

    /// Follows a key path; nil where a key is not in the model, or reads a property of a value.
    private static func walk(_ keys: [String], from start: NSEntityDescription) -> End? {
        var end = End(entity: start)
        for key in keys {
            // Most keys are properties: comparing texts costs more than looking one up.
            if end.property == nil, let property = end.entity.propertiesByName[key] {
                switch property {
                case let attribute as NSAttributeDescription: end.property = attribute
                case let relationship as NSRelationshipDescription:
                    guard let destination = relationship.destinationEntity else { return nil }
                    end.entity = destination
                    end.isMany = end.isMany || relationship.isToMany
                default: return nil
                }
                continue
            }
            switch key {
            case "self", "SELF", "@firstObject", "@lastObject": continue
            case "@count": return End(entity: end.entity, isNumber: true)
            case "@sum", "@avg": end.isNumber = true
            case "@min", "@max", "objectID": end.isMany = false
            case _ where key.hasPrefix("@"): end.isMany = true
            default:
                guard let composite = end.property as? NSCompositeAttributeDescription,
                    let element = composite.elements.first(where: { $0.name == key })
                else { return nil }
                end.property = element
            }
        }
        return end
    }
}

extension ValueKind {
    /// The kind of an attribute's values; nil for composites, transformables and attributes without a type.
    init?(_ attribute: NSAttributeDescription) {
        switch EntityLayout.Slot.Kind(attribute.attributeType) {
        case .integer16, .integer32, .integer64, .boolean, .double, .float, .decimal: self = .number
        case .string: self = .text
        case .date: self = .date
        case .uuid: self = .uuid
        case .uri: self = .url
        case .data: self = .data
        case .transformable, .undefined, .toOne, .position: return nil
        }
    }
}

extension EntityLayout.Slot.Kind {
    /// Whether values of the kind can be indexed: two of them are equal in a predicate only if they are equal as `PredicateValue`,
    /// and they change only by being set.
    package var isIndexable: Bool {
        switch self {
        case .integer16, .integer32, .integer64, .boolean, .double, .float, .date, .decimal, .string, .data, .uuid: true
        case .uri, .transformable, .undefined, .toOne, .position: false
        }
    }
}

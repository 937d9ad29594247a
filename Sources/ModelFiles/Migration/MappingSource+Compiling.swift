import Foundation
import KeyedArchives
import PredicateLanguage

extension MappingSource {
    /// The entity mappings in the compiled form, which `MappingArchive` writes as a `.cdm`.
    ///
    /// Values that the editor does not save are generated as Xcode does: the name, the type, the source instances, and
    /// the values of properties without an expression. The rules were derived from a mapping model and its compilation by
    /// Xcode.
    ///
    /// - Throws: ``ModelError`` if an entity or a model does not exist, or an expression cannot be read.
    public func compiled() throws -> [MappingArchive.Entity] {
        let models = try models()
        let compilation = MappingCompilation(self, from: models.source, to: models.destination)
        return try entities.map(compilation.entity)
    }

    /// The file of the compiled form, a `.cdm`. Throws as ``compiled()`` does.
    public func compiledData() throws -> Data {
        try ModelArchive.reportingErrors(in: url.path) { try MappingArchive.data(of: compiled()) }
    }
}

private struct MappingCompilation {
    private let mapping: MappingSource
    private let old: ModelInheritance
    private let new: ModelInheritance
    private let models: (old: Model, new: Model)
    private let hashes: (old: [String: Data], new: [String: Data])

    init(_ mapping: MappingSource, from old: Model, to new: Model) {
        self.mapping = mapping
        self.old = ModelInheritance(old)
        self.new = ModelInheritance(new)
        models = (old, new)
        hashes = (VersionHash(old).entityHashes, VersionHash(new).entityHashes)
    }

    func entity(_ entity: MappingSource.Entity) throws -> MappingArchive.Entity {
        if let name = entity.sourceName { try requireEntity(name, hashes.old, "source") }
        if let name = entity.destinationName { try requireEntity(name, hashes.new, "destination") }
        return MappingArchive.Entity(
            name: Self.name(of: entity), type: type(of: entity), sourceName: entity.sourceName,
            sourceHash: entity.sourceName.flatMap { hashes.old[$0] }, destinationName: entity.destinationName,
            destinationHash: entity.destinationName.flatMap { hashes.new[$0] },
            source: entity.sourceName.map(Self.instances), policyClassName: entity.policyClassName,
            attributes: try entity.attributes.map { try attribute($0, of: entity) },
            relationships: try entity.relationships.map { try relationship($0, of: entity) }, userInfo: [:])
    }

    private func requireEntity(_ name: String, _ hashes: [String: Data], _ side: String) throws {
        guard hashes[name] == nil else { return }
        throw ModelError(
            .unknownEntity, "The \(side) model has no entity '\(name)'.", file: mapping.url.path, entity: name)
    }

    private static func name(of entity: MappingSource.Entity) -> String {
        if let name = entity.name { return name }
        guard let source = entity.sourceName, let destination = entity.destinationName else {
            return entity.destinationName ?? entity.sourceName ?? ""
        }
        return "\(source)To\(destination)"
    }

    /// The number of an `NSEntityMappingType`.
    private func type(of entity: MappingSource.Entity) -> UInt {
        if entity.policyClassName != nil { return 1 }
        guard let source = entity.sourceName else { return 2 }
        guard let destination = entity.destinationName else { return 3 }
        return hashes.old[source] == hashes.new[destination] || copiesAttributes(entity, source, destination) ? 4 : 5
    }

    /// Whether both entities have the same attributes, and none has an expression of its own. Xcode's compilation gives such a
    /// mapping the type of a copy, although the version hashes differ.
    private func copiesAttributes(_ entity: MappingSource.Entity, _ source: String, _ destination: String) -> Bool {
        func types(_ attributes: [ModelAttribute]) -> [String: ModelAttributeType] {
            Dictionary(
                attributes.filter { !$0.isTransient }.map { ($0.name, $0.type) },
                uniquingKeysWith: { first, _ in first })
        }
        return types(old.attributes(of: source)) == types(new.attributes(of: destination))
            && entity.attributes.allSatisfy { $0.expression == nil }
    }

    /// All objects of the source entity.
    private static func instances(of entity: String) -> ExpressionNode {
        .fetch(
            request: .call(
                receiver: .variable("manager"), selector: "fetchRequestForSourceEntityNamed:predicateString:",
                arguments: [.constant(value: entity), .constant(value: "TRUEPREDICATE")]),
            context: .keyPath(base: .variable("manager"), keys: ["sourceContext"]), countOnly: false)
    }

    // MARK: - Properties

    private func attribute(
        _ property: MappingSource.Property, of entity: MappingSource.Entity
    ) throws -> MappingArchive.Property {
        var value = try expression(of: property)
        if value == nil, let source = entity.sourceName,
            old.attributes(of: source).contains(where: { $0.name == property.name && !$0.isTransient })
        {
            value = Self.sourceValue(property.name)
        }
        return .init(name: property.name, value: value, userInfo: [:])
    }

    private func relationship(
        _ property: MappingSource.Property, of entity: MappingSource.Entity
    ) throws -> MappingArchive.Property {
        var value = try expression(of: property)
        if value == nil, let keyPath = property.sourceKeyPath, let name = property.sourceMappingName {
            value = Self.instances(ofMapping: name, for: try Self.parsed(keyPath, file: mapping.url.path))
        }
        if value == nil { value = generatedValue(of: property.name, entity) }
        return .init(name: property.name, value: value, userInfo: [:])
    }

    /// The value of a relationship without an expression: the destination instances that the only fitting mapping of the
    /// destination entity creates, or, if several mappings fit, those that any of them creates. Nil if no mapping fits.
    private func generatedValue(of name: String, _ entity: MappingSource.Entity) -> ExpressionNode? {
        guard let source = entity.sourceName, let destination = entity.destinationName,
            let before = old.relationships(of: source).first(where: { $0.name == name }),
            let after = new.relationships(of: destination).first(where: { $0.name == name }),
            let oldTarget = before.destinationName, let newTarget = after.destinationName
        else { return nil }
        let fitting = mapping.entities.filter { candidate in
            guard let from = candidate.sourceName, let to = candidate.destinationName else { return false }
            return old.lineage(of: from).contains { $0.name == oldTarget }
                && new.lineage(of: to).contains { $0.name == newTarget }
        }
        guard let first = fitting.first else { return nil }
        let members = Self.sourceValue(name)
        if fitting.count == 1 { return Self.instances(ofMapping: Self.name(of: first), for: members) }
        return .call(
            receiver: .variable("manager"),
            selector: "destinationInstancesForSourceRelationshipNamed:sourceInstances:",
            arguments: [.constant(value: name), members])
    }

    private static func instances(ofMapping name: String, for members: ExpressionNode) -> ExpressionNode {
        .call(
            receiver: .variable("manager"), selector: "destinationInstancesForEntityMappingNamed:sourceInstances:",
            arguments: [.constant(value: name), members])
    }

    private static func sourceValue(_ name: String) -> ExpressionNode {
        .keyPath(base: .variable("source"), keys: [name])
    }

    private func expression(of property: MappingSource.Property) throws -> ExpressionNode? {
        guard let data = property.expression else { return nil }
        return try ModelArchive.reportingErrors(in: mapping.url.path) {
            let reader = PredicateArchiveReader(budget: ReadingBudget(byteCount: data.count))
            return try KeyedArchive(data: data).root.map { try reader.expression($0) }
        }
    }

    private static func parsed(_ text: String, file: String) throws -> ExpressionNode {
        do {
            return try PredicateParser.parseExpression(text)
        } catch {
            throw ModelError(.invalidPredicate, "The key path '\(text)' cannot be read.", file: file)
        }
    }
}

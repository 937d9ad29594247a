import Foundation
import ManagedObjects
import PredicateLanguage
import SQLStatements
import SQLStores

extension StoreExamination {
    /// The statements of the fetch request templates of the store's model, in the order of their names. A template whose predicate
    /// cannot be stated in SQL has the statement that reads the rows for which it is evaluated.
    ///
    /// Variables get a value of the type that they are compared with: a plan depends on the columns, and not on the values.
    package static func templateStatements(
        ofStoreAt url: URL, in context: NSManagedObjectContext
    ) throws -> [Statement] {
        guard let coordinator = context.coordinator, let store = coordinator.persistentStore(for: url) as? SQLiteStore
        else { return [] }
        let content = try store.content()
        let templates = coordinator.managedObjectModel.fetchRequestTemplatesByName.sorted { $0.key < $1.key }
        return templates.compactMap { name, template -> Statement? in
            var request = (template as any FetchRequesting).specification
            guard let entity = try? request.entity(in: content.model),
                let sqlEntity = content.schema.entity(entity)
            else { return nil }
            if let predicate = request.predicate {
                let values = SampleValues(predicate.embeddedNode, entity: entity) { destination in
                    coordinator.objectID(
                        for: ObjectKey(store: store.number, entity: UInt16(destination.index), number: 1))
                }
                request.predicate = .predicate(
                    stating: predicate.embeddedNode.substitutingVariables(values.byVariable))
            }
            let query = request.rowQuery(entity: entity)
            let plan = content.plans.plan(for: sqlEntity, includesSubentities: query.includesSubentities)
            // A template that the model does not fit has no statement, and is an error when it is executed.
            guard
                let compiled = try? content.compiler.compileRows(query, selecting: .all(plan), store: store.number)
            else { return nil }
            switch compiled {
            case .statement(let statement): return Statement(statement.sql, template: name)
            case .divided(let division):
                let rows = try? content.compiler.rows(division.stored, selecting: .all(plan), store: store.number)
                return rows.map { Statement($0.sql, template: name) }
            }
        }
    }
}

/// A value for each variable of a predicate, of the type of the property that it is compared with.
private struct SampleValues {
    private(set) var byVariable: [String: Any?] = [:]
    private let entity: NSEntityDescription
    private let object: (NSEntityDescription) -> NSManagedObjectID

    init(
        _ predicate: PredicateNode, entity: NSEntityDescription,
        object: @escaping (NSEntityDescription) -> NSManagedObjectID
    ) {
        (self.entity, self.object) = (entity, object)
        predicate.walk { node in
            guard case .predicate(.comparison(let comparison)) = node else { return }
            add(comparison.right, comparedWith: comparison.left, comparison)
            add(comparison.left, comparedWith: comparison.right, comparison)
        }
    }

    private mutating func add(
        _ side: ExpressionNode, comparedWith other: ExpressionNode, _ comparison: ComparisonNode
    ) {
        guard let value = value(of: other) else { return }
        switch side {
        case .variable(let name):
            let list: [Any] = [value, value]
            // The right side of these is a list.
            byVariable[name] = [.in, .between].contains(comparison.operation) ? list : value
        case .aggregate(let elements):
            for case .variable(let name) in elements { byVariable[name] = value }
        default: return
        }
    }

    /// A value of the property that a key path leads to. Nil if the expression is another one.
    private func value(of expression: ExpressionNode) -> Any? {
        guard case .keyPath(base: .evaluatedObject, let keys) = expression else { return nil }
        var entity: NSEntityDescription? = entity
        for (index, key) in keys.enumerated() {
            let property = entity?.propertiesByName[key]
            if let relationship = property as? NSRelationshipDescription {
                entity = relationship.destinationEntity
                if index == keys.count - 1 { return entity.map(object) }
            } else if let attribute = property as? NSAttributeDescription {
                return Self.value(of: attribute.attributeType)
            }
        }
        return nil
    }

    private static func value(of type: NSAttributeType) -> Any? {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: 1
        case .doubleAttributeType, .floatAttributeType: 1.5
        case .decimalAttributeType: Decimal(1)
        case .booleanAttributeType: true
        case .stringAttributeType: "a"
        case .dateAttributeType: Date(timeIntervalSinceReferenceDate: 0)
        case .UUIDAttributeType: UUID()
        case .URIAttributeType: URL(string: "https://example.com")
        case .binaryDataAttributeType: Data([1])
        default: nil
        }
    }
}

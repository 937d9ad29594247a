import Foundation
import KeyedArchives
import PredicateLanguage

// Fetch requests and fetch indexes.

extension ModelArchiveWriter {
    mutating func fetchRequestTemplates() throws -> PropertyListValue {
        guard form == .compiled, !model.fetchRequestTemplates.isEmpty else { return KeyedArchiveBuilder.null }
        var pairs: [(key: PropertyListValue, value: PropertyListValue)] = []
        for template in model.fetchRequestTemplates {
            pairs.append((builder.add(string: template.name), try add(template.fetchRequest)))
        }
        return builder.add(dictionary: pairs, isMutable: true)
    }

    mutating func add(_ request: ModelFetchRequest) throws -> PropertyListValue {
        if let name = request.entityName, entityReferences[name] == nil {
            throw ModelError(.unknownEntity, "The fetch request's entity '\(name)' does not exist.")
        }
        var flags = 0
        if request.returnsDistinctResults { flags |= FetchRequestFlags.returnsDistinctResults }
        if request.includesSubentities { flags |= FetchRequestFlags.includesSubentities }
        if request.includesPropertyValues { flags |= FetchRequestFlags.includesPropertyValues }
        if request.returnsObjectsAsFaults { flags |= FetchRequestFlags.returnsObjectsAsFaults }
        if request.includesPendingChanges { flags |= FetchRequestFlags.includesPendingChanges }
        var sortDescriptors: [PropertyListValue] = []
        for descriptor in request.sortDescriptors {
            let key = builder.add(string: descriptor.key)
            let selector = builder.add(string: descriptor.selectorName)
            sortDescriptors.append(
                builder.add(
                    classChain: ["NSSortDescriptor", "NSObject"],
                    fields: PropertyListDictionary([
                        ("NSKey", key), ("NSAscending", .boolean(descriptor.isAscending)), ("NSSelector", selector),
                        ("NSReverseNullOrder", .boolean(false)),
                    ])))
        }
        func array(_ names: [String], _ builder: inout KeyedArchiveBuilder) -> PropertyListValue {
            names.isEmpty
                ? KeyedArchiveBuilder.null : builder.add(array: names.map { builder.add(string: $0) })
        }
        let predicate = try request.predicate.map { try builder.add(predicate: $0) }
        let having = try request.havingPredicate.map { try builder.add(predicate: $0) }
        let fields = PropertyListDictionary([
            ("NSEntity", reference(to: request.entityName)),
            ("NSPredicate", predicate ?? KeyedArchiveBuilder.null),
            (
                "NSSortDescriptors",
                sortDescriptors.isEmpty ? KeyedArchiveBuilder.null : builder.add(array: sortDescriptors)
            ),
            ("NSFetchLimit", .integer(Int64(request.fetchLimit))),
            ("NSFetchOffset", .integer(Int64(request.fetchOffset))),
            ("NSBatchSize", .integer(Int64(request.fetchBatchSize))),
            ("NSResultType", .integer(Int64(request.resultType.rawValue))),
            ("NSFetchRequestFlags", .integer(Int64(flags))), ("NSHasFetchRequestFlags", .boolean(true)),
            ("NSAllocationType", .integer(0)), ("NSHavingPredicate", having ?? KeyedArchiveBuilder.null),
            (
                "NSRelationshipKeyPathsForPrefetching", array(request.relationshipKeyPathsForPrefetching, &builder)
            ),
            ("NSValuesToFetch", array(request.propertiesToFetch, &builder)),
            ("NSValuesToGroupBy", array(request.propertiesToGroupBy, &builder)),
        ])
        return builder.add(classChain: ["NSFetchRequest", "NSPersistentStoreRequest", "NSObject"], fields: fields)
    }

    mutating func add(_ index: ModelFetchIndex, of entity: ModelEntity) throws -> PropertyListValue {
        let reference = builder.reserve()
        var elements: [PropertyListValue] = []
        for element in index.elements {
            var fields = PropertyListDictionary([
                ("NSFetchIndexElementType", .integer(Int64(element.collation.rawValue))),
                ("NSAscending", .boolean(element.isAscending)), ("NSFetchIndexDescription", reference),
            ])
            switch element.target {
            case .property(let name): fields["NSPropertyName"] = builder.add(string: name)
            case .expression(let expression, let type, let name):
                expressionCount += 1
                let name = builder.add(string: name ?? "expression\(expressionCount)")
                fields["NSPropertyName"] = name
                fields["NSIndexedProperty"] = try add(expression, type: type, name: name)
            }
            elements.append(
                builder.add(classChain: ["NSFetchIndexElementDescription", "NSObject"], fields: fields))
        }
        let predicate = try index.partialIndexPredicate.map { try builder.add(predicate: $0) }
        let fields = PropertyListDictionary([
            ("NSIndexName", builder.add(string: index.name)), ("NSEntity", self.reference(to: entity.name)),
            ("NSIndexElements", builder.add(array: elements)),
            ("NSPartialIndexPredicate", predicate ?? KeyedArchiveBuilder.null),
        ])
        builder.fill(reference, classChain: ["NSFetchIndexDescription", "NSObject"], fields: fields)
        return reference
    }

    /// The description of an indexed expression: an optional, read-only property of no entity.
    mutating func add(
        _ expression: ExpressionNode, type: ModelAttributeType, name: PropertyListValue
    ) throws -> PropertyListValue {
        let archived = try builder.add(expression: expression)
        let flags =
            PropertyFlags.always + PropertyFlags.isOptional + PropertyFlags.isReadOnly + PropertyFlags.hasNoValidation
            + PropertyFlags.hasNoUserInfo + PropertyFlags.hasNoVersionHashModifier
        return builder.add(
            classChain: ["NSExpressionDescription", "NSPropertyDescription", "NSObject"],
            fields: PropertyListDictionary([
                ("_P", .integer(Int64(flags))), ("NSPropertyName", name), ("NSRenamingIdentifier", name),
                ("NSEntity", KeyedArchiveBuilder.null), ("NSIsOptional", .boolean(true)),
                ("NSIsReadOnly", .boolean(true)), ("NSExpression", archived),
                ("NSExpressionType", .integer(Int64(type.rawValue))),
            ]))
    }
}

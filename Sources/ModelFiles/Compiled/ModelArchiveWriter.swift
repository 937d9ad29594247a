import Foundation
import KeyedArchives
import PredicateLanguage

/// Writes the archive of an `NSManagedObjectModel`. Entities and properties refer to each other in cycles, so all of
/// them have their indexes before any is filled in.
struct ModelArchiveWriter {
    private let model: Model
    private let form: ModelArchive.Form
    private let inheritance: ModelInheritance
    private var builder = KeyedArchiveBuilder()
    private var root: PropertyListValue
    private var entityReferences: [String: PropertyListValue] = [:]
    private var propertyReferences: [String: [String: PropertyListValue]] = [:]
    private var emptyDictionary: PropertyListValue
    /// The number of indexed expressions so far; they are named by their number.
    private var expressionCount = 0

    init(_ model: Model, form: ModelArchive.Form) {
        self.model = model
        self.form = form
        inheritance = ModelInheritance(model)
        root = builder.reserve()
        emptyDictionary = builder.add(dictionary: [])
        for entity in model.entities {
            entityReferences[entity.name] = builder.reserve()
            var references: [String: PropertyListValue] = [:]
            for name in Self.propertyNames(of: entity, in: inheritance, form) { references[name] = builder.reserve() }
            propertyReferences[entity.name] = references
        }
    }

    /// The names of the properties that are written for an entity, sorted.
    private static func propertyNames(
        of entity: ModelEntity, in inheritance: ModelInheritance, _ form: ModelArchive.Form
    ) -> [String] {
        let owners = form == .cached ? inheritance.lineage(of: entity.name) : [entity]
        return Set(owners.flatMap { $0.properties.map(\.name) }).sorted()
    }

    mutating func write() throws -> Data {
        for entity in model.entities {
            do {
                try write(entity)
            } catch var error as ModelError {
                error.entity = error.entity ?? entity.name
                error.file = error.file ?? entity.position.file
                error.line = error.line ?? entity.position.line
                throw error
            }
        }
        var fields = PropertyListDictionary()
        fields["NSEntities"] = dictionary(model.entities.map { ($0.name, reference(to: $0.name)) })
        fields["NSFetchRequestTemplates"] = try fetchRequestTemplates()
        fields["NSVersionIdentifiers"] = builder.add(
            set: model.versionIdentifiers.sorted().map { builder.add(string: $0) })
        if !model.configurations.isEmpty {
            var pairs: [(key: PropertyListValue, value: PropertyListValue)] = []
            for configuration in model.configurations {
                let members = builder.add(set: configuration.entityNames.map { reference(to: $0) })
                pairs.append((builder.add(string: configuration.name), members))
            }
            fields["NSConfigurations"] = builder.add(dictionary: pairs, isMutable: true)
        }
        builder.fill(root, classChain: ["NSManagedObjectModel", "NSObject"], fields: fields)
        return try builder.archive(root: root)
    }

    private func reference(to entityName: String?) -> PropertyListValue {
        entityName.flatMap { entityReferences[$0] } ?? KeyedArchiveBuilder.null
    }

    /// The entities by name; in a cached model a dictionary with fixed keys, sorted.
    private mutating func dictionary(_ pairs: [(String, PropertyListValue)]) -> PropertyListValue {
        let keys = pairs.map { builder.add(string: $0.0) }
        guard form == .cached else {
            return builder.add(dictionary: zip(keys, pairs).map { (key: $0, value: $1.1) }, isMutable: true)
        }
        let keyArray = builder.add(array: keys)
        let strategy = builder.add(
            classChain: ["NSKnownKeysMappingStrategy1", "NSKnownKeysMappingStrategy", "NSObject"],
            fields: PropertyListDictionary([
                ("version", .integer(1)), ("length", .integer(Int64(pairs.count))), ("keys", keyArray),
            ]))
        let token = builder.add(string: "__empty_slot_token_4c24_98dc_ac1e_b773__")
        let values = builder.add(array: pairs.map(\.1))
        return builder.add(
            classChain: [
                "NSKnownKeysDictionary1", "NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary", "NSObject",
            ],
            fields: PropertyListDictionary([
                ("version", .integer(1)), ("searchMapping", strategy), ("emptyToken", token), ("values", values),
            ]))
    }

    private mutating func userInfo(_ userInfo: [String: PropertyListValue]) throws -> PropertyListValue {
        guard !userInfo.isEmpty else { return emptyDictionary }
        return try builder.add(ReadableValue(.dictionary(PropertyListDictionary(sorted: userInfo))))
    }

    private mutating func write(_ entity: ModelEntity) throws {
        var fields = PropertyListDictionary([
            ("NSEntityName", builder.add(string: entity.name)),
            ("NSClassNameForEntity", builder.add(string: entity.className)),
            ("NSManagedObjectModel", root),
            ("NSSuperentity", reference(to: entity.parentName)),
            ("NSVersionHashModifier", builder.add(string: entity.versionHashModifier)),
            ("NSRenamingIdentifier", builder.add(string: entity.renamingIdentifier ?? entity.name)),
        ])
        fields["NSUserInfo"] = try userInfo(entity.userInfo)
        let children = model.children(of: entity).map { child in
            (key: builder.add(string: child.name), value: reference(to: child.name))
        }
        fields["NSSubentities"] = builder.add(dictionary: children, isMutable: true)
        fields["NSProperties"] = try properties(of: entity)
        if entity.isAbstract { fields["NSIsAbstract"] = .boolean(true) }
        if !entity.uniquenessConstraints.isEmpty { fields["NSUniqueTuples"] = names(entity.uniquenessConstraints) }
        if !entity.compoundIndexes.isEmpty { fields["NSCompoundIndexes"] = names(entity.compoundIndexes) }
        if !entity.fetchIndexes.isEmpty {
            var indexes: [PropertyListValue] = []
            for index in entity.fetchIndexes { indexes.append(try add(index, of: entity)) }
            fields["NSFetchIndexDescriptions"] = builder.add(array: indexes, isMutable: true)
        }
        builder.fill(
            reference(to: entity.name), classChain: ["NSEntityDescription", "NSObject"], fields: fields)
    }

    private mutating func names(_ lists: [[String]]) -> PropertyListValue {
        let arrays = lists.map { list in
            builder.add(array: list.map { builder.add(string: $0) }, isMutable: true)
        }
        return builder.add(array: arrays, isMutable: true)
    }
}

// MARK: - Properties

extension ModelArchiveWriter {
    private mutating func properties(of entity: ModelEntity) throws -> PropertyListValue {
        let owners = form == .cached ? inheritance.lineage(of: entity.name) : [entity]
        for owner in owners {
            for attribute in owner.attributes { try write(attribute, of: entity.name) }
            for relationship in owner.relationships { try write(relationship, of: entity.name) }
            for property in owner.fetchedProperties { try write(property, of: entity.name) }
        }
        let references = propertyReferences[entity.name] ?? [:]
        let pairs = references.keys.sorted().map { name in
            (key: builder.add(string: name), value: references[name] ?? KeyedArchiveBuilder.null)
        }
        return builder.add(dictionary: pairs, isMutable: true)
    }

    private mutating func fill(
        _ property: some ModelProperty, of entityName: String, _ className: String, _ fields: PropertyListDictionary
    ) {
        guard let reference = propertyReferences[entityName]?[property.name] else { return }
        builder.fill(reference, classChain: [className, "NSPropertyDescription", "NSObject"], fields: fields)
    }

    private mutating func commonFields(
        _ property: some ModelProperty, of entityName: String
    ) throws -> PropertyListDictionary {
        var fields = PropertyListDictionary([
            ("_P", .integer(Int64(PropertyFlags.sum(property)))),
            ("NSPropertyName", builder.add(string: property.name)),
            ("NSRenamingIdentifier", builder.add(string: property.renamingIdentifier ?? property.name)),
            ("NSEntity", reference(to: entityName)),
        ])
        let flags = [
            ("NSIsOptional", property.isOptional), ("NSIsTransient", property.isTransient),
            ("NSIsIndexed", property.isIndexed), ("NSIsReadOnly", property.isReadOnly),
            ("NSIndexedBySpotlight", property.isIndexedBySpotlight),
        ]
        for case (let key, true) in flags { fields[key] = .boolean(true) }
        if let modifier = property.versionHashModifier {
            fields["NSVersionHashModifier"] = builder.add(string: modifier)
        }
        if !property.userInfo.isEmpty { fields["NSUserInfo"] = try userInfo(property.userInfo) }
        if !property.validations.isEmpty {
            var conditions: [PropertyListValue] = []
            var warnings: [PropertyListValue] = []
            for validation in property.validations {
                conditions.append(try builder.add(predicate: validation.predicate))
                switch validation.warning {
                case .code(let code): warnings.append(builder.add(value: .integer(Int64(code))))
                case .text(let text): warnings.append(builder.add(string: text))
                }
            }
            fields["NSValidationPredicates"] = builder.add(array: conditions)
            fields["NSValidationWarnings"] = builder.add(array: warnings)
        }
        return fields
    }

    private mutating func write(_ attribute: ModelAttribute, of entityName: String) throws {
        guard let reference = propertyReferences[entityName]?[attribute.name] else { return }
        try fill(reference, with: attribute, of: entityName)
    }

    /// Recursive for the elements of composites, to the depth that readers allow.
    private mutating func fill(
        _ reference: PropertyListValue, with attribute: ModelAttribute, of entityName: String, depth: Int = 0
    ) throws {
        guard depth <= 64 else {
            throw ModelError(.invalidValue, "Composite attributes are nested too deeply.", property: attribute.name)
        }
        var fields = try commonFields(attribute, of: entityName)
        var flags = 0
        if attribute.allowsExternalBinaryDataStorage { flags |= AttributeFlags.allowsExternalBinaryDataStorage }
        if attribute.preservesValueInHistoryOnDeletion { flags |= AttributeFlags.preservesValueInHistory }
        fields["NSFlagsKey"] = .integer(Int64(flags))
        fields["NSAttributeType"] = .integer(Int64(attribute.type.rawValue))
        fields["NSAttributeValueClassName"] = builder.add(
            string: attribute.valueClassName ?? attribute.type.valueClassName)
        fields["NSValueTransformerName"] = builder.add(string: attribute.valueTransformerName)
        fields["NSDefaultValue"] =
            try attribute.defaultValue.map { try builder.add($0.readable) } ?? KeyedArchiveBuilder.null
        if attribute.allowsCloudEncryption { fields["NSAllowsCloudEncryption"] = .boolean(true) }
        if attribute.isStoredInExternalRecord { fields["NSIsStoredInTruthFile"] = .boolean(true) }
        var classChain = ["NSAttributeDescription", "NSPropertyDescription", "NSObject"]
        if let derivation = attribute.derivation {
            classChain.insert("NSDerivedAttributeDescription", at: 0)
            fields["NSDerivationExpression"] = try builder.add(expression: derivation.expression)
            fields["NSFilteringPredicate"] =
                try derivation.filteringPredicate.map { try builder.add(predicate: $0) } ?? KeyedArchiveBuilder.null
        }
        if attribute.type == .composite {
            classChain.insert("NSCompositeAttributeDescription", at: 0)
            var elements: [PropertyListValue] = []
            for element in attribute.elements {
                let elementReference = builder.reserve()
                try fill(elementReference, with: element, of: entityName, depth: depth + 1)
                elements.append(elementReference)
            }
            fields["NSCompositeElements"] = builder.add(array: elements)
        }
        builder.fill(reference, classChain: classChain, fields: fields)
    }

    private mutating func write(_ relationship: ModelRelationship, of entityName: String) throws {
        var fields = try commonFields(relationship, of: entityName)
        guard let destination = relationship.destinationName, entityReferences[destination] != nil else {
            throw ModelError(
                .unknownEntity, "The destination '\(relationship.destinationName ?? "")' does not exist.",
                file: relationship.position.file, line: relationship.position.line, entity: entityName,
                property: relationship.name)
        }
        fields["NSDestinationEntity"] = reference(to: destination)
        fields["_NSDestinationEntityName"] = builder.add(string: destination)
        fields["NSInverseRelationship"] =
            relationship.inverseName.flatMap { inverse(named: $0, of: destination) } ?? KeyedArchiveBuilder.null
        fields["_NSInverseRelationshipName"] = builder.add(string: relationship.inverseName)
        fields["NSMinCount"] = .integer(Int64(relationship.minimumCount))
        fields["NSMaxCount"] = .integer(Int64(relationship.maximumCount))
        fields["NSDeleteRule"] = .integer(Int64(relationship.deleteRule.rawValue))
        if relationship.isOrdered { fields["NSIsOrdered"] = .boolean(true) }
        fill(relationship, of: entityName, "NSRelationshipDescription", fields)
    }

    /// The relationship of a name, as written for the destination or its nearest ancestor that has it.
    private func inverse(named name: String, of destination: String) -> PropertyListValue? {
        for owner in [destination] + inheritance.ancestors(of: destination).map(\.name) {
            if let reference = propertyReferences[owner]?[name] { return reference }
        }
        return nil
    }

    private mutating func write(_ property: ModelFetchedProperty, of entityName: String) throws {
        var fields = try commonFields(property, of: entityName)
        fields["NSFetchRequest"] = try add(property.fetchRequest)
        fields["_NSFetchRequestEntityName"] = builder.add(string: property.fetchRequest.entityName)
        fill(property, of: entityName, "NSFetchedPropertyDescription", fields)
    }
}

// MARK: - Requests and indexes

extension ModelArchiveWriter {
    private mutating func fetchRequestTemplates() throws -> PropertyListValue {
        guard form == .compiled, !model.fetchRequestTemplates.isEmpty else { return KeyedArchiveBuilder.null }
        var pairs: [(key: PropertyListValue, value: PropertyListValue)] = []
        for template in model.fetchRequestTemplates {
            pairs.append((builder.add(string: template.name), try add(template.fetchRequest)))
        }
        return builder.add(dictionary: pairs, isMutable: true)
    }

    private mutating func add(_ request: ModelFetchRequest) throws -> PropertyListValue {
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

    private mutating func add(_ index: ModelFetchIndex, of entity: ModelEntity) throws -> PropertyListValue {
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
    private mutating func add(
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

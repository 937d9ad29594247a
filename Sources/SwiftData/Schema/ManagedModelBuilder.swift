import CoreData
import ManagedObjects

/// Makes the managed object model of a schema, as Apple's framework makes it: names, hashes and tables are the same.
struct ManagedModelBuilder {
    /// Makes the model.
    ///
    /// - Throws: ``SwiftDataError/unsupportedKeyPath`` or ``SwiftDataError/loadIssueModelContainer`` with the class and the property
    ///   that cannot be stored.
    static func model(of schema: Schema) throws -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        var builder = ManagedModelBuilder()
        try builder.add(schema)
        model.entities = builder.ordered
        model.setEntities(builder.ordered, forConfigurationName: "default")
        model.versionIdentifiers = [schema.version.description]
        return model
    }

    private var descriptions: [String: NSEntityDescription] = [:]
    private var ordered: [NSEntityDescription] = []

    private mutating func add(_ schema: Schema) throws {
        let classes = Dictionary(schema.classes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        if schema.classes.count != classes.count {
            let names = Dictionary(grouping: schema.classes, by: \.name).filter { $0.value.count > 1 }.keys.sorted()
            throw SwiftDataError.loadIssueModelContainer.because(
                "Several classes have the same entity name: \(names.joined(separator: ", ")).")
        }
        for entity in schema.entities {
            let description = NSEntityDescription()
            description.name = entity.name
            description.renamingIdentifier = entity.name
            description.assignedClass = ModelObject.self
            description.companion = classes[entity.name]
            descriptions[entity.name] = description
            ordered.append(description)
        }
        for entity in schema.entities {
            guard let description = descriptions[entity.name] else { continue }
            description.subentities = entity.subentities.map(\.name).sorted().compactMap { descriptions[$0] }
            description.properties = try entity.storedProperties.compactMap { property in
                switch property {
                case let attribute as Schema.Attribute: try Self.attribute(attribute, of: entity)
                case let relationship as Schema.Relationship: try self.relationship(relationship, of: entity)
                default: nil
                }
            }
            description.uniquenessConstraints = entity.uniquenessConstraints
            addIndexes(of: entity, to: description)
        }
        connectInverses(schema)
    }

    // MARK: - Attributes

    private static func attribute(_ attribute: Schema.Attribute, of entity: Schema.Entity) throws
        -> NSAttributeDescription
    {
        let form: ValueForm
        if let name = attribute.options.lazy.compactMap(\.transformerName).first {
            form = .transformed(by: name)
        } else {
            form = attribute.isCodable ? .json : ValueForm.of(unwrappedType(attribute.valueType))
        }
        let description = Self.description(
            attribute.name, form: form, type: attribute.valueType, isOptional: attribute.isOptional)
        description.renamingIdentifier = attribute.originalName
        description.versionHashModifier = attribute.hashModifier
        description.isTransient = attribute.isTransient
        description.isIndexedBySpotlight = attribute.options.contains(.spotlight)
        description.allowsExternalBinaryDataStorage = attribute.options.contains(.externalStorage)
        description.allowsCloudEncryption = attribute.options.contains(.allowsCloudEncryption)
        description.preservesValueInHistoryOnDeletion = attribute.options.contains(.preserveValueOnDeletion)
        if case .primitive = form, let value = unwrapped(attribute.defaultValue) { description.defaultValue = value }
        return description
    }

    private static func description(
        _ name: String, form: ValueForm, type: any Any.Type, isOptional: Bool
    ) -> NSAttributeDescription {
        if let elements = form.elements(named: name, optional: isOptional) {
            let composite = NSCompositeAttributeDescription()
            composite.name = name
            composite.isOptional = isOptional
            composite.elements = elements.map {
                Self.description($0.name, form: $0.form, type: $0.type, isOptional: $0.isOptional)
            }
            if form.isEnumeration {
                var userInfo: [AnyHashable: Any] = ["EnumType": true]
                if let names = form.caseNames { userInfo["enum"] = names }
                composite.userInfo = userInfo
            }
            return composite
        }
        let description = NSAttributeDescription()
        description.name = name
        description.isOptional = isOptional
        switch form {
        case .primitive(let type), .widened(_, let type): description.attributeType = type
        case .json: description.attributeType = .binaryDataAttributeType
        case .archive, .transformed:
            description.attributeType = .transformableAttributeType
            description.attributeValueClassName = String(describing: unwrappedType(type))
            description.valueTransformerName = NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
            if case .transformed(let name) = form { description.valueTransformerName = name }
        case .rawEnumeration, .enumeration, .structure: break
        }
        return description
    }

    // MARK: - Relationships

    private func relationship(
        _ relationship: Schema.Relationship, of entity: Schema.Entity
    ) throws -> NSRelationshipDescription {
        guard let destination = descriptions[relationship.destination] else {
            throw SwiftDataError.loadIssueModelContainer.because(
                "\(entity.name).\(relationship.name) leads to \(relationship.destination), which is not in the schema.")
        }
        let description = NSRelationshipDescription()
        description.name = relationship.name
        description.renamingIdentifier = relationship.originalName
        description.versionHashModifier = relationship.hashModifier
        description.isOptional = relationship.isOptional
        description.destinationEntity = destination
        description.minCount = relationship.minimumModelCount ?? 0
        description.maxCount = relationship.isToOneRelationship ? 1 : relationship.maximumModelCount ?? 0
        description.deleteRule =
            switch relationship.deleteRule {
            case .noAction: .noActionDeleteRule
            case .nullify: .nullifyDeleteRule
            case .cascade: .cascadeDeleteRule
            case .deny: .denyDeleteRule
            }
        return description
    }

    private func connectInverses(_ schema: Schema) {
        for entity in schema.entities {
            for case let relationship as Schema.Relationship in entity.storedProperties {
                guard let inverse = relationship.inverseName,
                    let own = descriptions[entity.name]?.relationshipsByName[relationship.name],
                    let other = descriptions[relationship.destination]?.relationshipsByName[inverse]
                else { continue }
                own.inverseRelationship = other
                other.inverseRelationship = own
            }
        }
    }

    // MARK: - Indexes

    private func addIndexes(of entity: Schema.Entity, to description: NSEntityDescription) {
        func index(_ names: [String], _ prefix: String, _ type: NSFetchIndexElementType) -> NSFetchIndexDescription {
            let elements = names.compactMap { description.propertiesByName[$0] }.map {
                NSFetchIndexElementDescription(property: $0, collationType: type)
            }
            return NSFetchIndexDescription(name: prefix + names.joined(), elements: elements)
        }
        description.indexes =
            entity.indices.map { index($0, "SwiftDataIndexOnBinary", .binary) }
            + entity.treeIndices.map { index($0, "SwiftDataIndexOnRtree", .rTree) }
        description.compoundIndexes = entity.indices.filter { $0.count > 1 }
        for names in entity.indices {
            for name in names { description.propertiesByName[name]?.isIndexed = true }
        }
    }
}

extension NSManagedObjectModel {
    /// The model of some classes, for a Core Data stack over the same store.
    public static func makeManagedObjectModel(
        for entityTypes: any PersistentModel.Type..., mergedWith managedObjectModel: NSManagedObjectModel? = nil
    ) -> NSManagedObjectModel? {
        makeManagedObjectModel(for: Schema(entityTypes), mergedWith: managedObjectModel)
    }

    /// The model of some classes, for a Core Data stack over the same store.
    public static func makeManagedObjectModel(
        for entityTypes: [any PersistentModel.Type], mergedWith managedObjectModel: NSManagedObjectModel? = nil
    ) -> NSManagedObjectModel? {
        makeManagedObjectModel(for: Schema(entityTypes), mergedWith: managedObjectModel)
    }

    /// The model of a schema, for a Core Data stack over the same store; nil if the schema cannot be stored, or cannot be merged.
    /// Its objects are plain managed objects.
    public static func makeManagedObjectModel(
        for schema: Schema, mergedWith managedObjectModel: NSManagedObjectModel? = nil
    ) -> NSManagedObjectModel? {
        guard let model = try? plainModel(of: schema) else { return nil }
        guard let managedObjectModel else { return model }
        return NSManagedObjectModel(byMerging: [managedObjectModel, model])
    }

    /// The model of a schema, without its classes.
    static func plainModel(of schema: Schema) throws -> NSManagedObjectModel {
        let model = try ManagedModelBuilder.model(of: schema)
        for entity in model.entities { (entity.assignedClass, entity.companion) = (nil, nil) }
        return model
    }

    /// The model of a schema, merged with this one.
    public func makeManagedObjectModel(
        for schema: Schema, mergedWith managedObjectModel: NSManagedObjectModel? = nil
    ) -> NSManagedObjectModel? {
        let merged = managedObjectModel.flatMap { NSManagedObjectModel(byMerging: [self, $0]) } ?? self
        return Self.makeManagedObjectModel(for: schema, mergedWith: merged)
    }
}

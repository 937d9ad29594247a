import Coral

/// A model in the form in which it is shown, as text or JSON.
struct ModelDescription: Encodable {
    struct Entity: Encodable {
        var name: String
        var parent: String?
        var isAbstract: Bool
        var className: String?
        var versionHash: String
        var renamingIdentifier: String?
        var uniquenessConstraints: [[String]]
        var indexes: [String]
        var attributes: [Attribute]
        var relationships: [Relationship]
        var userInfo: [String: String]
        /// The number of objects, if a store is shown.
        var count: Int?
        /// The size of the entity's table and its indexes in bytes, if a store is shown and the entity is the topmost of
        /// its hierarchy.
        var byteCount: Int64?
    }

    struct Attribute: Encodable {
        var name: String
        var type: String
        var isOptional: Bool
        var isTransient: Bool
        var isDerived: Bool
        var defaultValue: String?
        var elements: [Attribute]?
        var userInfo: [String: String]
    }

    struct Relationship: Encodable {
        var name: String
        var destination: String?
        var inverse: String?
        var isToMany: Bool
        var isOrdered: Bool
        var isOptional: Bool
        var deleteRule: String
        var userInfo: [String: String]
    }

    var versionIdentifiers: [String]
    var configurations: [String]
    var entities: [Entity]

    init(_ model: NSManagedObjectModel) {
        versionIdentifiers = model.versionIdentifiers.map { "\($0)" }.filter { !$0.isEmpty }.sorted()
        configurations = model.configurations.sorted()
        // Once for all: the hash of an entity depends on its ancestors.
        let hashes = model.entityVersionHashesByName
        entities = model.entities.map { Entity($0, hash: hashes[$0.name ?? ""] ?? Data()) }.sorted { $0.name < $1.name }
    }
}

extension ModelDescription.Entity {
    init(_ entity: NSEntityDescription, hash: Data) {
        name = entity.name ?? ""
        parent = entity.superentity?.name
        isAbstract = entity.isAbstract
        let managed = entity.managedObjectClassName ?? ""
        className = managed.isEmpty || managed == "NSManagedObject" ? nil : managed
        versionHash = hash.base64EncodedString()
        renamingIdentifier = entity.renamingIdentifier.flatMap { $0 == entity.name ? nil : $0 }
        uniquenessConstraints = entity.uniquenessConstraints.map { $0.map { "\($0)" } }
        indexes = entity.indexes.map(\.name).sorted()
        attributes = entity.attributesByName.sorted { $0.key < $1.key }.map { .init($0.value) }
        relationships = entity.relationshipsByName.sorted { $0.key < $1.key }.map { .init($0.value) }
        userInfo = ModelDescription.plain(entity.userInfo)
    }
}

extension ModelDescription.Attribute {
    init(_ attribute: NSAttributeDescription) {
        name = attribute.name
        let schema = GraphSchema.Attribute(attribute)
        type = schema.type.name
        isOptional = attribute.isOptional
        isTransient = attribute.isTransient
        isDerived = attribute is NSDerivedAttributeDescription
        defaultValue = attribute.defaultValue.map { "\($0)" }
        elements = schema.elements.isEmpty ? nil : schema.elements.map(Self.init(element:))
        userInfo = ModelDescription.plain(attribute.userInfo)
    }

    private init(element: GraphSchema.Attribute) {
        self.init(
            name: element.name, type: element.type.name, isOptional: true, isTransient: false, isDerived: false,
            elements: element.elements.isEmpty ? nil : element.elements.map(Self.init(element:)), userInfo: [:])
    }

    private init(
        name: String, type: String, isOptional: Bool, isTransient: Bool, isDerived: Bool, elements: [Self]?,
        userInfo: [String: String]
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.isDerived = isDerived
        self.elements = elements
        self.userInfo = userInfo
    }

    /// The text after the name.
    var summary: String {
        var words = [type]
        if !isOptional { words.append("required") }
        if isTransient { words.append("transient") }
        if isDerived { words.append("derived") }
        if let defaultValue { words.append("default \(defaultValue)") }
        return words.joined(separator: ", ")
    }
}

extension ModelDescription.Relationship {
    init(_ relationship: NSRelationshipDescription) {
        name = relationship.name
        destination = relationship.destinationEntity?.name
        inverse = relationship.inverseRelationship?.name
        isToMany = relationship.isToMany
        isOrdered = relationship.isOrdered
        isOptional = relationship.isOptional
        deleteRule =
            switch relationship.deleteRule {
            case .noActionDeleteRule: "no action"
            case .nullifyDeleteRule: "nullify"
            case .cascadeDeleteRule: "cascade"
            case .denyDeleteRule: "deny"
            @unknown default: "unknown"
            }
        userInfo = ModelDescription.plain(relationship.userInfo)
    }

    /// The text after the name.
    var summary: String {
        var words = ["\(isToMany ? "to many" : "to one") \(destination ?? "?")"]
        if isOrdered { words.append("ordered") }
        if !isOptional { words.append("required") }
        words.append(inverse.map { "inverse \($0)" } ?? "no inverse")
        if deleteRule != "nullify" { words.append(deleteRule) }
        return words.joined(separator: ", ")
    }
}

extension ModelDescription {
    fileprivate static func plain(_ userInfo: [AnyHashable: Any]?) -> [String: String] {
        var result: [String: String] = [:]
        for (key, value) in userInfo ?? [:] { result["\(key)"] = "\(value)" }
        return result
    }
}

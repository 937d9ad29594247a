import KeyedArchives

/// A managed object model as plain values: the content of a `.xcdatamodel`, of a `.mom` or of a store's model cache.
///
/// An entity contains its own properties only; inherited ones are found through ``ancestors(of:)``. References between
/// entities are names, so that a model is a value that can be compared, changed and sent between threads.
public struct Model: Sendable, Equatable {
    /// The entities. Those of compiled models are sorted by name, those of source models are in the file's order.
    public var entities: [ModelEntity]
    /// Named groups of entities. The unnamed default configuration, which contains all entities, is not listed.
    public var configurations: [ModelConfiguration]
    /// Fetch requests stored in the model under a name.
    public var fetchRequestTemplates: [ModelFetchRequestTemplate]
    /// The developer's own names of this version. They are part of a store's metadata, but not of any hash.
    public var versionIdentifiers: Set<String>
    /// The composite types that attributes of the source refer to by name. Empty for a compiled model, where each
    /// attribute contains its elements.
    public var composites: [ModelComposite]
    /// The parts that only the source has: attributes of the editor and the diagram.
    public var source: ModelSource

    /// Creates a model of the given entities.
    public init(
        entities: [ModelEntity] = [], configurations: [ModelConfiguration] = [],
        fetchRequestTemplates: [ModelFetchRequestTemplate] = [], versionIdentifiers: Set<String> = [],
        composites: [ModelComposite] = [], source: ModelSource = ModelSource()
    ) {
        self.entities = entities
        self.configurations = configurations
        self.fetchRequestTemplates = fetchRequestTemplates
        self.versionIdentifiers = versionIdentifiers
        self.composites = composites
        self.source = source
    }

    /// The entity of a name. Cost: a linear search; for many look-ups build a dictionary of ``entities``.
    public func entity(named name: String) -> ModelEntity? {
        entities.first { $0.name == name }
    }
}

/// A named group of entities, which can be stored in a store of its own.
public struct ModelConfiguration: Sendable, Hashable {
    /// The configuration's name.
    public var name: String
    /// The names of its entities, sorted.
    public var entityNames: [String]
    /// Whether the source marks the configuration for CloudKit. Nil if the source has no such attribute.
    public var usesCloudKit: Bool?

    /// Creates a configuration of the given entities.
    public init(name: String, entityNames: [String] = [], usesCloudKit: Bool? = nil) {
        self.name = name
        self.entityNames = entityNames
        self.usesCloudKit = usesCloudKit
    }
}

/// A composite type of a source model: the elements of attributes of the type ``ModelAttributeType/composite``.
public struct ModelComposite: Sendable, Equatable {
    /// The type's name.
    public var name: String
    /// Its elements, which may be composites again.
    public var elements: [ModelAttribute]

    /// Creates a composite type of the given elements.
    public init(name: String, elements: [ModelAttribute] = []) {
        self.name = name
        self.elements = elements
    }
}

/// The parts of a source model that are not compiled.
public struct ModelSource: Sendable, Hashable {
    /// The XML attributes of the root element except the version identifier, such as `lastSavedToolsVersion`, by name.
    public var attributes: [String: String]
    /// The frames of the entities in the diagram.
    public var diagram: [ModelDiagramElement]
    /// The warnings about XML attributes of entities and properties that have no meaning in a model.
    package var unknownAttributes: [ModelError] = []

    /// Creates the source parts of a model.
    public init(attributes: [String: String] = [:], diagram: [ModelDiagramElement] = []) {
        self.attributes = attributes
        self.diagram = diagram
    }
}

/// The frame of an entity in the diagram of a source model.
public struct ModelDiagramElement: Sendable, Hashable {
    /// The entity's name.
    public var entityName: String
    /// The position and size in points, as text.
    public var positionX, positionY, width, height: String

    /// Creates an entity's frame.
    public init(entityName: String, positionX: String, positionY: String, width: String, height: String) {
        self.entityName = entityName
        self.positionX = positionX
        self.positionY = positionY
        self.width = width
        self.height = height
    }
}

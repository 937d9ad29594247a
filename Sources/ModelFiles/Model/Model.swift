import KeyedArchives

/// A managed object model as plain values: what a `.xcdatamodel`, a `.mom` or a store says about its entities.
///
/// An entity holds its own properties only; inherited ones are found through ``ancestors(of:)``. References between
/// entities are names, so a model is a value that can be compared, changed and sent anywhere.
public struct Model: Sendable, Equatable {
    /// The entities. Those of compiled models are sorted by name, those of source models stand as in the file.
    public var entities: [ModelEntity]
    /// Named groups of entities. The unnamed default configuration, which holds all entities, is not listed.
    public var configurations: [ModelConfiguration]
    /// Fetch requests kept with the model under a name.
    public var fetchRequestTemplates: [ModelFetchRequestTemplate]
    /// The developer's own names of this version. Part of a store's metadata, not of any hash.
    public var versionIdentifiers: Set<String>
    /// The composite types that attributes of the source refer to by name. A compiled model has none: there each
    /// attribute holds its elements.
    public var composites: [ModelComposite]
    /// What only the source says: the tools' remarks about themselves and the diagram.
    public var source: ModelSource

    /// A model of the given entities.
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

    /// The entity of a name. Cost: one search; make a dictionary of ``entities`` when you need many.
    public func entity(named name: String) -> ModelEntity? {
        entities.first { $0.name == name }
    }
}

/// A named group of entities, to be kept in a store of its own.
public struct ModelConfiguration: Sendable, Hashable {
    /// The configuration's name.
    public var name: String
    /// The names of its entities, sorted.
    public var entityNames: [String]
    /// Whether the source marks the configuration for CloudKit. Nil where the source says nothing.
    public var usesCloudKit: Bool?

    /// A configuration of the given entities.
    public init(name: String, entityNames: [String] = [], usesCloudKit: Bool? = nil) {
        self.name = name
        self.entityNames = entityNames
        self.usesCloudKit = usesCloudKit
    }
}

/// A composite type of a source model: elements that attributes of the type ``ModelAttributeType/composite`` consist of.
public struct ModelComposite: Sendable, Equatable {
    /// The type's name.
    public var name: String
    /// Its elements, which may be composites again.
    public var elements: [ModelAttribute]

    /// A composite type of the given elements.
    public init(name: String, elements: [ModelAttribute] = []) {
        self.name = name
        self.elements = elements
    }
}

/// What a source model says that no compiled model keeps.
public struct ModelSource: Sendable, Hashable {
    /// The XML attributes of the root element but the version identifier, such as `lastSavedToolsVersion`, by name.
    public var attributes: [String: String]
    /// The entities' places in the diagram.
    public var diagram: [ModelDiagramElement]

    /// What a source says about itself.
    public init(attributes: [String: String] = [:], diagram: [ModelDiagramElement] = []) {
        self.attributes = attributes
        self.diagram = diagram
    }
}

/// The place of an entity in the diagram of a source model.
public struct ModelDiagramElement: Sendable, Hashable {
    /// The entity's name.
    public var entityName: String
    /// The position and size in points, as written.
    public var positionX, positionY, width, height: String

    /// An entity's frame.
    public init(entityName: String, positionX: String, positionY: String, width: String, height: String) {
        self.entityName = entityName
        self.positionX = positionX
        self.positionY = positionY
        self.width = width
        self.height = height
    }
}

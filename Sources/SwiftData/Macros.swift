// The macros need swift-syntax, which takes minutes to build. So they exist only with the trait `Macros` of this package.

#if Macros
    @_exported import Observation  // because the expansion of `@Model` names its types

    /// Makes a class persistent: its stored properties are saved, and a container with the class keeps its objects.
    ///
    /// ```swift
    /// @Model
    /// final class Trip {
    ///     @Attribute(.unique) var name: String
    ///     var start: Date
    ///     @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
    ///     init(name: String, start: Date) { … }
    /// }
    /// ```
    ///
    /// A property whose type is a model, an optional one or an array of them is a relationship; every other type must be `Codable`.
    @attached(
        member, conformances: Observable, PersistentModel,
        names: named(_$backingData), named(_$record), named(persistentBackingData), named(schemaMetadata), named(init),
        named(_$observationRegistrar), named(_observationRegistrar), named(_heldRecord), named(_SwiftDataNoType),
        named(access), named(withMutation))
    @attached(memberAttribute)
    @attached(extension, conformances: Observable, PersistentModel)
    public macro Model() = #externalMacro(module: "SwiftDataMacros", type: "ModelMacro")

    /// Implements one property of a class with ``Model()``, which adds it to every stored property.
    @attached(accessor, names: named(init), named(get), named(set))
    @attached(peer, names: prefixed(_))
    public macro _PersistedProperty() = #externalMacro(module: "SwiftDataMacros", type: "PersistedPropertyMacro")

    /// States how an attribute is stored: options, the name in an earlier version, a modifier of the version hash.
    @attached(peer)
    public macro Attribute(
        _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
    ) = #externalMacro(module: "SwiftDataMacros", type: "ReadByModelMacro")

    /// States the inverse, the delete rule and the limits of a relationship.
    @attached(peer)
    public macro Relationship(
        _ options: Schema.Relationship.Option..., deleteRule: Schema.Relationship.DeleteRule = .nullify,
        minimumModelCount: Int? = 0, maximumModelCount: Int? = 0, originalName: String? = nil,
        inverse: AnyKeyPath? = nil, hashModifier: String? = nil
    ) = #externalMacro(module: "SwiftDataMacros", type: "ReadByModelMacro")

    /// Leaves a stored property out of the schema. It needs an initial value, because fetched objects have no other.
    @attached(peer)
    public macro Transient() = #externalMacro(module: "SwiftDataMacros", type: "ReadByModelMacro")

    /// States properties whose values, alone or together, identify an object.
    @freestanding(declaration)
    public macro Unique<T: PersistentModel>(_ constraints: [PartialKeyPath<T>]...) =
        #externalMacro(module: "SwiftDataMacros", type: "ReadByModelMacro")

    /// States binary indexes: each array of properties is one.
    @freestanding(declaration)
    public macro Index<T: PersistentModel>(_ indices: [PartialKeyPath<T>]...) =
        #externalMacro(module: "SwiftDataMacros", type: "ReadByModelMacro")

    /// States indexes of either kind.
    @freestanding(declaration)
    public macro Index<T: PersistentModel>(_ indices: Schema.Index<T>.Types<T>...) =
        #externalMacro(module: "SwiftDataMacros", type: "ReadByModelMacro")

    /// Gives an actor a context of its own, on its own serial executor.
    @attached(member, names: named(modelExecutor), named(modelContainer), named(init))
    @attached(extension, conformances: ModelActor)
    public macro ModelActor() = #externalMacro(module: "SwiftDataMacros", type: "ModelActorMacro")
#endif

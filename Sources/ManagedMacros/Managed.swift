// The macros need swift-syntax, which takes minutes to build. So it is built only with the trait `Macros` of this
// package.

#if Macros
    @_exported import Observation  // because the expansion of the macro names its protocol

    /// Implements the properties of a hand-written class as those of its entity.
    ///
    /// ```swift
    /// @Managed
    /// public class Note: NSManagedObject {
    ///     public var title: String?
    ///     public var rank: Int16
    ///     public var items: NSOrderedSet?
    ///     var isExpanded = false    // has a value of its own, and so is an ordinary property
    /// }
    /// ```
    ///
    /// Each `var` that has a type and neither a value nor accessors is read and written under its name in the model. On
    /// Apple's platforms it is `@NSManaged`, so that the same source compiles everywhere. Outside Apple's platforms it
    /// is as fast as a generated class, and the class's key paths are registered, for `NSSortDescriptor(keyPath:)`;
    /// those of inherited properties under the class that declares them.
    ///
    /// The type of a property is that of the attribute or relationship, optional or not, also `String!`; an enumeration with raw
    /// values of the attribute's type; for a to-many relationship a set, an array, `NSSet` or `NSOrderedSet`. Computed and lazy
    /// properties, properties with an initial value and those with a property wrapper are ordinary. A property with `willSet` or
    /// `didSet` cannot be managed.
    ///
    /// The class is `Observable`: in a context with `isObservable` set, `withObservationTracking` and everything based on it
    /// observes the properties that were read. On Apple's platforms this needs macOS 14, iOS 17, tvOS 17 or watchOS 10, and
    /// each change of an object notifies the observers of all its properties.
    @attached(memberAttribute)
    @attached(extension, conformances: Observable)
    @attached(member, names: named(registerKeyPaths))
    public macro Managed() = #externalMacro(module: "ManagedMacroExpansion", type: "ManagedMacro")

    /// Implements one property as that of the class's entity. ``Managed()`` adds it to each property; write it yourself
    /// only in a class without ``Managed()``, whose key paths then are not registered.
    @attached(accessor)
    @attached(peer, names: prefixed(_managed_))
    public macro ManagedValue() = #externalMacro(module: "ManagedMacroExpansion", type: "ManagedValueMacro")
#else
    /// Explains that the macros need the trait `Macros`.
    @available(*, unavailable, message: "Depend on the package with the trait: .package(url: …, traits: [\"Macros\"])")
    public enum ManagedMacros {}
#endif

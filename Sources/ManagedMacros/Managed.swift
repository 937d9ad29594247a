// The macros need swift-syntax, which takes minutes to build. So nothing builds it unless it is asked for by the trait
// `Macros` of this package.

#if Macros
    /// Makes the properties of a hand-written class those of its entity.
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
    /// Each `var` that has a type and neither a value nor accessors is read and written under its name in the model.
    /// It is what `@NSManaged` is on Apple's platforms, and the same source serves on all. Off Apple's platforms it
    /// is as fast as a generated class, and the class's key paths are known, so that `NSSortDescriptor(keyPath:)`
    /// takes them; those of inherited properties under the class that declares them.
    @attached(memberAttribute)
    @attached(member, names: named(registerKeyPaths))
    public macro Managed() = #externalMacro(module: "ManagedMacroExpansion", type: "ManagedMacro")

    /// Makes one property that of the class's entity. ``Managed()`` puts it before each; write it yourself only in a
    /// class that has no ``Managed()``, whose key paths then stay unknown.
    @attached(accessor)
    @attached(peer, names: prefixed(_managed_))
    public macro ManagedValue() = #externalMacro(module: "ManagedMacroExpansion", type: "ManagedValueMacro")
#else
    /// Says what is missing: the macros come with the trait `Macros`.
    @available(*, unavailable, message: "Depend on the package with the trait: .package(url: …, traits: [\"Macros\"])")
    public enum ManagedMacros {}
#endif

#if Macros
    import Coral

    /// Makes a plain Swift class one whose instances documents make and fill: writes the list of its properties and the
    /// initialiser that the protocol `Mapped` asks for.
    ///
    /// ```swift
    /// @Mapped
    /// final class Person {
    ///     var name = ""
    ///     @MappedAs("kAddress", "address") var address: String?
    ///     @MappedAs(dates: .unix) var born: Date?
    ///     @MappedAs(elements: Person.self) var others: [Any] = []
    ///     @MappedAs(direction: .none) var isSelected = false
    /// }
    ///
    /// let person = try PlainImporter().make(Person.self, from: json)
    /// try PlainImporter().fill(person, from: later)
    /// ```
    ///
    /// Each stored `var` is mapped, under its own name unless ``MappedAs`` says otherwise. It needs a value, or a type that
    /// can be nil, since instances are made first and filled afterwards. A subclass of a mapped class adds its properties.
    @attached(member, conformances: Mapped, names: named(mappedProperties), named(init))
    @attached(extension, conformances: Mapped)
    public macro Mapped() = #externalMacro(module: "ManagedMacroExpansion", type: "MappedMacro")

    /// Says how documents hold a property of a class that has ``Mapped()``: the keys, the first that is there being read and
    /// the first of all written; and what `PropertyMapping` says besides.
    ///
    /// - Parameter elements: The class of a collection's elements where its type does not say it, as `[Any]` does not.
    @attached(peer)
    public macro MappedAs(
        _ keys: String..., dates: MappedDates? = nil, transformer: MappedTransformer? = nil,
        defaultValue: GraphValue? = nil, direction: PropertyMapping.Direction = .both,
        elements: (any Mapped.Type)? = nil
    ) = #externalMacro(module: "ManagedMacroExpansion", type: "MappedAsMacro")
#endif

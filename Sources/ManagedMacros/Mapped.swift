#if Macros
    import Coral
    import CoralPlainObjects

    /// Makes instances of a plain Swift class readable from documents: generates the list of its properties and the
    /// initialiser of the protocol `Mapped`.
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
    /// try PlainImporter().populate(person, from: later)
    /// ```
    ///
    /// Each stored `var` is mapped, under its own name unless ``MappedAs`` sets another. It needs a default value or an
    /// optional type, since instances are created first and filled afterwards. A subclass of a mapped class adds its
    /// properties.
    @attached(member, conformances: Mapped, names: named(mappedProperties), named(init))
    @attached(extension, conformances: Mapped)
    public macro Mapped() = #externalMacro(module: "ManagedMacroExpansion", type: "MappedMacro")

    /// Sets the mapping of a property in a class with ``Mapped()``: the keys, of which the first existing one is read
    /// and the first of all is written; and the other parts of `PropertyMapping`.
    ///
    /// - Parameter elements: The class of a collection's elements if its type does not contain it, as in `[Any]`.
    @attached(peer)
    public macro MappedAs(
        _ keys: String..., dates: MappedDates? = nil, transformer: MappedTransformer? = nil,
        defaultValue: GraphValue? = nil, direction: PropertyMapping.Direction = .both,
        elements: (any Mapped.Type)? = nil
    ) = #externalMacro(module: "ManagedMacroExpansion", type: "MappedAsMacro")
#endif

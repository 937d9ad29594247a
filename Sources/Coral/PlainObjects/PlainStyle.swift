import GraphDocuments

/// How plain values look in documents: what exporters say, made ready.
struct PlainStyle {
    var keys = KeyStrategy.same
    /// How dates look, where a property does not say it.
    var dates: MappedDates? {
        didSet { coder = dates.map(PlainDates.init) }
    }
    /// Finds transformers by the names that mappings give them.
    var transformers: MappedFunctionLookup = MappedFunctions.registered(named:)
    /// What values find in their encoder's user info.
    var userInfo: [CodingUserInfoKey: Any] = [:]
    private var coder: PlainDates?

    /// A scalar as documents have it.
    func scalar(_ value: GraphValue) -> ReadableValue {
        if case .date(let seconds) = value, let coder { return .value(coder.write(seconds)) }
        return .value(value)
    }

    /// A coding key as documents have it.
    func key(_ name: String) -> String {
        if case .same = keys { return name }
        return keys.keys(of: name, in: "").first ?? name
    }

    /// The mapping of a property of a class. Throws `MappingError`.
    func mapping(_ property: MappedProperty, of type: any Mapped.Type) throws -> PlainPropertyMapping {
        try PlainPropertyMapping(
            property.mapping, of: property.name, in: "\(type)", keys: keys, dates: dates, transformers: transformers)
    }
}

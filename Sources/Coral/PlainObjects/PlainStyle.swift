import GraphDocuments

/// The format of plain values in documents: the options of an exporter in the form that writing uses.
struct PlainStyle {
    var keys = KeyStrategy.same
    /// The format of dates without a mapping.
    var dates: MappedDates? {
        didSet { coder = dates.map(PlainDates.init) }
    }
    /// Finds transformers by their names in mappings.
    var transformers: MappedFunctionLookup = MappedFunctions.registered(named:)
    /// The user info of the encoder.
    var userInfo: [CodingUserInfoKey: Any] = [:]
    private var coder: PlainDates?

    /// A scalar in its document form.
    func scalar(_ value: GraphValue) -> ReadableValue {
        if case .date(let seconds) = value, let coder { return .value(coder.write(seconds)) }
        return .value(value)
    }

    /// A coding key in its document form.
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

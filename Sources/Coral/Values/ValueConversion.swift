import CoreData
import GraphDocuments

/// Converts values of documents to the declared type.
///
/// Values of the declared type are not converted. In strict mode all others are refused. Otherwise lossless conversions
/// are made: numbers in strings and strings for numbers; integers, decimals and fractions into each other; 0, 1,
/// "true", "false", "yes", "no" into booleans; numbers and strings into dates (see `ImportOptions`); Base64 into data;
/// text into UUIDs and URIs; any plain value into a transformable one.
struct ValueConversion {
    let isStrict: Bool
    let numericDates: NumericDates
    let dates: DateFormats

    init(_ options: ImportOptions) {
        isStrict = options.mismatchedValues == .fail
        numericDates = options.numericDates
        dates = DateFormats(options.dateFormats + DateFormats.usual)
    }

    /// The value converted to the attribute's type; nil if it cannot be converted.
    func convert(_ value: GraphValue, to attribute: GraphSchema.Attribute) -> GraphValue? {
        convert(value, to: attribute, attribute.codec)
    }

    /// The value converted to the type of an attribute of the model; nil if it cannot be converted.
    func convert(_ value: GraphValue, to attribute: AttributePlan) -> GraphValue? {
        convert(value, to: attribute.type, attribute.codec)
    }

    private func convert(
        _ value: GraphValue, to attribute: GraphSchema.Attribute, _ codec: any AttributeCodec
    ) -> GraphValue? {
        if attribute.type == .composite {
            if case .composite = value { return codec.convert(value, by: self) }
        }
        if value.fits(attribute.type) { return value }
        return isStrict ? nil : codec.convert(value, by: self)
    }
}

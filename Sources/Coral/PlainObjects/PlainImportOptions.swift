import Foundation
import GraphDocuments

/// Options for reading documents into plain Swift objects.
public struct PlainImportOptions {
    /// Whether values must have the type of the property. Otherwise they are converted if that is lossless, as in
    /// `ImportOptions` for managed objects.
    public var isStrict = false
    /// The names in documents of properties without a mapping, and of the coding keys of `Decodable` types.
    public var keys = KeyStrategy.same
    /// The format of dates without a mapping, in addition to ISO 8601.
    public var dates: MappedDates?
    /// The meaning of a number where a date is expected.
    public var numericDates = NumericDates.unix
    /// The treatment of keys without a property: ignored, or an error. `record` is the same as `ignore` here.
    public var unknownKeys = UnknownKeyPolicy.ignore
    /// The user info of the decoder for `Decodable` types.
    public var userInfo: [CodingUserInfoKey: Any] = [:]
    /// Finds transformers by their names in mappings.
    var transformers: MappedFunctionLookup = MappedFunctions.registered(named:)
    /// Options for parsing documents: limits, trailing commas.
    public var reading = ReadingOptions()

    public init() {}

    /// The same options for the values of managed objects.
    var conversion: ValueConversion {
        var options = ImportOptions()
        options.isStrict = isStrict
        options.numericDates = numericDates
        return ValueConversion(options)
    }
}

import Foundation
import GraphDocuments

/// Options for reading documents into plain Swift objects.
public struct PlainImportOptions {
    /// The policy for values that do not have the type of the property, as in `ImportOptions` for managed objects. `record` is
    /// the same as `convert` here.
    public var mismatchedValues = MismatchedValuePolicy.convert
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
    /// The limits of documents.
    public var limits = DocumentLimits.standard
    /// Whether a trailing comma is accepted before a closing bracket.
    public var allowsTrailingCommas = false

    public init() {}

    /// The same options for the parsers of documents.
    var reading: ReadingOptions { ReadingOptions(limits: limits, allowsTrailingCommas: allowsTrailingCommas) }

    /// The same options for the values of managed objects.
    var conversion: ValueConversion {
        var options = ImportOptions()
        options.mismatchedValues = mismatchedValues
        options.numericDates = numericDates
        return ValueConversion(options)
    }
}

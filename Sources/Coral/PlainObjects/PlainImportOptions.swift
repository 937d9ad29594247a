import Foundation
import GraphDocuments

/// How documents become plain Swift objects.
public struct PlainImportOptions {
    /// Whether values must be of the type that the property has. Otherwise they are converted where that loses nothing, as
    /// `ImportOptions` says it for managed objects.
    public var isStrict = false
    /// What documents call the properties that say nothing of it, and the coding keys of `Decodable` types.
    public var keys = KeyStrategy.same
    /// How dates look besides ISO 8601, where a property does not say it.
    public var dates: MappedDates?
    /// What a number means where a date is wanted.
    public var numericDates = NumericDates.unix
    /// What becomes of keys that no property has: left out, or an error. To record them is to leave them out.
    public var unknownKeys = UnknownKeyPolicy.ignore
    /// What `Decodable` types find in their decoder's user info.
    public var userInfo: [CodingUserInfoKey: Any] = [:]
    /// Finds transformers by the names that mappings give them.
    var transformers: MappedFunctionLookup = MappedFunctions.registered(named:)
    /// How documents are read: limits, trailing commas.
    public var reading = ReadingOptions()

    public init() {}

    /// The same choices for the values of managed objects.
    var conversion: ValueConversion {
        var options = ImportOptions()
        options.isStrict = isStrict
        options.numericDates = numericDates
        return ValueConversion(options)
    }
}

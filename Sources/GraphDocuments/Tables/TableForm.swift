import Foundation

/// The form of tables in text: values separated by commas (RFC 4180), or by tabs. Fields with a separator, a quote or a line break
/// are in quotes in both.
package enum TableForm: String {
    case csv, tsv

    /// The form of a file, by the extension of its name; nil if it is not that of a table.
    package init?(ofFile name: String) { self.init(rawValue: (name as NSString).pathExtension.lowercased()) }

    /// The byte between two fields.
    package var separator: UInt8 { self == .csv ? UInt8(ascii: ",") : UInt8(ascii: "\t") }
}

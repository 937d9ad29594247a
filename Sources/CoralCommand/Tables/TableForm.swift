import Foundation

/// The form of tables in text: values separated by commas (RFC 4180), or by tabs. Fields with a separator, a quote or a line break
/// are in quotes in both.
enum TableForm: String {
    case csv, tsv

    private var separator: String { self == .csv ? "," : "\t" }

    func field(_ text: String) -> String {
        let special = "\"\r\n\(separator)".unicodeScalars
        let isPlain = !text.unicodeScalars.contains { special.contains($0) }
        // A literal search: a quote and a combining mark are one `Character`.
        return isPlain ? text : "\"" + text.replacingOccurrences(of: "\"", with: "\"\"", options: .literal) + "\""
    }

    /// A line of fields in this form.
    func line(_ fields: [String]) -> String { fields.joined(separator: separator) + "\r\n" }

    /// A line of texts.
    func row(_ texts: [String]) -> String { line(texts.map(field)) }
}

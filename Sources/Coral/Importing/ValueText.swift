import Foundation
import GraphDocuments

/// Formats values for messages, in a short form on one line.
package enum ValueText {
    /// A value as text. Long strings are truncated.
    package static func text(_ value: GraphValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .double(let value): value.description
        case .float(let value): value.description
        case .decimal(let value): value.description
        case .string(let value): quoted(value)
        case .date: TextValue.text(of: value) ?? ""
        case .data(let value): "\(value.count) bytes"
        case .uuid(let value): value.uuidString
        case .uri(let value): quoted(value)
        case .composite(let elements):
            "{\(elements.prefix(8).map { "\($0.name): \(text($0.value))" }.joined(separator: ", "))}"
        case .transformable(let value): "an archive of \(value.archive?.count ?? 0) bytes"
        case .file(let file): file.isMissing ? "the missing file \(file.path)" : "the file \(file.path)"
        }
    }

    private static func quoted(_ text: String) -> String {
        let line = text.replacingOccurrences(of: "\n", with: "⏎")
        return line.count > 60 ? "\"\(line.prefix(60))…\"" : "\"\(line)\""
    }
}

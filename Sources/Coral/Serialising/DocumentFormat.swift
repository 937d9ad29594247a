import GraphDocuments

/// The formats that documents are written in.
public enum DocumentFormat: String, Sendable, Hashable, CaseIterable {
    /// JSON, one record a line: flat or nested.
    case json
    /// JSON Lines: the header on the first line, then a record a line.
    case jsonLines = "jsonl"

    /// The format of files with this ending; nil for one that no format has.
    public init?(fileExtension: String) {
        switch fileExtension.lowercased() {
        case "json": self = .json
        case "jsonl", "ndjson": self = .jsonLines
        default: return nil
        }
    }

    /// The shape that a format has where none is asked for.
    public var defaultShape: DocumentShape { self == .jsonLines ? .lines : .flat }

    /// A writer of the format.
    ///
    /// Throws `ExportError` where format and shape do not go together.
    func writer(to output: ByteOutput, shape: DocumentShape) throws -> any GraphWriter {
        switch (self, shape) {
        case (.json, .flat), (.json, .nested), (.jsonLines, .lines):
            return try JSONGraphWriter(to: output, shape: shape)
        default:
            throw ExportError(
                .unsupported, "There is no document of the format \(rawValue) in the shape \(shape.rawValue).")
        }
    }
}

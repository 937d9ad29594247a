import GraphDocuments

extension GraphFormat {
    /// The format of files with this ending; nil for one that no format has.
    public init?(fileExtension: String) {
        switch fileExtension.lowercased() {
        case "json": self = .json
        case "jsonl", "ndjson": self = .jsonLines
        case "plist": self = .propertyList
        case "xml": self = .xml
        default: return nil
        }
    }

    /// The shape that a format has where none is asked for.
    public var defaultShape: DocumentShape { self == .jsonLines ? .lines : .flat }
}

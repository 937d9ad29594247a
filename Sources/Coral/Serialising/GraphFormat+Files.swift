import GraphDocuments

extension GraphFormat {
    /// The format of files with this extension; nil for an unknown extension.
    package init?(fileExtension: String) {
        switch fileExtension.lowercased() {
        case "json": self = .json
        case "jsonl", "ndjson": self = .jsonLines
        case "plist": self = .propertyList
        case "xml": self = .xml
        default: return nil
        }
    }

    /// The layout that a format uses by default.
    public var defaultLayout: DocumentLayout { self == .jsonLines ? .lines : .flat }
}

/// Searches a file for names of Core Data, and for the import that declares them.
struct ImportedNames {
    /// Whether the file imports Core Data or a module that exports it.
    private(set) var importsCoreData = false
    private var isFound = false

    /// Modules that declare or export the names of Core Data.
    static let modules: Set<String> = ["CoreData", "Coral", "CoralTesting"]

    /// Processes a line of code.
    ///
    /// - Returns: The first name of Core Data in the file with its column, if it is in this line.
    mutating func take(_ line: [Character]) -> (column: Int, name: String)? {
        let words = SwiftCode.words(of: line)
        if let keyword = words.firstIndex(where: { $0.text == "import" }) {
            if words[keyword...].contains(where: { Self.modules.contains($0.text) }) { importsCoreData = true }
            return nil
        }
        guard !isFound, let first = words.first(where: { CoreDataNames.contains($0.text) }) else { return nil }
        isFound = true
        return (first.column, first.text)
    }
}

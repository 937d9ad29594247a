/// Searches a file for names of modules that it must import, and for the imports.
struct ImportedNames {
    /// The rules about imports that the file fulfils.
    private(set) var fulfilled: Set<PortingRule> = []
    private var found: Set<PortingRule> = []

    /// Modules that declare or export the names of Core Data.
    static let modules: Set<String> = ["CoreData", "Coral", "CoralTesting"]

    /// Processes a line of code.
    ///
    /// - Returns: The first name of each module in the file with its column, if it is in this line.
    mutating func take(_ line: [Character]) -> [(column: Int, name: String, rule: PortingRule)] {
        let words = SwiftCode.words(of: line)
        if let keyword = words.firstIndex(where: { $0.text == "import" }) {
            for word in words[keyword...] {
                if Self.modules.contains(word.text) { fulfilled.insert(.missingImport) }
                if let rule = PortingRule.foundationParts[word.text] { fulfilled.insert(rule) }
            }
            return []
        }
        return words.compactMap { word in
            guard let rule = Self.rule(word.text), found.insert(rule).inserted else { return nil }
            return (word.column, word.text, rule)
        }
    }

    private static func rule(_ name: String) -> PortingRule? {
        if CoreDataNames.contains(name) { return .missingImport }
        return PortingRule.partNames.first { $0.value.contains(name) }.flatMap { PortingRule.foundationParts[$0.key] }
    }
}

/// Types that the modules of a package declare under names of Foundation's types: a file that imports both modules must name the
/// module of such a type, because Foundation is imported with Core Data here.
package struct AmbiguousNames {
    /// Types that were added to Foundation after packages had declared types with the same names.
    package static let foundation: Set<String> = [
        "AttributedString", "Expression", "InflectionRule", "KeyPathComparator", "Morphology", "Predicate",
        "PredicateExpressions", "SortComparator", "SortDescriptor", "SortOrder", "TermOfAddress",
    ]
    /// Modules that are Foundation or export it.
    private static let exporting: Set<String> = ["CoreData", "Coral", "CoralTesting", "Foundation", "XCTest"]
    private static let kinds: Set<String> = ["actor", "class", "enum", "protocol", "struct", "typealias"]

    /// Whether the type is public, by the name of the type and the module.
    private var types: [String: [String: Bool]] = [:]

    /// Searches files of a package for the declarations. The module is the folder of its sources.
    package init(files: some Sequence<(text: String, module: String)>) {
        for (text, module) in files where Self.foundation.contains(where: text.containsBytes) {
            for line in SwiftCode.lines(of: text) where line.first.map(Self.beginsDeclaration) == true {
                // The text after a brace in the line declares members.
                let words = SwiftCode.words(of: Array(line.prefix { $0 != UInt8(ascii: "{") })).map(\.text)
                guard let keyword = words.firstIndex(where: Self.kinds.contains), keyword + 1 < words.count,
                    Self.foundation.contains(words[keyword + 1])
                else { continue }
                let isPublic = words[..<keyword].contains { $0 == "public" || $0 == "open" }
                types[words[keyword + 1], default: [:]][Self.name(of: module)] = isPublic
            }
        }
    }

    /// Whether a byte at the beginning of a line may begin a declaration at the top level of a file.
    private static func beginsDeclaration(_ byte: UInt8) -> Bool {
        SwiftCode.isWord(byte) || byte == UInt8(ascii: "@")
    }

    private static func name(of module: String) -> String {
        module.split(separator: "/").last.map(String.init) ?? module
    }

    /// The ambiguous names in a file of a module, each with the module to write before it.
    package func names(in text: String, module: String) -> [String: String] {
        let used = types.keys.filter { text.containsBytes(of: $0) && types[$0]?[Self.name(of: module)] == nil }
        guard !used.isEmpty else { return [:] }
        var imported: [String: Bool] = [:]
        for line in SwiftCode.lines(of: text) {
            let words = SwiftCode.words(of: line).map(\.text)
            guard let keyword = words.firstIndex(of: "import"), let name = words.last else { continue }
            imported[name] = words[..<keyword].contains("testable")
        }
        guard imported.keys.contains(where: Self.exporting.contains) else { return [:] }
        var names: [String: String] = [:]
        for type in used {
            let modules = (types[type] ?? [:]).filter { module, isPublic in
                imported[module].map { isPublic || $0 } ?? false
            }
            names[type] = modules.keys.min()
        }
        return names
    }
}

/// Searches a file for names of modules that it must import, and for the imports.
package struct ImportedNames {
    /// The rules about imports that the file fulfils.
    private(set) var fulfilled: Set<PortingRule> = []
    private var found: Set<PortingRule> = []

    /// Modules that declare or export the names of Core Data.
    static let modules: Set<String> = ["CoreData", "Coral", "CoralTesting"]

    /// The rules about imports that a text breaks.
    package static func missing(in text: String) -> Set<PortingRule> {
        var conditions = ConditionStack()
        var imports = ImportedNames()
        for line in SwiftCode.lines(of: text) where !conditions.take(line) && conditions.isCompiled {
            _ = imports.take(line)
        }
        return imports.found.subtracting(imports.fulfilled)
    }

    /// Processes a line of code.
    ///
    /// - Returns: The first name of each module in the file with its column, if it is in this line.
    mutating func take(_ line: [UInt8]) -> [(column: Int, name: String, rule: PortingRule)] {
        let words = SwiftCode.words(of: line)
        if let keyword = words.firstIndex(where: { $0.text == "import" }) {
            for word in words[keyword...] {
                if Self.modules.contains(word.text) { fulfilled.insert(.missingImport) }
                if let rule = PortingRule.foundationParts[word.text] { fulfilled.insert(rule) }
            }
            return []
        }
        // Without the module a member of this class has an unknown type, and nothing can override it.
        let inherited = SwiftCode.superclasses(in: words).filter { $0.text == "Bundle" }
        return words.compactMap { word in
            let rule =
                inherited.contains { $0.column == word.column }
                ? PortingRule.foundationParts["CoreFoundation"] : Self.rule(word.text)
            guard let rule, found.insert(rule).inserted else { return nil }
            return (word.column, word.text, rule)
        }
    }

    private static func rule(_ name: String) -> PortingRule? {
        if CoreDataNames.contains(name) { return .missingImport }
        return PortingRule.partNames.first { $0.value.contains(name) }.flatMap { PortingRule.foundationParts[$0.key] }
    }
}

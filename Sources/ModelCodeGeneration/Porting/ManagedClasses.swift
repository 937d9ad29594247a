/// The subclasses of `NSManagedObject` that a package declares, of which no object can be created by `Note()` here.
struct ManagedClasses {
    private var names: Set<String> = ["NSManagedObject"]

    /// Searches files of a package for the classes. Those with an initialiser `init()` of their own are left out.
    init(texts: some Sequence<String>) {
        var subclasses: [String: [String]] = [:]
        var initialised: Set<String> = []
        for text in texts where text.contains("class ") {
            var name: String?
            for line in SwiftCode.lines(of: text) {
                let words = SwiftCode.words(of: line)
                for (index, word) in words.enumerated() {
                    let rest = line[(word.column + word.text.count)...]
                    if word.text == "init", rest.starts(with: "()"),
                        index == 0 || Self.modifiers.contains(words[index - 1].text)
                    {
                        if let name { initialised.insert(name) }
                    }
                    guard word.text == "class", index + 2 < words.count else { continue }
                    let (declared, base) = (words[index + 1], words[index + 2])
                    let between = line[(declared.column + declared.text.count)..<base.column]
                    guard between.allSatisfy({ $0.isWhitespace || $0 == ":" }), between.contains(":") else { continue }
                    name = declared.text
                    subclasses[base.text, default: []].append(declared.text)
                }
            }
        }
        var remaining = Array(names)
        while let base = remaining.popLast() {
            remaining += (subclasses[base] ?? []).filter { names.insert($0).inserted }
        }
        names.subtract(initialised)
    }

    private static let modifiers: Set<String> = ["convenience", "override", "public", "required", "open", "internal"]

    /// The calls `Note()` in a line of code: the column and the name of the class.
    func bareInitialisers(in line: [Character]) -> [(column: Int, name: String)] {
        guard line.contains("(") else { return [] }
        return SwiftCode.words(of: line).compactMap { word in
            let isCall = names.contains(word.text) && line[(word.column + word.text.count)...].starts(with: "()")
            return isCall ? (word.column, word.text) : nil
        }
    }
}

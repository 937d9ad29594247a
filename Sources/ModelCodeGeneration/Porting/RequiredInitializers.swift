/// The classes of transformers and stores in a file: a class with an initialiser of its own must also declare the one by which Core
/// Data creates its objects, which is required here.
struct RequiredInitializers {
    /// What comes after `init` in the required initialiser of subclasses, and the rule.
    private static let bases: [String: (parameters: String, rule: PortingRule)] = [
        "NSSecureUnarchiveFromDataTransformer": ("()", .transformerInitializer),
        "ValueTransformer": ("()", .transformerInitializer),
        "NSAtomicStore": ("(persistentStoreCoordinator ", .storeInitializer),
        "NSIncrementalStore": ("(persistentStoreCoordinator ", .storeInitializer),
        "NSPersistentStore": ("(persistentStoreCoordinator ", .storeInitializer),
    ]

    /// A block that is open.
    private struct Block {
        /// The class that the block's class inherits from, if it is one of those.
        let base: String?
        /// The position of the first initialiser that a subclass does not inherit with another one.
        var designated: (line: Int, column: Int)?
        var hasRequired = false
    }

    private var blocks: [Block] = []
    /// The words since the last brace or the last declaration.
    private var words: [String] = []

    /// Processes a line of code.
    ///
    /// - Returns: The positions of initialisers in classes that end in the line and lack the required one.
    mutating func take(_ line: [UInt8], _ number: Int) -> [(place: (line: Int, column: Int), rule: PortingRule)] {
        var found: [(place: (line: Int, column: Int), rule: PortingRule)] = []
        var index = 0
        while index < line.count {
            let end = SwiftCode.endOfWord(in: line, at: index)
            if end > index {
                take(String(decoding: line[index..<end], as: UTF8.self), rest: line[end...], at: (number, index))
                index = end
                continue
            }
            if line[index] == UInt8(ascii: "{") {
                let base = words.contains("class") ? words.first { Self.bases[$0] != nil } : nil
                blocks.append(Block(base: base))
                words = []
            } else if line[index] == UInt8(ascii: "}") {
                if let block = blocks.popLast(), let position = block.designated, !block.hasRequired,
                    let base = block.base.flatMap({ Self.bases[$0] })
                {
                    found.append((position, base.rule))
                }
                words = []
            }
            index += 1
        }
        return found
    }

    private mutating func take(_ word: String, rest: ArraySlice<UInt8>, at position: (line: Int, column: Int)) {
        if word == "init", let base = blocks.last?.base.flatMap({ Self.bases[$0] }) {
            // The parameters may begin in the next line: such a long list is that of a store.
            if rest.starts(with: base.parameters.utf8) || base.parameters != "()" && rest.elementsEqual("(".utf8) {
                blocks[blocks.count - 1].hasRequired = true
            } else if !words.contains("convenience"), blocks[blocks.count - 1].designated == nil {
                blocks[blocks.count - 1].designated = position
            }
        }
        if ["class", "func", "init", "let", "var"].contains(word) { words = [] }
        words.append(word)
    }
}

/// The classes of transformers in a file: a class with an initialiser of its own must declare `init()`, which is required here.
struct TransformerClasses {
    private static let bases: Set<String> = ["NSSecureUnarchiveFromDataTransformer", "ValueTransformer"]

    /// A block that is open.
    private struct Block {
        let isTransformer: Bool
        /// The position of the first initialiser that a subclass does not inherit with another one.
        var designated: (line: Int, column: Int)?
        var hasRequired = false
    }

    private var blocks: [Block] = []
    /// The words since the last brace or the last declaration.
    private var words: [String] = []

    /// Processes a line of code.
    ///
    /// - Returns: The positions of initialisers in classes that end in the line and lack `init()`.
    mutating func take(_ line: [UInt8], _ number: Int) -> [(line: Int, column: Int)] {
        var found: [(line: Int, column: Int)] = []
        var index = 0
        while index < line.count {
            let end = SwiftCode.endOfWord(in: line, at: index)
            if end > index {
                take(String(decoding: line[index..<end], as: UTF8.self), rest: line[end...], at: (number, index))
                index = end
                continue
            }
            if line[index] == UInt8(ascii: "{") {
                let isTransformer = words.contains("class") && words.contains(where: Self.bases.contains)
                blocks.append(Block(isTransformer: isTransformer))
                words = []
            } else if line[index] == UInt8(ascii: "}") {
                if let block = blocks.popLast(), let position = block.designated, !block.hasRequired {
                    found.append(position)
                }
                words = []
            }
            index += 1
        }
        return found
    }

    private mutating func take(_ word: String, rest: ArraySlice<UInt8>, at position: (line: Int, column: Int)) {
        if word == "init", blocks.last?.isTransformer == true {
            if rest.starts(with: "()".utf8) {
                blocks[blocks.count - 1].hasRequired = true
            } else if !words.contains("convenience"), blocks[blocks.count - 1].designated == nil {
                blocks[blocks.count - 1].designated = position
            }
        }
        if ["class", "func", "init", "let", "var"].contains(word) { words = [] }
        words.append(word)
    }
}

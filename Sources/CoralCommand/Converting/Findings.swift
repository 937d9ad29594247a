/// A list of sentences, of which only the first are kept.
struct Findings {
    private(set) var count = 0
    private(set) var examples: [String] = []
    private static let limit = 20

    mutating func add(_ sentence: String) { add([sentence], of: 1) }

    /// Adds the first of `count` sentences; the others are only counted.
    mutating func add(_ sentences: [String], of count: Int) {
        self.count += count
        examples += sentences.prefix(max(Self.limit - examples.count, 0))
    }
}

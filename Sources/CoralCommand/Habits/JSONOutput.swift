import Coral

/// What `--json` prints.
enum JSONOutput {
    /// Writes a value as JSON with sorted keys, and a line break.
    static func write(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try StandardOutput.write(String(decoding: try encoder.encode(value), as: UTF8.self) + "\n")
    }
}

import Coral

/// The output of `--json`.
enum JSONOutput {
    /// Writes a value as JSON with sorted keys, and a line break.
    static func write(_ value: some Encodable) throws { try StandardOutput.write(try text(of: value)) }

    /// Writes the report of a completed change; throws `UnreportedChange` if it cannot be written.
    static func report(_ value: some Encodable) throws { try StandardOutput.report(try text(of: value)) }

    /// A value as JSON with sorted keys, and a line break.
    static func text(of value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
    }
}

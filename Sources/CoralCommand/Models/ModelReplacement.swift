import Coral

/// Writes models to places where one may stand already.
enum ModelReplacement {
    /// Writes beside the place and then takes it, so that a whole model is there or what was there before.
    static func write<Result>(to url: URL, _ write: (URL) throws -> Result) throws -> Result {
        let temporary = url.deletingLastPathComponent().appendingPathComponent(".\(UUID().uuidString).partial")
        defer { try? FileManager.default.removeItem(at: temporary) }
        do {
            let result = try write(temporary)
            if FileStatus(url.path) != nil { try FileManager.default.removeItem(at: url) }
            try FileManager.default.moveItem(at: temporary, to: url)
            return result
        } catch {
            // Nobody has heard of the temporary file.
            throw CommandError(ErrorText.text(of: error).replacingOccurrences(of: temporary.path, with: url.path))
        }
    }
}

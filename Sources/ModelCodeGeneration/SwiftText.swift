/// Builds Swift text, indented by four spaces.
struct SwiftText {
    /// The beginning of generated files.
    static let heading = "// Generated from "

    private var text: String
    private var depth = 0

    /// Begins a file for the user to edit, or, with a model's name, a generated one.
    init(modelName: String? = nil) {
        text = ""
        if let modelName {
            text = "\(Self.heading)\(modelName). Do not edit: change the model instead.\n\n"
        }
        text += "import CoreData\nimport Foundation\n\n"
    }

    /// Begins a generated file with its heading and imports.
    init(heading: String, imports: [String]) {
        text = heading + "\n" + imports.map { $0 + "\n" }.joined() + "\n"
    }

    /// Writes a line, or an empty one.
    mutating func line(_ line: String = "") {
        if !line.isEmpty { text += String(repeating: "    ", count: depth) + line }
        text += "\n"
    }

    /// Writes a head, an indented body, and a closing brace.
    mutating func block(_ head: String, _ body: (inout SwiftText) -> Void) {
        line(head + " {")
        depth += 1
        body(&self)
        depth -= 1
        line("}")
    }

    /// The text, with one line break at its end.
    func finished() -> String {
        var finished = Substring(text)
        while finished.hasSuffix("\n\n") { finished.removeLast() }
        return String(finished)
    }
}

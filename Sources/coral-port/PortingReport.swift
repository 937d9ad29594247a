#if Macros
    import Foundation
    import ModelCodeGeneration

    /// The list of lines as the program prints it.
    enum PortingReport {
        static func sum(of findings: [PortingFinding], remaining: Bool) -> String {
            if findings.isEmpty { return remaining ? "No lines remain to port." : "No lines to port were found." }
            let files = Set(findings.map(\.file)).count
            let lines = "\(findings.count) \(findings.count == 1 ? "line" : "lines")"
            return "\(lines) in \(files) \(files == 1 ? "file" : "files")\(remaining ? " to change by hand" : "")."
        }

        static func write(json findings: [PortingFinding]) throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(findings), as: UTF8.self))
        }
    }
#endif

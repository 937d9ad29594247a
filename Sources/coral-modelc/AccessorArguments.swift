import Foundation

/// The command line arguments after `accessors`.
struct AccessorArguments {
    static let usage = "usage: coral-modelc accessors FILE… --module NAME --output FILE"

    /// The Swift files of the module.
    let files: [URL]
    /// The file for the accessors.
    let output: URL
    let moduleName: String

    init(_ arguments: some Collection<String>) throws {
        var files: [URL] = []
        var options: [String: String] = [:]
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            if argument == "--output" || argument == "--module" {
                guard let value = rest.popFirst() else { throw UsageError(message: "\(argument) needs a value.") }
                options[argument] = value
            } else if argument.hasPrefix("-") {
                throw UsageError(message: "'\(argument)' is unknown.")
            } else {
                files.append(URL(fileURLWithPath: argument))
            }
        }
        guard !files.isEmpty, let output = options["--output"], let moduleName = options["--module"] else {
            throw UsageError(message: "Files, --module and --output are required.")
        }
        (self.files, self.output, self.moduleName) = (files, URL(fileURLWithPath: output), moduleName)
    }
}

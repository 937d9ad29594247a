import Foundation

/// The command line arguments.
struct Arguments {
    static let usage = "usage: coral-modelc MODEL --output DIRECTORY [--module NAME]"

    /// The model: an `.xcdatamodeld` or `.xcdatamodel`; or a mapping model, an `.xcmappingmodel`.
    let model: URL
    /// The directory for the compiled model and the classes.
    let output: URL
    /// The module that the classes are part of.
    let moduleName: String?

    init(_ arguments: [String]) throws {
        var model: String?
        var options: [String: String] = [:]
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--output" || argument == "--module" {
                guard let value = rest.popFirst() else { throw UsageError(message: "\(argument) needs a value.") }
                options[argument] = value
            } else if argument.hasPrefix("-") || model != nil {
                throw UsageError(message: "'\(argument)' is unknown.")
            } else {
                model = argument
            }
        }
        guard let model, let output = options["--output"] else {
            throw UsageError(message: "A model and --output are required.")
        }
        self.model = URL(fileURLWithPath: model)
        self.output = URL(fileURLWithPath: output)
        moduleName = options["--module"]
    }
}

/// Invalid arguments.
struct UsageError: Error {
    let message: String
}

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

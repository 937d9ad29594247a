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

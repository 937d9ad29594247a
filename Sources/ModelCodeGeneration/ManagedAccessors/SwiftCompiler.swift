import Foundation

/// The compiler `swiftc`, run as a process.
package struct SwiftCompiler {
    private let executable: URL

    package init(_ executable: URL) { self.executable = executable }

    /// The compiler of the running build: beside the program that started this process, as SwiftPM starts the tools of build
    /// plugins; else the first `swiftc` in the folders of `PATH`.
    ///
    /// - Throws: ``AccessorError`` if there is none.
    package static func ofBuild() throws -> SwiftCompiler {
        var folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        #if os(Linux)
            if let parent = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(getppid())/exe") {
                folders.insert(URL(fileURLWithPath: parent).deletingLastPathComponent().path, at: 0)
            }
        #endif
        let paths = folders.map { $0 + "/swiftc" }
        guard let path = paths.first(where: FileManager.default.isExecutableFile) else {
            throw AccessorError(
                message:
                    "error: There is no swiftc beside the package manager or in PATH to write accessors of @NSManaged.")
        }
        return SwiftCompiler(URL(fileURLWithPath: path))
    }

    /// Compiles, and returns what the compiler prints.
    ///
    /// - Throws: ``AccessorError`` with the compiler's messages.
    @discardableResult
    func run(_ arguments: [String]) throws -> String {
        // The module is a part of apps for systems that have neither a compiler nor processes.
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            throw AccessorError(message: "error: \(executable.path) cannot be run on this system.")
        #else
            return try runProcess(arguments)
        #endif
    }

    #if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
        private func runProcess(_ arguments: [String]) throws -> String {
            let process = Process()
            process.executableURL = executable
            process.arguments = arguments
            // The messages go to a file: two pipes would have to be read at the same time.
            let messages = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).txt")
            try Data().write(to: messages)
            defer { try? FileManager.default.removeItem(at: messages) }
            let output = Pipe()
            process.standardOutput = output
            process.standardError = try FileHandle(forWritingTo: messages)
            try process.run()
            let text = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else {
                throw AccessorError(message: String(decoding: try Data(contentsOf: messages), as: UTF8.self))
            }
            return String(decoding: text, as: UTF8.self)
        }
    #endif
}

/// The compiler cannot compile the declarations with `@NSManaged`.
package struct AccessorError: Error, Sendable {
    /// The compiler's messages, with the positions of the declarations.
    package let message: String
}

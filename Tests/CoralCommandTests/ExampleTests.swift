import Foundation
import Testing

/// The example programs print what their `Output.txt` says.
@Suite struct ExampleTests {
    @Test(arguments: ["CopyNotes", "RememberNotes", "ChangeInPlace", "ShareSubset"])
    func `an example prints what it says`(_ name: String) throws {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let wanted = try String(
            contentsOf: package.appendingPathComponent("Examples/\(name)/Output.txt"), encoding: .utf8)
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        let process = Process()
        process.executableURL = tests.deletingLastPathComponent().appendingPathComponent(name)
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        // Read first: a pipe that nobody empties stops the program.
        let printed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(printed == wanted)
    }
}

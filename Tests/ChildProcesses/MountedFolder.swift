import Foundation

/// A folder on a mounted file system in memory: small, or read-only.
package final class MountedFolder {
    package let url: URL

    /// Nil, with a message, if this process may not mount file systems.
    package init?(kilobytes: Int) throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("mounted-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        guard try Self.run("mount -t tmpfs -o size=\(kilobytes)k tmpfs '\(url.path)'") else {
            print("Skipped: no file system can be mounted here.")
            return nil
        }
    }

    deinit {
        // Detached at once, even if a file in it is still open: otherwise the folder would be left.
        _ = try? Self.run("umount --lazy '\(url.path)'")
        rmdir(url.path)
    }

    package func file(_ name: String) -> String { url.appendingPathComponent(name).path }

    package func makeReadOnly() throws { _ = try Self.run("mount -o remount,ro '\(url.path)'") }

    /// Fills the file system except some kilobytes.
    package func fill(leaving kilobytes: Int) throws {
        _ = try Self.run("cat /dev/zero > '\(file("filler"))'; truncate -s -\(kilobytes)K '\(file("filler"))'")
    }

    /// The bytes of all files except the filler, by name.
    package func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: url.path) where name != "filler" {
            contents[name] = FileManager.default.contents(atPath: file(name)) ?? Data()
        }
        return contents
    }

    private static func run(_ line: String) throws -> Bool {
        let null = URL(fileURLWithPath: "/dev/null")
        return try ChildProcess(
            URL(fileURLWithPath: "/bin/sh"), ["-c", line], input: null, output: null, errors: null
        ).wait() == 0
    }
}

import AtomicFiles
import Foundation
import GraphDocuments
import Testing

/// Files are written completely or not at all.
final class AtomicFileTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("atomic-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func write(_ text: String, to name: String, replacing: Bool = true) throws {
        let file = try AtomicFile(path: folder.appendingPathComponent(name).path, replacing: replacing)
        try Data(text.utf8).withUnsafeBytes { try file.write($0) }
        try file.finish()
    }

    private func text(_ name: String) -> String? {
        try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }

    private var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }

    @Test func `a file is replaced, its permissions are kept, and no temporary files remain`() throws {
        try write("old", to: "a.json")
        chmod(folder.appendingPathComponent("a.json").path, 0o600)
        try write("new", to: "a.json")
        #expect(text("a.json") == "new")
        #expect(names == ["a.json"])
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent("a.json").path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test func `an existing file that must not be replaced is an error`() throws {
        try write("old", to: "a.json")
        #expect(throws: DocumentError.self) { try write("new", to: "a.json", replacing: false) }
        #expect(text("a.json") == "old")
        #expect(names == ["a.json"])
        try write("new", to: "b.json", replacing: false)
        #expect(names == ["a.json", "b.json"])
    }

    @Test func `a link is kept, and its target is replaced or created`() throws {
        let manager = FileManager.default
        try manager.createDirectory(at: folder.appendingPathComponent("real"), withIntermediateDirectories: true)
        try manager.createSymbolicLink(
            atPath: folder.appendingPathComponent("link.json").path, withDestinationPath: "real/a.json")
        for text in ["one", "two"] {
            try write(text, to: "link.json")
            #expect(self.text("real/a.json") == text)
        }
        #expect(names == ["link.json", "real"])
        let circle = folder.appendingPathComponent("circle")
        try manager.createSymbolicLink(atPath: circle.path, withDestinationPath: "circle")
        #expect(circle.withoutLinks.lastPathComponent == "circle")
    }

    @Test func `temporary folders of killed processes are removed, those of running ones are kept`() throws {
        let place = folder.appendingPathComponent("a.json")
        let running = try PartialFolder(for: place)
        let killed = folder.appendingPathComponent(".a.json.\(UUID().uuidString).partial")
        let alien = folder.appendingPathComponent(".a.json.mine.partial")
        for url in [killed, alien] {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            try Data("half".utf8).write(to: url.appendingPathComponent("a.json"))
        }
        try write("new", to: "a.json")
        #expect(!FileManager.default.fileExists(atPath: killed.path))
        #expect(FileManager.default.fileExists(atPath: running.url.path))
        #expect(FileManager.default.fileExists(atPath: alien.path))
        #expect(names.count == 3 && text("a.json") == "new")
    }

    @Test func `a folder whose replacement was interrupted by a kill is restored`() throws {
        let place = folder.appendingPathComponent("Notes.momd")
        let killed = folder.appendingPathComponent(".Notes.momd.\(UUID().uuidString).partial")
        for name in ["previous", "Notes.momd"] {
            let url = killed.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            try Data(name.utf8).write(to: url.appendingPathComponent("file"))
        }
        let next = try PartialFolder(for: place)
        #expect(text("Notes.momd/file") == "previous")
        try FileManager.default.createDirectory(at: next.item, withIntermediateDirectories: true)
        try Data("new".utf8).write(to: next.item.appendingPathComponent("file"))
        try next.commit()
        #expect(text("Notes.momd/file") == "new")
        #expect(names == ["Notes.momd"])
    }
}

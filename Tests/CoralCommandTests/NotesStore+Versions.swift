import Foundation

extension NotesStore {
    /// Creates a bundle of versions: the store's own model, and further versions, each made from the previous one by replacing
    /// text.
    func bundle(_ changes: [(name: String, change: (String) -> String)]) throws -> String {
        let bundle = URL(fileURLWithPath: file("Notes.xcdatamodeld"))
        var text = try CommandRun("model", "convert", path).output
        for (name, change) in [("Notes", { $0 })] + changes {
            text = change(text)
            let folder = bundle.appendingPathComponent("\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: folder.appendingPathComponent("contents"))
        }
        return bundle.path
    }

    /// Renames the title to heading.
    static func renamingTitle(_ text: String) -> String {
        text.replacingOccurrences(
            of: #"<attribute name="title""#, with: #"<attribute name="heading" elementID="title""#)
    }

    /// Adds an entity that sorts first, so that all others get other numbers.
    static func addingEntity(_ text: String) -> String {
        text.replacingOccurrences(
            of: "</model>", with: #"<entity name="Aaa" representedClassName="NSManagedObject" syncable="YES"/></model>"#
        )
    }
}

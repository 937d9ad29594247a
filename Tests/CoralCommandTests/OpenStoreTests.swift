import Coral
import Foundation
import Testing

/// The reports of commands about a store that does not match a model, and about references to objects outside a document.
@Suite struct OpenStoreTests {
    private let store: NotesStore

    init() throws { store = try NotesStore() }

    private func model(_ entities: [String]) throws -> String {
        let folder = store.file("Other\(entities.count).xcdatamodel")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let elements = entities.map {
            "<entity name=\"\($0)\"><attribute name=\"label\" optional=\"YES\" attributeType=\"String\"/></entity>"
        }
        try """
        <?xml version="1.0" encoding="UTF-8"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\(elements.joined())</model>
        """.write(toFile: folder + "/contents", atomically: true, encoding: .utf8)
        return folder
    }

    @Test func `a migration is suggested for another version of the model only`() throws {
        let version = try CommandRun("query", store.path, "--model", model(["Note", "Item", "Tag"]))
        #expect(version.status == 1)
        #expect(version.errors.contains("another version of the model"), "\(version.errors)")
        #expect(version.errors.contains("Migrate it first: coral migrate"), "\(version.errors)")
        let unclear = try CommandRun("query", store.path, "--model", model(["Note", "A", "B", "C", "D"]))
        #expect(unclear.errors.contains("another model, which differs in A, B, C, D, Item, …"), "\(unclear.errors)")
        #expect(unclear.errors.contains("If they are versions of one model, migrate the store first"))
        let other = try CommandRun("query", store.path, "--model", model(["A", "B"]))
        #expect(other.errors.contains("another model") && !other.errors.contains("migrate"), "\(other.errors)")
        #if !canImport(Darwin)
            for run in [version, unclear, other] {
                #expect(run.errors.contains(" Leave out --model to use the model in the store."), "\(run.errors)")
            }
        #endif
    }

    @Test(arguments: [#"{"Note": []}"#, "garbage", "PK\u{3}\u{4}"])
    func `a file that is not a model is refused as one`(_ content: String) throws {
        let path = store.file("g.json")
        try Data(content.utf8).write(to: URL(fileURLWithPath: path))
        for arguments in [["query", store.path, "--model", path], ["model", "show", path], ["model", "check", path]] {
            let run = try CommandRun(arguments)
            #expect(run.status == 1 && run.output.isEmpty, "\(arguments)")
            #expect(run.errors.contains("g.json is not a model. A model is a .xcdatamodeld, "), "\(run.errors)")
        }
    }

    @Test func `an export lists references to objects without a key`() throws {
        let run = try CommandRun("export", store.path, "--entity", "Note", "-o", store.file("notes.json"))
        #expect(run.status == 0)
        #expect(
            run.errors.contains("Note/p1.author refers to Person/p1, which is not in the document"), "\(run.errors)")
        let keyed = try CommandRun(
            "export", store.path, "--entity", "Note", "--key", "Person=name", "--key", "Item=name", "-o",
            store.file("keyed.json"))
        #expect(!keyed.errors.contains("has no natural key"), "\(keyed.errors)")
    }
}

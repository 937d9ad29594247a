import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects
@testable import SQLStores

/// Copies of rows that get a large value, which is in a file.
@Suite struct CopiedFileTests {
    @Test func `each copy has a file of its own for an initial value`() throws {
        try TestStores.withFile { url in
            let model = NotesModel.make()
            let note = try #require(model.entitiesByName["Note"])
            let blob = try #require(note.attributesByName["blob"])
            blob.allowsExternalBinaryDataStorage = true
            blob.defaultValue = Data(repeating: 7, count: 200_000)
            let stack = try TestStack(model: model, url: url)
            let context = stack.context()
            let notes = ["a", "b"].map { context.insert("Note", ["title": $0, "blob": Data([1])]) }
            try context.save()
            let rules = RowCopyRequest.Rules(entity: note, sources: ["title": .original, "blob": .initial], links: [:])
            let request = RowCopyRequest(rules: [rules], willContinue: {})
            guard case .copied(let result) = try context.copyRows(notes.map(\.objectID), by: request) else {
                Issue.record("Copied with objects.")
                return
            }
            let values = url.deletingLastPathComponent().appendingPathComponent(".Notes_SUPPORT/_EXTERNAL_DATA").path
            #expect(try FileManager.default.contentsOfDirectory(atPath: values).count == 2)
            let other = stack.context()
            let copies = result.copies.map(other.object(with:))
            copies[0].setValue(Data([2]), forKey: "blob")
            try other.save()
            let fresh = stack.context()
            let sizes = result.copies.map { (fresh.object(with: $0).value(forKey: "blob") as? Data)?.count }
            #expect(sizes == [1, 200_000])
        }
    }
}

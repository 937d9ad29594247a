import Coral
import Foundation
import Testing

/// `coral get`: one object and the objects that it refers to.
@Suite struct GetCommandTests {
    private let store: NotesStore

    init() throws { store = try NotesStore() }

    private func get(_ arguments: String...) throws -> CommandRun { try CommandRun(["get", store.path] + arguments) }

    @Test func `an object is shown with its values and the names of its destinations`() throws {
        let run = try get("Note/p1")
        #expect(run.status == 0, "\(run.errors)")
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(lines.first?.hasPrefix("Note/p1  x-coredata://") == true)
        #expect(lines.contains { $0.hasPrefix("  title") && $0.hasSuffix("  Groceries") })
        #expect(lines.contains { $0.hasPrefix("  items") && $0.hasSuffix("  -> Item/p1") })
        #expect(lines.contains { $0.hasPrefix("  author") && $0.hasSuffix("  -> Person/p1") })
        #expect(lines.filter { !$0.hasPrefix("  ") }.count == 1)
    }

    @Test func `a URI and a short name are the same object`() throws {
        let name = try get("Note/p2")
        let uri = try #require(name.output.split(separator: "\n").first?.split(separator: " ").last)
        #expect(try get(String(uri)).output == name.output)
        #expect(try get("Note/2").output == name.output)
        let other = try get("x-coredata://00000000-0000-0000-0000-000000000000/Note/p2")
        #expect(other.status == 1)
        #expect(other.errors.contains("is an object of the store 00000000"))
    }

    /// The numbers of steps from the first object, by object.
    private func depths(_ arguments: String...) throws -> [String: Int] {
        let run = try CommandRun(["get", store.path, "Note/p1", "--json"] + arguments)
        let objects = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: try objects.map { object in
                (try #require(object["id"] as? String), try #require(object["depth"] as? Int))
            })
    }

    @Test func `--depth follows relationships, and visits each object once`() throws {
        #expect(try depths() == ["Note/p1": 0])
        #expect(try depths("--depth", "1") == ["Note/p1": 0, "Item/p1": 1, "Person/p1": 1, "Tag/p1": 1])
        // The second note is reached through the tag that both have.
        let all = ["Note/p1": 0, "Item/p1": 1, "Person/p1": 1, "Tag/p1": 1, "Note/p2": 2, "Item/p2": 3]
        #expect(try depths("--depth", "3") == all)
        #expect(try depths("--depth", "9") == all)
        #expect(try get("Note/p1", "--depth", "9", "--limit", "2").output.contains("more object"))
        let json = try get("Note/p1", "--depth", "9", "--limit", "2", "--json")
        #expect(json.errors.contains("more objects not written"), "\(json.errors)")
    }

    @Test func `JSON has null values, and relationships as names`() throws {
        let run = try get("Note/p2", "--json")
        let objects = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]])
        let relationships = try #require(objects.first?["relationships"] as? [String: Any])
        #expect(relationships["author"] is NSNull)
        #expect(relationships["tags"] as? [String] == ["Tag/p1"])
        let attributes = try #require(objects.first?["attributes"] as? [String: Any])
        #expect(attributes["title"] as? String == "Garden, \"big\"")
        #expect(attributes["rank"] as? Double == 1)
    }

    @Test(arguments: [
        ("Note/p9", "The store has no object Note/p9."), ("Nite/p1", "Did you mean \"Note\"?"),
        ("Note/p9223372036854775807", "The store has no object"),
    ])
    func `an object that does not exist is an error`(_ object: String, _ sentence: String) throws {
        let run = try get(object)
        #expect(run.status == 1)
        #expect(run.errors.contains(sentence), "\(run.errors)")
    }

    @Test(arguments: ["Note", "Note/", "Note/p", "Note/p0", "Note/px", "/p1", "x-coredata://a", "x-coredata://a/Note"])
    func `text that does not name an object is an invalid argument`(_ object: String) throws {
        #expect(try get(object).status == 64)
    }
}

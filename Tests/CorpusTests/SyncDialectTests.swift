import Coral
import Foundation
import Testing

private let fixtureFile = "3lvis+Sync/EXPECTED.json"

/// Sync's models and documents give the results of its own tests, as `EXPECTED.json` lists them, with additions.
@Suite(.enabled(if: DialectFixture.exists(fixtureFile), "The files of the corpus are not here."))
struct SyncDialectTests {

    /// One test of the list.
    struct Case: Decodable, CustomTestStringConvertible {
        var test: String
        var model: String
        var steps: [Step]
        var testDescription: String { test }
    }

    /// A synchronisation, or an expected result.
    struct Step: Decodable {
        var sync: String?
        var entity: String?
        var operations: [String]?
        var withParent: Bool?
        var expectCount: String?
        var n: Int?
        var expectValueOf: String?
        var key: String?
        var value: String?
    }

    static let cases: [Case] =
        (try? JSONDecoder().decode([Case].self, from: Data(contentsOf: Corpus.root.appendingPathComponent(fixtureFile))))
        ?? []

    private static func fixture(_ model: String) throws -> DialectFixture {
        try DialectFixture(
            model: "3lvis+Sync/Tests/Sync/Models/\(model).xcdatamodeld", documents: "3lvis+Sync/Tests/Sync/JSONs")
    }

    private static func sync(_ fixture: DialectFixture, _ name: String, _ entity: String, _ operations: [String]?)
        throws
    {
        var top: ImportOptions.Operations = []
        var inside: ImportOptions.Operations = []
        for word in operations ?? ["insert", "update", "delete"] {
            switch word {
            case "insert": top.insert(.insert)
            case "update": top.insert(.update)
            case "delete": top.insert(.delete)
            case "insertRelationships": inside.insert(.insert)
            case "updateRelationships": inside.insert(.update)
            case "deleteRelationships": inside.insert(.delete)
            default: Issue.record("There is no operation \(word).")
            }
        }
        let options = try Dialect.syncOptions(
            entity, in: fixture.model, operations: top, relationshipOperations: inside.isEmpty ? nil : inside)
        try fixture.take(.data(fixture.document(name)), as: entity, options)
        try fixture.save()
    }

    @Test(arguments: cases)
    func `the listed tests give their results`(test: Case) throws {
        let fixture = try Self.fixture(test.model)
        // The list lacks steps of the first, which creates objects without a document: `the order of a list of objects`. The key
        // in the documents of the second does not fit into its attribute: `an ordered list is filled and reordered`.
        if ["test327OrderedToMany", "testUpdateManytoManyRelationship"].contains(test.test) { return }
        #expect(Dialect.sync.mistakes(in: fixture.model).isEmpty)
        for step in test.steps {
            if let name = step.sync, let entity = step.entity, step.withParent != true {
                try Self.sync(fixture, name, entity, step.operations)
            } else if let entity = step.expectCount {
                #expect(try fixture.objects(entity).count == step.n, "\(test.test): \(entity)")
            } else if let key = step.key, let value = step.value {
                // The list contains the variable but not the entity, so an object of any entity may have the value.
                let found = try fixture.model.entities.filter { $0.attributesByName[key] != nil }.contains { entity in
                    try fixture.objects(entity.name ?? "").contains { "\($0.value(forKey: key) ?? "")" == value }
                }
                #expect(found, "\(test.test): \(key) = \(value)")
            }
        }
    }

    // MARK: - Tests without a row in the list

    /// Sync, `testSyncingWithMultipleInsertOperationTypes` and the tests of other operations that the list lacks: of two
    /// existing users, the second document changes one; the other user of that document is new.
    @Test(arguments: [
        (["insert"], [0, 1, 6], "melisawhite@ovium.com"),
        (["update"], [0, 1], "updated@ovium.com"),
        (["insert", "update"], [0, 1, 6], "updated@ovium.com"),
    ])
    func `only the given operations are executed`(operations: [String], users: [Int], mail: String) throws {
        let fixture = try Self.fixture("Contacts")
        try Self.sync(fixture, "operation-types-users-a.json", "User", nil)
        for _ in 0..<2 { try Self.sync(fixture, "operation-types-users-b.json", "User", operations) }
        #expect(try fixture.objects("User").compactMap { $0.int("remoteID") }.sorted() == users)
        #expect(try fixture.objects("User", where: "remoteID = 0").first?.text("email") == mail)
    }

    @Test func `keys in snake_case and in camelCase`() throws {
        let fixture = try Self.fixture("Camelcase")
        try Self.sync(fixture, "camelcase.json", "NormalUser", nil)
        let user = try #require(try fixture.objects("NormalUser").first)
        #expect(user.text("etternavn") == "Nuñez" && user.text("firstName") == "Elvis")
        #expect(user.text("fullName") == "Elvis Nuñez" && user.int("numberOfChildren") == 1)
        #expect(user.text("remoteID") == "1")
    }

    @Test func `objects of a parent`() throws {
        let fixture = try Self.fixture("InsertObjectsInParent")
        let user = fixture.insert("SuperUser", ["remoteID": 6])
        try fixture.save()
        var options = try Dialect.sync.importOptions(for: fixture.model)
        options.owner = (user, "superNotes")
        try fixture.take(.data(fixture.document("notes_for_user_a.json")), as: "SuperNote", options)
        #expect(user.many("superNotes").count == 2)
    }

    @Test func `relationships by key`() throws {
        let notes = try Self.fixture("Notes")
        try Self.sync(notes, "users_a.json", "SuperUser", nil)
        try Self.sync(notes, "notes_with_user_id.json", "SuperNote", nil)
        #expect(try notes.objects("SuperUser").count == 8 && notes.objects("SuperNote").count == 5)
        let note = try notes.objects("SuperNote", where: "remoteID = 0").first
        #expect(note?.one("superUser")?.text("name") == "Melisa White")

        let routes = try Self.fixture("179")
        try Self.sync(routes, "bug-179-places.json", "Place", nil)
        try Self.sync(routes, "bug-179-routes.json", "Route", nil)
        let route = try routes.objects("Route").first
        #expect(route?.one("startPlace")?.text("name") == "Here" && route?.one("endPlace")?.text("name") == "There")

        let places = try Self.fixture("157")
        for name in ["157-locations.json", "157-cities.json", "157-locations.json"] {
            try Self.sync(places, name, name.contains("cities") ? "City" : "Location", nil)
        }
        func city(_ number: Int) throws -> String? {
            try places.objects("Location", where: "locationID = \(number)").first?.one("city")?.text("name")
        }
        #expect(try [city(0), city(1), city(2)] == ["Oslo", "Paris", nil])
        try Self.sync(places, "157-locations-update.json", "Location", nil)
        #expect(try [city(0), city(1), city(2)] == [nil, "Oslo", "Paris"])

        let speeches = try Self.fixture("375")
        try Self.sync(speeches, "375-to-many-series.json", "Serie", nil)
        try Self.sync(speeches, "375-to-many-speeches.json", "Speech", nil)
        #expect(try speeches.objects("Speech", where: "id = 4865").first?.many("series").count == 1)
    }

    @Test func `ordered lists of keys`() throws {
        let fixture = try Self.fixture("151-ordered-to-many")
        for name in ["151-to-many-users.json", "151-to-many-notes.json", "151-to-many-users.json"] {
            try Self.sync(fixture, name, name.contains("notes") ? "Note" : "User", nil)
        }
        func notes(_ user: Int) throws -> [Int?]? {
            try fixture.objects("User", where: "id = \(user)").first?.many("notes").map { $0.int("id") }
        }
        #expect(try [notes(10), notes(11), notes(12)] == [[0, 1], [2], []])
        try Self.sync(fixture, "151-to-many-users-update.json", "User", nil)
        #expect(try [notes(10), notes(11), notes(12)] == [[], [2], [0, 1]])
    }

    @Test func `objects in relationships are linked once`() throws {
        let staff = try Self.fixture("84")
        try Self.sync(staff, "bug-number-84.json", "MSStaff", nil)
        #expect(try staff.objects("MSStaff").first?.many("fulfillers").count == 2)
        #expect(try staff.objects("MSFulfiller", where: "name = 'New York'").first?.many("staff").count == 1)

        let social = try Self.fixture("Social")
        try Self.sync(social, "stories-comments-no-ids.json", "Story", nil)
        #expect(try social.objects("Story", where: "remoteID = 0").first?.many("comments").count == 3)
        let comment = try social.objects("SocialComment", where: "body = 'comment 1'").first
        #expect(comment?.one("story")?.text("title") == "story 1")

        let stories = try Self.fixture("113")
        try Self.sync(stories, "bug-113-custom_relationship_key_to_one.json", "AwesomeStory", nil)
        #expect(try stories.objects("AwesomeStory").first?.one("awesomeSummarize")?.text("body") == "Body of tale")

        let cars = try Self.fixture("277")
        try Self.sync(cars, "277.json", "Racecar", nil)
        #expect(try cars.objects("Racecar").map { $0.many("passengers").count } == [1, 1])

        let tasks = try Self.fixture("283")
        try Self.sync(tasks, "283.json", "TaskList", nil)
        let list = try tasks.objects("TaskList").first
        #expect(list?.one("owner") != nil && list?.many("participants").isEmpty == true)
    }

    /// Sync, `test225RemovedTagsWithEmptyArray`, `test225RemovedTagsWithNull` and `test225ReplacedTag`.
    @Test(arguments: [
        #"[{"id": 1, "tags": []}]"#, #"[{"id": 1, "tags": null}]"#, #"[{"id": 1, "tags": [{"id": 11}]}]"#,
    ])
    func `a list without a tag unlinks and does not delete`(json: String) throws {
        let fixture = try Self.fixture("225")
        try Self.sync(fixture, "225-a.json", "User", nil)
        let user = try #require(try fixture.objects("User").first)
        #expect(user.many("tags").map { $0.int("remoteID") } == [10])
        try fixture.take(.data(Data(json.utf8)), as: "User", Dialect.syncOptions("User", in: fixture.model))
        try fixture.save()
        #expect(user.many("tags").map { $0.int("remoteID") } == (json.contains("11") ? [11] : []))
        #expect(try fixture.objects("Tag", where: "remoteID = 10").count == 1)
    }

    @Test func `the order of a list of objects`() throws {
        let fixture = try Self.fixture("233")
        let slides = [1, 2].map { fixture.insert("Slide", ["id": $0]) }
        let presentation = fixture.insert("Presentation", ["id": 1, "slides": NSOrderedSet(array: slides)])
        try fixture.save()
        try Self.sync(fixture, "237.json", "Presentation", nil)
        #expect(try fixture.objects("Presentation").count == 1)
        #expect(presentation.many("slides").map { $0.int("id") } == [2, 1])
    }

    @Test func `an ordered list is filled and reordered`() throws {
        let fixture = try Self.fixture("ordered-many-to-many-update")
        for id in [1, 3, 2, 5, 4] { _ = fixture.insert("Item", ["id": id]) }
        try fixture.save()
        func sync(_ text: String, items: Int = 5) throws -> [Int?]? {
            try fixture.take(.data(Data(text.utf8)), as: "List", Dialect.syncOptions("List", in: fixture.model))
            try fixture.save()
            #expect(try fixture.objects("Item").count == items)
            let lists = try fixture.objects("List")
            #expect(lists.count < 2)
            return lists.first?.many("items").map { $0.int("id") }
        }
        // The key of Sync's own document does not fit into the attribute of 16 bits; an object without its key is omitted.
        #expect(try sync(#"[{"id": 702377}]"#) == nil)
        #expect(try sync(#"[{"id": 7023}]"#) == [])
        let objects = { (ids: [Int]) in ids.map { "{\"id\": \($0)}" }.joined(separator: ", ") }
        #expect(try sync("[{\"id\": 7023, \"items\": [\(objects([1, 3, 2, 5, 4]))]}]") == [1, 3, 2, 5, 4])
        // An object that a list of its owner no longer has is deleted.
        #expect(try sync("[{\"id\": 7023, \"items\": [\(objects([4, 1, 2]))]}]", items: 3) == [4, 1, 2])
    }

    @Test func `items move between ordered lists`() throws {
        let fixture = try Self.fixture("ordered-many-to-many-update")
        let items = (1...5).map { fixture.insert("Item", ["id": $0]) }
        let list = fixture.insert("List", ["id": 1, "items": NSOrderedSet(array: items)])
        try fixture.save()
        let options = try Dialect.sync.importOptions(for: fixture.model)
        try fixture.take(.data(Data(#"[{"id": 1, "items_ids": [5, 3, 1, 2, 4]}]"#.utf8)), as: "List", options)
        #expect(list.many("items").map { $0.int("id") } == [5, 3, 1, 2, 4])
        #expect(try fixture.objects("Item").count == 5 && fixture.objects("List").count == 1)
    }
}

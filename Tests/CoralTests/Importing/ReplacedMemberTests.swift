import Coral
import Testing

/// The policy `replace` deletes what a record does not list any more, unless the document mentions it elsewhere.
struct ReplacedMemberTests {
    /// Boards with two lists of cards.
    private static func makeModel() -> NSManagedObjectModel {
        let board = WebModel.entity("Board", [("name", .stringAttributeType)])
        let card = WebModel.entity("Card", [("name", .stringAttributeType), ("text", .stringAttributeType)])
        board.userInfo = ["coral.identity": "name"]
        card.userInfo = ["coral.identity": "name"]
        WebModel.relate(board, "todo", .toMany(ordered: false), card, "todoBoard", .toOne)
        WebModel.relate(board, "done", .toMany(ordered: false), card, "doneBoard", .toOne)
        let model = NSManagedObjectModel()
        model.entities = [board, card]
        return model
    }

    private let shop: Shop

    init() throws {
        shop = try Shop(Self.makeModel())
        try shop.take(#"{"Board": [{"name": "b", "todo": [{"name": "c", "text": "kept"}]}]}"#)
    }

    private static func replace(_ options: inout ImportOptions) {
        options.relationshipPolicies = ["Board.todo": .replace, "Board.done": .replace]
    }

    private func importInBatches(_ json: String, batchSize: Int) throws -> ImportResult {
        var options = ImportOptions()
        Self.replace(&options)
        let coordinator = try #require(shop.context.persistentStoreCoordinator)
        let result = try BatchImporter(into: coordinator, options: options, batchSize: batchSize)
            .importDocument(.data(Data(json.utf8)))
        shop.context.performAndWait { shop.context.reset() }
        return result
    }

    /// Each card with its text and boards.
    private func cards() throws -> [String] {
        try shop.objects("Card", sortedBy: "name").map { card in
            shop.context.performAndWait {
                ["name", "text", "todoBoard.name", "doneBoard.name"]
                    .map { card.value(forKeyPath: $0) as? String ?? "-" }.joined(separator: " ")
            }
        }
    }

    @Test func `a member that moves to another list of its owner stays`() throws {
        try shop.take(#"{"Board": [{"name": "b", "todo": [], "done": [{"name": "c"}]}]}"#, Self.replace)
        #expect(try cards() == ["c kept - b"])
        try shop.take(#"{"Board": [{"name": "b", "done": [], "todo": [{"name": "c"}]}]}"#, Self.replace)
        #expect(try cards() == ["c kept b -"])
    }

    @Test func `a member that another list owns stays, though the document does not mention it`() throws {
        try shop.take(#"{"Board": [{"name": "d", "done": [{"name": "c"}]}]}"#)
        try shop.take(#"{"Board": [{"name": "b", "todo": []}]}"#, Self.replace)
        #expect(try cards() == ["c kept - d"])
    }

    @Test func `a member that has a record of its own stays`() throws {
        try shop.take(#"{"Board": [{"name": "b", "todo": []}], "Card": [{"name": "c"}]}"#, Self.replace)
        #expect(try cards() == ["c kept - -"])
    }

    @Test func `a member that nothing mentions or owns is deleted`() throws {
        let summary = try shop.take(#"{"Board": [{"name": "b", "todo": []}]}"#, Self.replace)
        #expect(summary == "0 inserts, 0 updates, 1 link, 1 deletion, 0 errors")
        #expect(try cards().isEmpty)
    }

    @Test(arguments: [1, 2, 5000]) func `batches keep what other batches mention`(batchSize: Int) throws {
        let list = #"{"name": "d", "todo": [{"name": "c"}]}"#
        let result = try importInBatches(
            #"{"Board": [{"name": "b", "todo": []}, \#(list)]}"#, batchSize: batchSize)
        #expect(result.deletionCount == 0)
        #expect(try cards() == ["c kept d -"])
        // The record that lists it comes first, and in another list.
        let back = try importInBatches(
            #"{"Board": [{"name": "e", "done": [{"name": "c"}]}, {"name": "d", "todo": []}]}"#, batchSize: batchSize)
        #expect(back.deletionCount == 0)
        #expect(try cards() == ["c kept - e"])
        // Its own record comes last.
        _ = try importInBatches(
            #"{"Board": [{"name": "e", "done": []}], "Card": [{"name": "c"}]}"#, batchSize: batchSize)
        #expect(try cards() == ["c kept - -"])
    }

    @Test(arguments: [1, 5000]) func `batches delete what nothing mentions or owns`(batchSize: Int) throws {
        let result = try importInBatches(
            #"{"Board": [{"name": "b", "todo": []}, {"name": "d", "todo": [{"name": "x"}]}]}"#, batchSize: batchSize)
        #expect(result.deletionCount == 1)
        #expect(try cards() == ["x - d -"])
    }

    /// The record with the policy is imported through objects, which know no rows of the same document.
    @Test(arguments: [RowImporting.always, .never])
    func `a document in the plain layout keeps what its other records mention`(path: RowImporting) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let context = try makeContext(Self.makeModel(), at: folder.appendingPathComponent("Boards.sqlite"))
        var options = ImportOptions()
        options.layout = .plain
        options.relationshipPolicies = ["Board.todo": .replace]
        var importer = BatchImporter(
            into: try #require(context.persistentStoreCoordinator), options: options, batchSize: 1)
        importer.rowImporting = path
        try importer.importDocument(
            .data(Data(#"{"Card": [{"name": "c", "text": "kept"}], "Board": [{"name": "b", "todo": ["c"]}]}"#.utf8)))
        let result = try importer.importDocument(
            .data(Data(#"{"Card": [{"name": "c"}], "Board": [{"name": "b", "todo": []}]}"#.utf8)))
        #expect(result.deletionCount == 0)
        let texts = try context.performAndWait {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Card"))
                .map { $0.value(forKey: "text") as? String }
        }
        #expect(texts == ["kept"])
    }
}

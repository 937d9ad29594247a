import Coral
import Testing

/// The stores in SQLite have no value for NaN, so that importing one is an error: by rows, and through objects.
struct NotANumberTests {
    private static func makeModel() -> NSManagedObjectModel {
        let sample = WebModel.entity(
            "Sample",
            [
                ("name", .stringAttributeType), ("double", .doubleAttributeType), ("float", .floatAttributeType),
                ("decimal", .decimalAttributeType), ("date", .dateAttributeType),
            ])
        sample.userInfo = ["coral.identity": "name"]
        let model = NSManagedObjectModel()
        model.entities = [sample]
        return model
    }

    private static let members = [
        #""double": "NaN""#, #""float": "NaN""#, #""decimal": "NaN""#, #""date": "@NaN""#,
    ]

    private func withContext(_ body: (NSManagedObjectContext) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(try makeContext(Self.makeModel(), at: folder.appendingPathComponent("Samples.sqlite")))
    }

    private func count(_ context: NSManagedObjectContext) throws -> Int {
        try context.performAndWait { try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Sample")) }
    }

    @Test(arguments: members, [RowImporting.always, .never])
    func `an import in batches refuses the value, by rows and through objects`(member: String, path: RowImporting)
        throws
    {
        try withContext { context in
            var options = ImportOptions()
            options.layout = .plain
            var importer = BatchImporter(into: try #require(context.persistentStoreCoordinator), options: options)
            importer.rowImporting = path
            let error = #expect(throws: ImportError.self) {
                try importer.importDocument(.data(Data(#"{"Sample": [{"name": "a", \#(member)}]}"#.utf8)))
            }
            #expect(error?.code == .wrongValue)
            #expect(try count(context) == 0)
            // Infinities are stored.
            try importer.importDocument(
                .data(Data(#"{"Sample": [{"name": "a", "double": "Infinity", "float": "-Infinity"}]}"#.utf8)))
            #expect(try count(context) == 1)
        }
    }

    @Test(arguments: members) func `a plan of one document reports the value`(member: String) throws {
        try withContext { context in
            let plan: ImportPlan<NSManagedObject> = try context.performAndWait {
                try GraphImporter(into: context).plan(
                    .data(Data(#"{"Sample": [{"name": "a", \#(member)}]}"#.utf8)), entity: nil)
            }
            #expect(plan.errors.kept.map(\.code) == [.wrongValue])
        }
    }
}

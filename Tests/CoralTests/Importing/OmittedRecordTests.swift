import Coral
import Testing

/// Records that are omitted because of errors, in each importer.
struct OmittedRecordTests {
    /// How a document is imported.
    enum Importer: CaseIterable {
        case plan, planInPlace, oneBatch, smallBatches
    }

    private struct Outcome {
        var errors: Int
        var keptErrors: Int
        var omittedRecords: Int
    }

    private func take(
        _ text: String, _ context: NSManagedObjectContext, by importer: Importer, limit: Int = 100,
        _ change: (inout ImportOptions) -> Void = { _ in }
    ) throws -> Outcome {
        var options = ImportOptions()
        options.skipsInvalid = true
        options.entryLimit = limit
        change(&options)
        switch importer {
        case .plan, .planInPlace:
            return try context.performAndWait {
                var graphs = GraphImporter(into: context, options: options)
                graphs.worksInPlace = importer == .planInPlace
                let plan = try graphs.plan(Data(text.utf8))
                try plan.apply()
                try context.save()
                return Outcome(
                    errors: plan.errors.count, keptErrors: plan.errors.kept.count,
                    omittedRecords: plan.omittedRecordCount)
            }
        case .oneBatch, .smallBatches:
            let coordinator = try #require(context.persistentStoreCoordinator)
            let batches = BatchImporter(
                into: coordinator, options: options, batchSize: importer == .oneBatch ? 5000 : 7)
            let result = try batches.importDocument(.data(Data(text.utf8)))
            return Outcome(
                errors: result.errors.count, keptErrors: result.errors.kept.count,
                omittedRecords: result.omittedRecordCount)
        }
    }

    private func count(_ entity: String, _ context: NSManagedObjectContext) throws -> Int {
        try context.performAndWait { try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity)) }
    }

    @Test(arguments: Importer.allCases)
    func `all omitted records and all errors are counted`(importer: Importer) throws {
        let context = try makeNotesContext()
        // Each third record has two errors, each third one.
        let records = (0..<450).map { number in
            switch number % 3 {
            case 0: #"{"title":"\#(number)"}"#
            case 1: #"{"rank":"high"}"#
            default: #"{"rank":"high","createdAt":"never"}"#
            }
        }
        let outcome = try take("{\"Note\":[\(records.joined(separator: ","))]}", context, by: importer)
        #expect(outcome.errors == 450 && outcome.keptErrors == 100 && outcome.omittedRecords == 300, "\(outcome)")
        #expect(try count("Note", context) == 150)
    }

    /// Pairs of keys that belong to two objects.
    @Test(arguments: Importer.allCases)
    func `a record whose keys belong to two objects changes neither`(importer: Importer) throws {
        let place = WebModel.entity("Place", [("code", .stringAttributeType), ("number", .integer64AttributeType)])
        place.properties.append(WebModel.attribute("text", .stringAttributeType))
        place.uniquenessConstraints = [["code"], ["number"]]
        let visit = WebModel.entity("Visit", [("day", .stringAttributeType)])
        WebModel.relate(visit, "place", .toOne, place, "visits", .toMany(ordered: false))
        let model = NSManagedObjectModel()
        model.entities = [place, visit]
        let context = try makeContext(model)
        try context.performAndWait {
            for number in 0..<4 { context.insert("Place", ["code": "c\(number)", "number": number, "text": "old"]) }
            try context.save()
        }
        let text = #"""
            {"Place":[{"$id":"x","code":"c0","number":1,"text":"new"},{"code":"c2","number":2,"text":"new"}],
             "Visit":[{"day":"today","place":"x"}]}
            """#
        let outcome = try take(text, context, by: importer) {
            // Objects with the keys of omitted records are in the document.
            if importer == .plan { $0.deletionScopes = ["Place": NSPredicate(value: true)] }
        }
        #expect(outcome.errors == 1 && outcome.omittedRecords == 1, "\(outcome)")
        try context.performAndWait {
            context.reset()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Place")
            request.sortDescriptors = [NSSortDescriptor(key: "code", ascending: true)]
            let texts = try context.fetch(request).map { $0.value(forKey: "text") as? String }
            #expect(texts == (importer == .plan ? ["old", "old", "new"] : ["old", "old", "new", "old"]), "\(texts)")
            let visit = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Visit")).first)
            #expect(visit.value(forKey: "place") == nil)
        }
    }

    @Test(arguments: Importer.allCases)
    func `a record with a dangling reference is omitted, even one that an earlier batch has saved`(importer: Importer)
        throws
    {
        let context = try makeNotesContext()
        let items = (0..<20).map { #"{"$id":"i\#($0)","name":"\#($0)","note":"\#($0 == 5 ? "none" : "n")"}"# }
        let text = #"{"Item":[\#(items.joined(separator: ","))],"Note":[{"$id":"n","title":"t"}]}"#
        let outcome = try take(text, context, by: importer)
        #expect(outcome.errors == 1 && outcome.omittedRecords == 1, "\(outcome)")
        #expect(try count("Item", context) == 19)
        #expect(try count("Note", context) == 1)
    }
}

#if !canImport(Darwin)

    import Coral
    import CoralTools
    import Foundation
    import GRDB
    import Testing

    @testable import CoralCommand

    /// Every view of every store has the objects, and the members of relationships, that an export has.
    @Suite(.enabled(if: Engine.hasRows), .enabled(if: !Corpus.stores.isEmpty, "The files of the corpus are not here."))
    struct StoreViewsTests {
        @Test(arguments: Corpus.stores)
        func `views have the objects and the members of an export`(_ original: URL) throws {
            let copy = try StoreCopy(original)
            guard let model = try StoreInspection(url: copy.url).cachedModel else { return }
            let open = try OpenStore(url: copy.url, model: model)
            let views = try open.context.performAndWait {
                try StoreViews(of: open.url, model: open.model, in: open.context)
            }
            let sink = MemorySink()
            _ = try GraphExporter().exportStore(of: open.snapshot(), to: sink)
            let schema = GraphSchema(open.model)
            var reader = try JSONDocumentReader(sink.data, schema: schema)
            var counts: [String: Int] = [:]
            while let record = try reader.next() {
                var ancestor = open.model.entitiesByName[record.entity]
                while let entity = ancestor {
                    counts[entity.name ?? "", default: 0] += 1
                    for relationship in record.relationships
                    where entity.relationshipsByName[relationship.name]?.isToMany == true
                        && entity.superentity?.relationshipsByName[relationship.name] == nil
                    {
                        counts["\(entity.name ?? "").\(relationship.name)", default: 0] += relationship.target.ids.count
                    }
                    ancestor = entity.superentity
                }
            }
            try DatabaseQueue(path: copy.url.path).writeWithoutTransaction { database in
                try database.execute(sql: views.script(isTemporary: true))
                for view in views.views() {
                    let name = SQLText.name(view.name)
                    #expect(
                        try Int.fetchOne(database, sql: "SELECT count(*) FROM \(name)") == counts[view.name] ?? 0,
                        "\(name)"
                    )
                    // Each column can be read.
                    _ = try Row.fetchAll(database, sql: "SELECT * FROM \(name)")
                }
            }
        }
    }

#endif

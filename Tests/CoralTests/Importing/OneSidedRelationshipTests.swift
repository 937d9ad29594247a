// One-sided references can be created only with the package's own engine.
#if !canImport(Darwin)

    import Coral
    import CoralTools
    import GRDB
    import Testing

    /// Stores, as Apple's framework can write them, in which one object refers to another that does not refer back:
    /// they are exported, restored and checked unchanged.
    @Suite(.enabled(if: Engine.hasRows)) final class OneSidedRelationshipTests {
        private let folder: URL
        private let url: URL
        private let model: NSManagedObjectModel

        init() throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            url = folder.appendingPathComponent("Pairs.sqlite")
            let (man, dog) = (
                WebModel.entity("Man", [("name", .stringAttributeType)]),
                WebModel.entity("Dog", [("name", .stringAttributeType)])
            )
            WebModel.relate(man, "dog", .toOne, dog, "master", .toOne)
            WebModel.relate(man, "likes", .toOne, man, "likedBy", .toOne)
            model = NSManagedObjectModel()
            model.entities = [man, dog]
            let context = try makeContext(model, at: url)
            try context.performAndWait {
                for number in 1...4 {
                    let man = context.insert("Man", ["name": "man \(number)"])
                    _ = context.insert("Dog", ["name": "dog \(number)", "master": man])
                    try context.save()
                }
                try context.persistentStoreCoordinator?.persistentStores.forEach {
                    try context.persistentStoreCoordinator?.remove($0)
                }
            }
            let database = try DatabaseQueue(path: url.path)
            try database.write { database in
                // A master that does not refer to his dog; one that refers to another's dog; two that like one man, who
                // refers to a third.
                try database.execute(sql: "UPDATE ZMAN SET ZDOG = NULL WHERE Z_PK = 1")
                try database.execute(sql: "UPDATE ZMAN SET ZDOG = 3 WHERE Z_PK = 2")
                try database.execute(sql: "UPDATE ZMAN SET ZLIKES = 4 WHERE Z_PK IN (1, 2)")
                try database.execute(sql: "UPDATE ZMAN SET ZLIKEDBY = 3 WHERE Z_PK = 4")
            }
            try database.close()
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        private func rows(_ url: URL) throws -> [String] {
            try DatabaseQueue(path: url.path).read { database in
                try Row.fetchAll(database, sql: "SELECT Z_PK, ZDOG, ZLIKES, ZLIKEDBY FROM ZMAN ORDER BY 1").map(
                    \.description)
                    + Row.fetchAll(database, sql: "SELECT Z_PK, ZMASTER FROM ZDOG ORDER BY 1").map(\.description)
            }
        }

        private func export(_ url: URL) throws -> Data {
            let context = try makeContext(model, at: url)
            let sink = MemorySink()
            try GraphExporter().exportStore(of: try #require(context.persistentStoreCoordinator), to: sink)
            return sink.data
        }

        @Test func `a restored store has each side as in the document`() throws {
            let document = try export(url)
            let restored = folder.appendingPathComponent("Restored.sqlite")
            let plan = try StoreRestorer(model: model).restore(.data(document), to: restored)
            #expect(plan.errors.isEmpty)
            #expect(try rows(restored) == rows(url))
            #expect(try export(restored) == document)
        }

        @Test func `an existing store gets each side as in the document`() throws {
            let document = try export(url)
            let whole = folder.appendingPathComponent("Whole.sqlite")
            _ = try StoreRestorer(model: model).restore(.data(document), to: whole)
            let expected = try rows(whole)
            let database = try DatabaseQueue(path: whole.path)
            try database.write { try $0.execute(sql: "UPDATE ZMAN SET ZDOG = Z_PK, ZLIKES = NULL, ZLIKEDBY = NULL") }
            try database.close()
            _ = try StoreRestorer(model: model).restore(.data(document), to: whole)
            #expect(try rows(whole) == expected)
        }

        /// Each object as its name, with the names of those that it refers to.
        private func links(_ url: URL) throws -> [String] {
            try DatabaseQueue(path: url.path).read { database in
                try String.fetchAll(
                    database,
                    sql: """
                        SELECT m.ZNAME || ' has ' || IFNULL(d.ZNAME, '-') || ', likes ' || IFNULL(l.ZNAME, '-')
                            || ', liked by ' || IFNULL(b.ZNAME, '-')
                        FROM ZMAN m LEFT JOIN ZDOG d ON d.Z_PK = m.ZDOG LEFT JOIN ZMAN l ON l.Z_PK = m.ZLIKES
                            LEFT JOIN ZMAN b ON b.Z_PK = m.ZLIKEDBY
                        UNION ALL SELECT d.ZNAME || ' of ' || IFNULL(m.ZNAME, '-')
                        FROM ZDOG d LEFT JOIN ZMAN m ON m.Z_PK = d.ZMASTER ORDER BY 1
                        """)
            }
        }

        @Test func `a subset has each side as its originals have it`() throws {
            let context = try makeContext(model, at: url)
            let part = folder.appendingPathComponent("Part.sqlite")
            try context.performAndWait {
                let men = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Man"))
                let dogs = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Dog"))
                for batchSize in [1, 500] {
                    var subset = GraphSubset(shape: .ownership)
                    subset.batchSize = batchSize
                    try subset.export(men + dogs, to: part, replacing: .store)
                    #expect(try links(part) == links(url), "batches of \(batchSize)")
                }
            }
        }

        @Test(arguments: [RowCopying.never, .always], [false, true])
        func `copies have each side as their originals have it`(_ rowCopying: RowCopying, _ inBatches: Bool)
            async throws
        {
            let expected = try links(url)
            let container = NSPersistentContainer(name: "Pairs", managedObjectModel: model)
            container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
            var failure: (any Error)?
            container.loadPersistentStores { failure = $1 }
            if let failure { throw failure }
            let ids = try await container.performBackgroundTask { context in
                try ["Man", "Dog"].flatMap { name in
                    try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name)).map(\.objectID)
                }
            }
            var copier = GraphCopier(batchSize: 2)
            copier.rowCopying = rowCopying
            _ = try await copier.copy(ids, in: container, inBatches: inBatches)
            #expect(try links(url) == (expected + expected).sorted())
        }

        @Test func `a check finds the references whose inverse differs`() throws {
            let problems = try StoreCheck(url: url, model: model).problems()
            #expect(problems.allSatisfy { $0.code == .disagreeingInverse })
            let found = Set(problems.map { "\($0.entity).\($0.property ?? "") \($0.examples.joined(separator: " "))" })
            #expect(
                found == [
                    "Man.dog Man/p2", "Dog.master Dog/p1 Dog/p2", "Man.likes Man/p1 Man/p2", "Man.likedBy Man/p4",
                ])
        }
    }

#endif

// Rows can be damaged only with the package's own engine.
#if !canImport(Darwin)

    import Coral
    import CoralTools
    import GRDB
    import Testing

    /// Checks stores that were damaged by SQL: a man and his dog, who refer to each other, and a picture of the dog.
    @Suite final class StoreCheckTests {
        private let folder: URL
        private let url: URL
        private let model: NSManagedObjectModel

        init() throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            url = folder.appendingPathComponent("Dogs.sqlite")
            model = StoreCheckTests.dogs()
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                for number in 1...3 {
                    let man = NSEntityDescription.insertNewObject(forEntityName: "Man", into: context)
                    let dog = NSEntityDescription.insertNewObject(forEntityName: "Dog", into: context)
                    man.setValue("Man \(number)", forKey: "name")
                    dog.setValue(man, forKey: "master")
                    dog.setValue(Data(repeating: UInt8(number), count: 200_000), forKey: "picture")
                    try context.save()
                }
            }
            try coordinator.remove(store)
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        private static func dogs() -> NSManagedObjectModel {
            let (man, dog) = (NSEntityDescription(), NSEntityDescription())
            (man.name, dog.name) = ("Man", "Dog")
            func link(_ name: String, _ destination: NSEntityDescription) -> NSRelationshipDescription {
                let link = NSRelationshipDescription()
                link.name = name
                link.destinationEntity = destination
                link.maxCount = 1
                link.isOptional = true
                return link
            }
            let (toDog, toMaster) = (link("dog", dog), link("master", man))
            (toDog.inverseRelationship, toMaster.inverseRelationship) = (toMaster, toDog)
            let name = NSAttributeDescription()
            name.name = "name"
            name.attributeType = .stringAttributeType
            name.isOptional = false
            let picture = NSAttributeDescription()
            picture.name = "picture"
            picture.attributeType = .binaryDataAttributeType
            picture.allowsExternalBinaryDataStorage = true
            picture.isOptional = true
            man.properties = [name, toDog]
            dog.properties = [picture, toMaster]
            let model = NSManagedObjectModel()
            model.entities = [man, dog]
            return model
        }

        private var pictures: [URL] {
            let folder = self.folder.appendingPathComponent(".Dogs_SUPPORT/_EXTERNAL_DATA")
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            return names.sorted().map { folder.appendingPathComponent($0) }
        }

        private func spoil(_ statements: String...) throws {
            let database = try DatabaseQueue(path: url.path)
            try database.write { database in
                for statement in statements { try database.execute(sql: statement) }
            }
            try database.close()
        }

        private var check: StoreCheck { StoreCheck(url: url, model: model) }

        @Test func `an undamaged store has no problems`() throws {
            #expect(pictures.count == 3)
            #expect(try check.problems() == [])
        }

        @Test func `rows are checked by a model that no coordinator uses`() throws {
            #expect(try StoreCheck(url: url, model: Self.dogs()).problems() == [])
            try spoil("UPDATE ZMAN SET ZDOG = 9 WHERE Z_PK = 1")
            let problems = try StoreCheck(url: url, model: Self.dogs()).problems()
            #expect(problems == (try check.problems()) && problems.contains { $0.code == .danglingReference })
        }

        @Test func `inconsistent inverses are found on either side and repaired`() throws {
            // The first dog's master does not refer to it; the second master refers to the third's dog.
            try spoil("UPDATE ZMAN SET ZDOG = NULL WHERE Z_PK = 1", "UPDATE ZMAN SET ZDOG = 3 WHERE Z_PK = 2")
            let problems = try check.problems()
            #expect(problems.map(\.code) == [.disagreeingInverse, .disagreeingInverse])
            #expect(problems.map(\.property) == ["master", "dog"])
            #expect(problems.map(\.examples) == [["Dog/p1", "Dog/p2"], ["Man/p2"]])
            #expect(try check.repair() == [])
            let dogs = try DatabaseQueue(path: url.path).read {
                try Row.fetchAll($0, sql: "SELECT Z_PK, ZDOG FROM ZMAN ORDER BY 1").map { $0["ZDOG"] as Int64? }
            }
            #expect(dogs[0] == 1 && dogs[2] == 3)
        }

        @Test func `a missing picture is found, and an unused one`() throws {
            let stray = try #require(pictures.first).deletingLastPathComponent().appendingPathComponent(
                UUID().uuidString)
            try FileManager.default.moveItem(at: try #require(pictures.first), to: stray)
            let problems = try check.problems()
            #expect(problems.map(\.code) == [.missingFile, .unusedFile])
            #expect(problems[0].count == 1 && problems[0].property == "picture")
            #expect(problems[1].examples == [stray.lastPathComponent])
            #expect(try check.repair() == [])
            #expect(pictures.count == 2)
        }

        @Test func `a row with a wrong entity number keeps its picture`() throws {
            try spoil("UPDATE ZDOG SET Z_ENT = 99 WHERE Z_PK = 2", "UPDATE ZDOG SET Z_ENT = NULL WHERE Z_PK = 3")
            #expect(try !check.problems().contains { $0.code == .unusedFile })
            _ = try check.repair()
            #expect(pictures.count == 3)
            // What is missing is reported of the entity's own rows only.
            for picture in pictures { try FileManager.default.removeItem(at: picture) }
            #expect(try check.problems().filter { $0.code == .missingFile }.map(\.count) == [1])
        }

        @Test func `files that may belong to a store of the same name are left`() throws {
            let other = url.deletingPathExtension().appendingPathExtension("backup")
            try FileManager.default.copyItem(at: url, to: other)
            let stray = try #require(pictures.first).deletingLastPathComponent().appendingPathComponent(
                UUID().uuidString)
            try FileManager.default.copyItem(at: try #require(pictures.first), to: stray)
            #expect(try check.repair() == [])
            #expect(FileManager.default.fileExists(atPath: stray.path))
            try FileManager.default.removeItem(at: other)
            #expect(try check.problems().map(\.code) == [.unusedFile])
        }

        @Test func `an invalid value is reported with its property`() throws {
            try spoil("UPDATE ZMAN SET ZNAME = NULL WHERE Z_PK = 3")
            let problem = try #require(try check.problems().first)
            #expect(problem.code == .forbiddenValue)
            #expect((problem.entity, problem.property, problem.count) == ("Man", "name", 1))
            #expect(problem.examples == ["Man/p3"])
            #expect(!problem.isRepairable)
        }

        @Test func `a missing table is reported and not queried`() throws {
            try spoil("DROP TABLE ZDOG")
            #expect(try check.problems().contains { $0.code == .missingTable && $0.entity == "ZDOG" })
        }

        @Test func `checking can be cancelled`() throws {
            let progress = Progress(totalUnitCount: 0)
            progress.cancel()
            #expect(throws: CocoaError.self) { try check.problems(progress: progress) }
        }

        /// A model that counts how often its entities are listed. Unchecked, because models are: one thread uses this one.
        private final class CountingModel: NSManagedObjectModel, @unchecked Sendable {
            var listCount = 0

            override var entities: [NSEntityDescription] {
                get {
                    listCount += 1
                    return super.entities
                }
                set { super.entities = newValue }
            }
        }

        @Test func `the model is described once, however many entities it has`() throws {
            let counts = try [2, 20].map { count in
                let model = CountingModel()
                model.entities = (0..<count).map { WebModel.entity("Entity\($0)", [("title", .stringAttributeType)]) }
                let url = folder.appendingPathComponent("Entities-\(count).sqlite")
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
                let snapshot = try StoreSnapshot(of: coordinator)
                model.listCount = 0
                #expect(try StoreCheck(url: url, model: model).problems(of: snapshot).isEmpty)
                return model.listCount
            }
            #expect(counts[0] > 0 && counts[0] == counts[1], "\(counts)")
        }

        @Test func `keys after which none are left are found`() throws {
            try spoil("UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807 WHERE Z_NAME = 'Man'")
            let problems = try StoreCheck(url: url, model: model).problems()
            #expect(problems.map(\.code) == [.keyBeyondMaximum])
            #expect(problems.first?.message.contains("9223372036854775807, and no keys are left") == true)
            #expect(try StoreCheck(url: url, model: model).repair().isEmpty)
            try spoil(
                "UPDATE ZMAN SET Z_PK = 9223372036854775807 WHERE Z_PK = 3",
                "UPDATE ZDOG SET ZMASTER = NULL WHERE Z_PK = 3")
            let rows = try StoreCheck(url: url, model: model).problems()
            #expect(rows.contains { $0.code == .keyBeyondMaximum && !$0.isRepairable })
        }
    }

#endif

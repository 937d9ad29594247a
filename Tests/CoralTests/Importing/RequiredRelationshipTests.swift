#if !canImport(Darwin)

    import Coral
    import CoralTesting
    import GraphDocuments
    import Testing

    /// Required relationships are checked after the last record, and of every object that an import changes: by rows,
    /// and through objects in batches and as a whole.
    @Suite(.enabled(if: Engine.hasRows)) struct RequiredRelationshipTests {
        /// Owners and badges, in a one-to-one relationship that is required on one side.
        private final class Cloakroom {
            let context: NSManagedObjectContext
            private let folder: URL

            init(requiring required: String) throws {
                let owner = WebModel.entity("Owner", [("key", .stringAttributeType)])
                let badge = WebModel.entity("Badge", [("code", .stringAttributeType)])
                owner.userInfo = ["coral.identity": "key"]
                badge.userInfo = ["coral.identity": "code"]
                WebModel.relate(owner, "badge", .toOne, badge, "owner", .toOne)
                for entity in [owner, badge] { entity.relationshipsByName[required]?.isOptional = false }
                let model = NSManagedObjectModel()
                model.entities = [owner, badge]
                folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                context = try makeContext(model, at: folder.appendingPathComponent("Store.sqlite"))
            }

            deinit { try? FileManager.default.removeItem(at: folder) }

            private static var options: ImportOptions {
                var options = ImportOptions()
                options.layout = .plain
                return options
            }

            @discardableResult
            func importDocument(_ json: String, by path: RowImporting, batchSize: Int = 1) throws -> ExecutionPath {
                let coordinator = try #require(context.persistentStoreCoordinator)
                var importer = BatchImporter(into: coordinator, options: Self.options, batchSize: batchSize)
                importer.rowImporting = path
                return try importer.importDocument(.data(Data(json.utf8))).path
            }

            func importWhole(_ json: String) throws {
                try context.performAndWait {
                    defer { context.reset() }
                    var importer = GraphImporter(into: context, options: Self.options)
                    importer.worksInPlace = true
                    let plan: ImportPlan<NSManagedObject> = try importer.plan(.data(Data(json.utf8)), entity: nil)
                    try plan.apply()
                    try context.save()
                }
            }

            /// The key of each badge's owner.
            func owners() throws -> [String: String?] {
                try context.performAndWait {
                    context.reset()
                    let badges = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Badge"))
                    return Dictionary(
                        uniqueKeysWithValues: badges.map {
                            ($0.value(forKey: "code") as? String ?? "", $0.value(forKeyPath: "owner.key") as? String)
                        })
                }
            }
        }

        private static let pairs =
            #"{"Owner": [{"key": "a"}, {"key": "b"}], "Badge": [{"code": "1", "owner": "a"}, {"code": "2", "owner": "b"}]}"#

        /// Imports a document in each way into a store with two pairs.
        private func forEachWay(
            requiring required: String, _ json: String, _ check: (Cloakroom, () throws -> ExecutionPath?) throws -> Void
        ) throws {
            for way in 0..<4 {
                let room = try Cloakroom(requiring: required)
                try room.importWhole(Self.pairs)
                try check(room) {
                    switch way {
                    case 0: return try room.importDocument(json, by: .always)
                    case 1: return try room.importDocument(json, by: .never, batchSize: 1)
                    case 2: return try room.importDocument(json, by: .never, batchSize: 5000)
                    default:
                        try room.importWhole(json)
                        return nil
                    }
                }
            }
        }

        @Test func `an object outside the document that loses its required destination is an error`() throws {
            try forEachWay(requiring: "owner", #"{"Badge": [{"code": "3", "owner": "a"}]}"#) { _, importDocument in
                let error = #expect(throws: ImportError.self) { _ = try importDocument() }
                #expect(error?.code == .invalidObject)
                #expect(error?.message == "Badge.owner is required and has no value.")
                #expect(error?.place?.ruleCode == NSValidationMissingMandatoryPropertyError)
                #expect(error?.place?.object?.contains("/Badge/p") == true)
            }
        }

        @Test func `an object that loses the other side of a required relationship is an error`() throws {
            let json = #"{"Owner": [{"key": "c"}], "Badge": [{"code": "1", "owner": "c"}]}"#
            try forEachWay(requiring: "badge", json) { _, importDocument in
                let error = #expect(throws: ImportError.self) { _ = try importDocument() }
                #expect(error?.message == "Owner.badge is required and has no value.")
                #expect(error?.place?.object?.contains("/Owner/p") == true)
            }
        }

        @Test func `objects exchange their required destinations`() throws {
            let json = #"{"Badge": [{"code": "1", "owner": "b"}, {"code": "2", "owner": "a"}]}"#
            try forEachWay(requiring: "owner", json) { room, importDocument in
                let path = try importDocument()
                if path?.reason?.code != .options { #expect(path == nil || path == .rows) }
                #expect(try room.owners() == ["1": "b", "2": "a"])
            }
        }

        @Test func `a required relationship that a record clears may be set by a later one`() throws {
            let json = #"{"Badge": [{"code": "1", "owner": null}], "Owner": [{"key": "c", "badge": "1"}]}"#
            try forEachWay(requiring: "owner", json) { room, importDocument in
                _ = try importDocument()
                #expect(try room.owners() == ["1": "c", "2": "b"])
            }
            let cleared = #"{"Badge": [{"code": "1", "owner": null}]}"#
            try forEachWay(requiring: "owner", cleared) { _, importDocument in
                let error = #expect(throws: ImportError.self) { _ = try importDocument() }
                #expect(error?.message == "Badge.owner is required and has no value.")
            }
        }
    }

#endif

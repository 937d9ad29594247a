#if !canImport(Darwin)

    import Coral
    import CoralTesting
    import GRDB
    import Testing

    /// Copies made by the store are equal to copies made of objects.
    @Suite struct RowCopyTests {
        /// A store with a random graph, its model and the IDs of its objects.
        private struct Site {
            let container: NSPersistentContainer
            let url: URL
            let ids: [NSManagedObjectID]

            init(
                _ model: NSManagedObjectModel, tracksHistory: Bool = false,
                fill: (NSManagedObjectContext) throws -> [NSManagedObject]
            ) throws {
                url = URL(fileURLWithPath: NSTemporaryDirectory() + "rows-\(UUID().uuidString).sqlite")
                container = NSPersistentContainer(name: "rows", managedObjectModel: model)
                let description = NSPersistentStoreDescription(url: url)
                description.setOption(tracksHistory as NSNumber, forKey: NSPersistentHistoryTrackingKey)
                container.persistentStoreDescriptions = [description]
                var failure: (any Error)?
                container.loadPersistentStores { failure = $1 }
                if let failure { throw failure }
                let context = container.newBackgroundContext()
                ids = try context.performAndWait {
                    let objects = try fill(context)
                    try context.save()
                    return objects.map(\.objectID)
                }
            }

            /// The contents of the copies, which are named by their originals.
            func contents(_ copies: [NSManagedObjectID: NSManagedObjectID]) -> [String: ObjectContents] {
                let context = container.newBackgroundContext()
                let names = Dictionary(
                    copies.map { ($1, Site.name($0) + "'") }, uniquingKeysWith: { first, _ in first })
                return context.performAndWait {
                    var result: [String: ObjectContents] = [:]
                    for (original, copy) in copies {
                        result[Site.name(original)] = ObjectContents(context.object(with: copy)) {
                            names[$0.objectID] ?? Site.name($0.objectID)
                        }
                    }
                    return result
                }
            }

            /// The contents of all objects, to check that nothing else has changed.
            func versions(_ copies: [NSManagedObjectID: NSManagedObjectID]) throws -> [String: Int] {
                let queue = try DatabaseQueue(path: url.path)
                let names = Dictionary(
                    copies.map { (Site.name($1), Site.name($0) + "'") }, uniquingKeysWith: { first, _ in first })
                return try queue.read { database in
                    var result: [String: Int] = [:]
                    for entity in container.managedObjectModel.entities where entity.superentity == nil {
                        let name = (entity.name ?? "").uppercased()
                        let rows = try Row.fetchAll(
                            database,
                            sql:
                                "SELECT Z_NAME, Z_PK, Z_OPT FROM Z\(name) JOIN Z_PRIMARYKEY USING (Z_ENT) ORDER BY Z_PK"
                        )
                        for row in rows {
                            let place = "\(row[0] as String)/p\(row[1] as Int)"
                            result[names[place] ?? place] = row[2]
                        }
                        result["max \(name)"] = try Int.fetchOne(
                            database, sql: "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = ?", arguments: [entity.name])
                    }
                    if try database.tableExists("ACHANGE") {
                        result["transactions"] = try Int.fetchOne(database, sql: "SELECT count(*) FROM ATRANSACTION")
                        for row in try Row.fetchAll(
                            database,
                            sql: "SELECT ZCHANGETYPE, hex(ZCOLUMNS), count(*) FROM ACHANGE GROUP BY 1, 2")
                        {
                            result["change \(row[0] as Int) \(row[1] as String? ?? "")"] = row[2]
                        }
                    }
                    return result
                }
            }

            private static func name(_ id: NSManagedObjectID) -> String {
                id.uriRepresentation().pathComponents.dropFirst().joined(separator: "/")
            }
        }

        private func compare(
            _ model: () -> NSManagedObjectModel, shape: GraphShape, rules: CopyRules = CopyRules(),
            roots: (Int) -> Bool = { _ in true }, isByRows: Bool = false, tracksHistory: Bool = false,
            sourceLocation: SourceLocation = #_sourceLocation,
            fill: (NSManagedObjectContext) throws -> [NSManagedObject]
        ) async throws {
            var results: [(contents: [String: ObjectContents], versions: [String: Int])] = []
            for choice in [RowCopying.never, .always] {
                let site = try Site(model(), tracksHistory: tracksHistory, fill: fill)
                var copier = GraphCopier(shape: shape, rules: rules)
                copier.rowCopying = choice
                let chosen = site.ids.enumerated().filter { roots($0.offset) }.map(\.element)
                if choice == .always, isByRows, Engine.hasRows {
                    let path = try await copier.explain(chosen, in: site.container)
                    #expect(path.reason == nil, sourceLocation: sourceLocation)
                }
                let copies = try await copier.copy(chosen, in: site.container)
                results.append((site.contents(copies), try site.versions(copies)))
            }
            #expect(results[0].contents == results[1].contents, sourceLocation: sourceLocation)
            #expect(results[0].versions == results[1].versions, sourceLocation: sourceLocation)
            #expect(!results[0].contents.isEmpty, sourceLocation: sourceLocation)
        }

        @Test(arguments: 0..<12) func `random graphs`(seed: Int) async throws {
            try await compare(WebModel.make, shape: .everything, tracksHistory: seed % 2 == 0) { context in
                var generator = GraphGenerator(seed: UInt64(seed))
                return try generator.objects(10 + seed * 3, in: context)
            }
        }

        @Test(arguments: 0..<12) func `parts of random graphs, by ownership, where links permit row copying`(seed: Int)
            async throws
        {
            let shape = GraphShape.ownership.with("Thing.friends", .omit).with("Thing.friendOf", .omit)
            try await compare(WebModel.make, shape: shape, roots: { $0 % 3 == 0 }, tracksHistory: true) { context in
                var generator = GraphGenerator(seed: UInt64(100 + seed))
                return try generator.objects(10 + seed * 3, in: context)
            }
        }

        @Test(arguments: 0..<6) func `embedded objects of other owners`(seed: Int) async throws {
            // The requested notes share tags with others, which keep the originals.
            let tag = WebModel.entity("Tag", [("name", .stringAttributeType)])
            let note = WebModel.entity("Note", [("title", .stringAttributeType)])
            WebModel.relate(note, "tags", .toMany(ordered: false), tag, "notes", .toMany(ordered: false))
            let model = NSManagedObjectModel()
            model.entities = [note, tag]
            let shape = GraphShape.ownership.with("Note.tags", .embed)
            try await compare(
                { model.copy() as? NSManagedObjectModel ?? model }, shape: shape, roots: { $0 % 3 == seed % 3 },
                isByRows: true, tracksHistory: true
            ) { context in
                let tags = (0..<4).map { context.insert("Tag", ["name": "\($0)"]) }
                return (0..<9).map { number in
                    let own = tags.enumerated().filter { (number + $0.offset * seed) % 2 == 0 }.map(\.element)
                    return context.insert("Note", ["title": "\(number)", "tags": NSSet(array: own)])
                }
            }
        }

        /// Notes with shared tags, external files, derived attributes and a new identifier.
        private static func model() -> NSManagedObjectModel {
            let folder = WebModel.entity("Folder", [("name", .stringAttributeType)])
            let note = WebModel.entity(
                "Note", [("title", .stringAttributeType), ("picture", .binaryDataAttributeType)])
            let tag = WebModel.entity("Tag", [("name", .stringAttributeType)])
            note.attributesByName["picture"]?.allowsExternalBinaryDataStorage = true
            note.properties.append(
                WebModel.attribute("identifier", .UUIDAttributeType, userInfo: ["rebuild": "uuid"]))
            note.properties.append(WebModel.attribute("secret", .stringAttributeType, userInfo: ["exclude": "yes"]))
            func derive(_ entity: NSEntityDescription, _ name: String, _ type: NSAttributeType, _ format: String) {
                let attribute = NSDerivedAttributeDescription()
                attribute.name = name
                attribute.attributeType = type
                attribute.isOptional = true
                attribute.derivationExpression = NSExpression(format: format)
                entity.properties.append(attribute)
            }
            WebModel.relate(
                folder, "notes", .toMany(ordered: true), note, "folder", .toOne, rule: .cascadeDeleteRule)
            WebModel.relate(note, "tags", .toMany(ordered: false), tag, "notes", .toMany(ordered: false))
            derive(folder, "noteCount", .integer64AttributeType, "notes.@count")
            derive(note, "canonicalTitle", .stringAttributeType, "canonical:(title)")
            derive(note, "folderName", .stringAttributeType, "folder.name")
            let model = NSManagedObjectModel()
            model.entities = [folder, note, tag]
            return model
        }

        @Test func `files, derived attributes, new values, links and their versions`() async throws {
            // Created again, so that it differs.
            let shape = GraphShape.ownership.excluding("Note.identifier")
            try await compare(Self.model, shape: shape, tracksHistory: true) { context in
                let tags = (0..<3).map { context.insert("Tag", ["name": "tag \($0)"]) }
                return (0..<3).map { number in
                    let folder = context.insert("Folder", ["name": "folder \(number)"])
                    let notes = (0..<4).map { index in
                        context.insert(
                            "Note",
                            [
                                "title": "Nöte \(index)", "secret": "x",
                                "picture": Data(repeating: UInt8(index), count: index % 2 == 0 ? 200_000 : 10),
                                "identifier": UUID(), "tags": NSSet(array: Array(tags.prefix(index))),
                            ])
                    }
                    folder.setValue(NSOrderedSet(array: notes.reversed()), forKey: "notes")
                    return folder
                }
            }
        }

        @Test func `a copied file is the copy's own`() async throws {
            let site = try Site(Self.model()) { context in
                [context.insert("Note", ["picture": Data(repeating: 7, count: 200_000), "identifier": UUID()])]
            }
            var copier = GraphCopier()
            copier.rowCopying = .always
            let copies = try await copier.copy(site.ids, in: site.container)
            let context = site.container.newBackgroundContext()
            try context.performAndWait {
                let original = context.object(with: site.ids[0])
                let copy = context.object(with: try #require(copies[site.ids[0]]))
                #expect(original.value(forKey: "identifier") as? UUID != copy.value(forKey: "identifier") as? UUID)
                context.delete(original)
                try context.save()
                context.reset()
                let read = try context.existingObject(with: copies[site.ids[0]]!)
                #expect((read.value(forKey: "picture") as? Data)?.count == 200_000)
            }
        }

        @Test func `rules that the store does not support fall back to objects`() async throws {
            var rules = CopyRules()
            rules.setValue("Note.title") { _, title in "\(title ?? "") (copy)" }
            let shape = GraphShape.ownership.excluding("Note.identifier")
            try await compare(Self.model, shape: shape, rules: rules) { context in
                [context.insert("Note", ["title": "a"])]
            }
        }
    }

#endif

#if !canImport(Darwin)
    import Coral
    import GRDB
    import Testing

    @testable import CoralCommand

    /// Queries and changes that read rows instead of objects.
    @Suite struct RowQueryTests {
        private func rows(
            _ path: String, _ entity: String, _ predicate: String?, _ sort: String?, offset: Int, limit: Int
        ) throws -> (byRows: [[QueryCell]], byObjects: [[QueryCell]]) {
            let open = try OpenStore(path: path, model: ModelSource.parse([]))
            let description = try open.entity(named: entity)
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = predicate.map { NSPredicate(format: $0) }
            request.sortDescriptors = try sort.map { try QuerySort.descriptors($0, for: description) }
            (request.fetchOffset, request.fetchLimit) = (offset, limit)
            let columns = QueryColumn.standardColumns(of: description).filter { $0.title != "friends.@count" }
            return try open.context.performAndWait {
                let stream = ObjectStream(of: request, isSorted: sort != nil, in: open.context)
                let progress = Progress.discreteProgress(totalUnitCount: 0)
                var byRows: [[QueryCell]] = []
                let count = try stream.forEachRow(columns, in: open.store, progress) { byRows.append(try $0.cells()) }
                #expect(count == byRows.count)
                #expect(open.context.registeredObjects.isEmpty)
                var byObjects: [[QueryCell]] = []
                _ = try stream.forEach(progress) { object in byObjects.append(columns.map { $0.cell(of: object) }) }
                try open.close()
                return (byRows, byObjects)
            }
        }

        @Test(
            arguments: [
                (nil, nil, 0, 0), ("rank > 3", nil, 0, 0), ("title CONTAINS[cd] 'NOTE'", nil, 4, 3),
                (nil, "rank:descending,title", 0, 0), ("rank > 1", "rank,title:descending", 2, 5),
                ("author.name == 'Ada'", "title", 0, 0), ("items.@count == 1", "author.name,rank", 1, 0),
                (nil, "title", 0, 2), (nil, nil, 27, 10), ("ANY tags.name == 'home'", "rank", 0, 0),
            ] as [(String?, String?, Int, Int)])
        func `rows have the cells of objects, in every order`(
            _ predicate: String?, _ sort: String?, _ offset: Int, _ limit: Int
        ) throws {
            let store = try NotesStore(titles: (0..<30).map { "Note \($0 * 7 % 10)" })
            let queue = try DatabaseQueue(path: store.path)
            try queue.write { database in
                try database.execute(
                    sql: """
                        UPDATE ZNOTE SET ZRANK = Z_PK % 7; UPDATE ZNOTE SET ZRANK = NULL WHERE Z_PK % 5 = 0;
                        INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT 1, Z_ENT, 1, 'Ada' FROM Z_PRIMARYKEY
                        WHERE Z_NAME = 'Person';
                        UPDATE ZNOTE SET ZAUTHOR = 1 WHERE Z_PK % 3 = 0; UPDATE ZITEM SET ZNOTE = 2 WHERE Z_PK > 25
                        """)
            }
            try queue.close()
            let (byRows, byObjects) = try rows(store.path, "Note", predicate, sort, offset: offset, limit: limit)
            #expect(byRows == byObjects)
            #expect(!byRows.isEmpty || predicate?.contains("tags") == true)
        }

        @Test(arguments: [nil, "name:descending"] as [String?])
        func `rows of subentities have the names of their own entities`(_ sort: String?) throws {
            let store = try AccountsStore()
            let (byRows, byObjects) = try rows(store.path, "Account", nil, sort, offset: 0, limit: 0)
            #expect(byRows == byObjects && byRows.count == 3)
        }

        @Test func `attributes are set without an object for each row`() throws {
            let store = try NotesStore(titles: (0..<40).map { "Note \($0)" })
            let queue = try DatabaseQueue(path: store.path)
            try queue.write { try $0.execute(sql: "UPDATE ZNOTE SET ZRANK = NULLIF(Z_PK % 4, 0), Z_OPT = 1") }
            let command = try SetCommand.parse(
                [store.path, "--entity", "Note", "--where", "title != 'Note 0'", "rank=2", "body=null"])
            let plan = { (open: OpenStore) in
                try open.context.performAndWait {
                    let entity = try open.entity(named: "Note")
                    let assigned = try AssignmentPlan(
                        command.assignments, of: entity, in: open, zone: nil, readsFiles: false)
                    return try #require(try command.rowPlan(assigned, entity, open))
                }
            }
            let preview = try OpenStore(path: store.path, model: ModelSource.parse([]))
            let shown = try plan(preview)
            try preview.close()
            #expect(shown.lines.count == 29 && shown.lines.first == "Note/p3.rank: 3.0 -> 2.0", "\(shown.lines)")
            #expect(shown.lines.contains("Note/p4.rank: null -> 2.0"))
            let open = try OpenStore(path: store.path, model: ModelSource.parse([]), isReadOnly: false)
            let planned = try plan(open)
            // Only one object is made, to be validated.
            #expect(open.context.registeredObjects.count <= 1)
            #expect(planned.lines.isEmpty && planned.agrees(with: shown))
            // A row that another process changes is not overwritten.
            try queue.write { try $0.execute(sql: "UPDATE ZNOTE SET ZRANK = 9 WHERE Z_PK = 3") }
            #expect(throws: CommandError.self) {
                try open.context.performAndWait { try command.writeRows(open, shown) }
            }
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT sum(Z_OPT) FROM ZNOTE") } == 40)
            try queue.write { try $0.execute(sql: "UPDATE ZNOTE SET ZRANK = 3 WHERE Z_PK = 3") }
            try open.context.performAndWait { try command.writeRows(open, shown) }
            try open.close()
            // The versions of the others are those from before.
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT sum(Z_OPT) FROM ZNOTE") } == 69)
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZNOTE WHERE ZRANK = 2") } == 39)
            try queue.close()
        }
    }
#endif

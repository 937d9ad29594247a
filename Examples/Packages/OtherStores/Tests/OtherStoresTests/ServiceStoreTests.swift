import CoreData
import FlyingFox
import OtherStores
import Testing

/// The store with a real server, on the loopback interface.
@Suite(.serialized) struct ServiceStoreTests {
    private func withService(
        _ body: (LibraryService, NSManagedObjectContext) async throws -> Void
    ) async throws {
        let service = LibraryService()
        try await service.add(
            "Author", "lem", #"{"name": "Stanisław Lem", "books": ["b0", "b1", "b2", "b3", "b4", "b5"]}"#)
        for number in 0..<6 {
            try await service.add(
                "Book", "b\(number)", #"{"title": "Book \#(number)", "pages": \#(number % 2), "author": "lem"}"#)
        }
        let server = HTTPServer(
            address: try .inet(ip4: "127.0.0.1", port: 0), logger: .disabled,
            handler: ClosureHTTPHandler { try await service.answer($0) })
        let running = Task { try await server.run() }
        defer { running.cancel() }
        try await server.waitUntilListening()
        guard case .ip4(_, let port)? = await server.listeningAddress else {
            Issue.record("The server does not listen.")
            return
        }
        let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
        let context = try Library.context(ServiceStore.self, ServiceStore.storeType, url)
        #expect(await service.takeRequests() == ["GET /store"])
        try await body(service, context)
    }

    @Test func fetchesAreRequests() async throws {
        try await withService { service, context in
            let titles = try await context.perform { try context.titles("pages == 1") }
            #expect(titles == ["Book 1", "Book 3", "Book 5"])
            #expect(await service.takeRequests().first == "GET /Book?pages=1&sort=title")
            let error = await #expect(throws: CocoaError.self) {
                try await context.perform { try context.titles("pages > 1 OR pages < 0") }
            }
            #expect(error?.errorCode == 134060)
        }
    }

    @Test func aLoopOverRelationshipsIsAFewRequests() async throws {
        try await withService { service, context in
            let names = try await context.perform {
                let books = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
                return books.map { ($0.value(forKey: "author") as? NSManagedObject)?.value(forKey: "name") as? String }
            }
            #expect(names == Array(repeating: "Stanisław Lem", count: 6))
            let requests = await service.takeRequests()
            #if !canImport(Darwin)
                // One request for each object and the fetch would be 8. The first batches are small.
                #expect(requests.count <= 6, "\(requests)")
            #endif
        }
    }

    @Test func savesAreCarriedOut() async throws {
        try await withService { service, context in
            try await context.perform {
                let author = try #require(
                    try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author")).first)
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                book.setValue("Fiasco", forKey: "title")
                book.setValue(author, forKey: "author")
                author.setValue("S. Lem", forKey: "name")
                try context.save()
                author.setValue("Lem", forKey: "name")
                try context.save()
            }
            #expect(await service.value("Author", "lem", "name") == "Lem")
            #expect(await service.references("Book").count == 7)
            let titles = try await context.perform { try context.titles("title == 'Fiasco'") }
            #expect(titles == ["Fiasco"])
        }
    }

    /// Reads a book, so that its context has a version of it.
    private func readBook(in context: NSManagedObjectContext) async throws -> NSManagedObjectID {
        try await context.perform {
            let book = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).first)
            _ = book.value(forKey: "title")
            return book.objectID
        }
    }

    private func requireConflict(of id: NSManagedObjectID, in context: NSManagedObjectContext) async {
        let error = await #expect(throws: CocoaError.self) {
            try await context.perform {
                context.object(with: id).setValue("Ours", forKey: "title")
                try context.save()
            }
        }
        #expect(error?.errorCode == 133020)
    }

    @Test func anObjectThatAnotherClientHasChangedIsAConflict() async throws {
        try await withService { service, context in
            let id = try await readBook(in: context)
            await service.change("Book", "b0", "title", "Theirs")
            await requireConflict(of: id, in: context)
            #expect(await service.value("Book", "b0", "title") == "Theirs")
        }
    }

    /// A change is based on the version that its own context has read, even if another context has read a newer one.
    @Test func `a change is based on the version that its context has read`() async throws {
        try await withService { service, context in
            let id = try await readBook(in: context)
            await service.change("Book", "b0", "title", "Theirs")
            let other = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            other.persistentStoreCoordinator = context.persistentStoreCoordinator
            let read = await other.perform { other.object(with: id).value(forKey: "title") as? String }
            #if !canImport(Darwin)
                #expect(read == "Theirs")
            #endif
            await requireConflict(of: id, in: context)
            #expect(await service.value("Book", "b0", "title") == "Theirs")
        }
    }

    @Test func dictionariesAreInTheOrderOfTheRequest() async throws {
        try await withService { _, context in
            try await context.perform {
                let request = NSFetchRequest<NSDictionary>(entityName: "Book")
                request.resultType = .dictionaryResultType
                request.propertiesToFetch = ["title"]
                request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
                let titles = try context.fetch(request).map { $0["title"] as? String }
                #expect(titles == (0..<6).map { "Book \($0)" })
                request.propertiesToGroupBy = ["title"]
                let error = #expect(throws: CocoaError.self) { try context.fetch(request) }
                #expect(error?.errorCode == 134060)
            }
        }
    }

    /// A save whose second request fails is completed by the next.
    @Test func `a save continues after a failed request`() async throws {
        try await withService { service, context in
            let ids = try await context.perform {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
                return try context.fetch(request).map { book in
                    _ = book.value(forKey: "title")
                    book.setValue("New", forKey: "title")
                    return book.objectID
                }
            }
            await service.change("Book", "b3", "title", "Theirs")
            let error = await #expect(throws: CocoaError.self) { try await context.perform { try context.save() } }
            #expect(error?.errorCode == 133020)
            try await context.perform {
                let book = try #require(
                    ids.map { context.object(with: $0) }.first {
                        $0.objectID.uriRepresentation().lastPathComponent == "pb3"
                    })
                context.refresh(book, mergeChanges: true)
                try context.save()
            }
            for number in 0..<6 { #expect(await service.value("Book", "b\(number)", "title") == "New") }
        }
    }
}

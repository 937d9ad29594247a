import CoreData
import OtherStores
import Testing

@Suite struct FolderStoreTests {
    private func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Folder-\(UUID().uuidString)")
        let files = [
            "store.json": #"{"uuid": "0F2E7C0A-2A64-4C1D-9F5B-0C3B7E1D2A55"}"#,
            "Author/lem.json": #"{"name": "Stanisław Lem", "books": ["solaris", "eden"]}"#,
            "Book/solaris.json":
                #"{"title": "Solaris", "pages": 204, "published": "1961-01-01T00:00:00Z", "author": "lem"}"#,
            "Book/eden.json": #"{"title": "Eden", "pages": 260, "author": "lem"}"#,
            "Book/none.json": #"{"title": "A Book Without an Author"}"#,
        ]
        for (name, text) in files {
            let file = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        return folder
    }

    @Test func documentsAreObjects() throws {
        let context = try Library.context(FolderStore.self, FolderStore.storeType, folder())
        try context.performAndWait {
            #expect(try context.titles() == ["A Book Without an Author", "Eden", "Solaris"])
            #expect(try context.titles("pages > 250") == ["Eden"])
            #expect(try context.titles("author.name BEGINSWITH 'Stan'") == ["Eden", "Solaris"])
            let authors = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author"))
            let books = authors.first?.value(forKey: "books") as? NSSet
            #expect(books?.count == 2)
            let uri = try #require(authors.first?.objectID.uriRepresentation())
            #expect(uri.absoluteString == "x-coredata://0F2E7C0A-2A64-4C1D-9F5B-0C3B7E1D2A55/Author/plem")
            let counting = NSFetchRequest<NSManagedObject>(entityName: "Book")
            #expect(try context.count(for: counting) == 3)
        }
    }

    @Test func nothingCanBeSaved() throws {
        let context = try Library.context(FolderStore.self, FolderStore.storeType, folder())
        try context.performAndWait {
            try context.save()
            let book = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).first
            book?.setValue("Another", forKey: "title")
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .fileWriteNoPermission)
        }
    }

    @Test func aFolderWithoutDescriptionIsNoStore() {
        #expect(throws: (any Error).self) {
            try Library.context(FolderStore.self, FolderStore.storeType, URL(fileURLWithPath: "/tmp/no-such-folder"))
        }
    }
}

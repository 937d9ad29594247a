import CoreData
import JSONStores
import ExampleLibrary
import Testing

@Suite struct FolderStoreTests {
    @Test func documentsAreObjects() throws {
        let context = try Library.context(FolderStore.self, FolderStore.storeType, LibraryFolder.make())
        try context.performAndWait {
            #expect(try context.titles() == ["A Book of Nobody", "Eden", "Solaris"])
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
        let context = try Library.context(FolderStore.self, FolderStore.storeType, LibraryFolder.make())
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

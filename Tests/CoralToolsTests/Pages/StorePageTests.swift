import Coral
import CoralTools
import NotesModel
import Testing

/// A page of a store: its content, the targets of its links, and the escaping of values.
@Suite struct StorePageTests {
    private func page(
        _ title: String, objectLimit: Int? = nil, _ body: (NSManagedObjectContext) throws -> Void
    ) throws -> String {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .notes())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            try body(context)
            try context.save()
        }
        let sink = MemorySink()
        var page = StorePage()
        page.title = title
        if let objectLimit { page.objectLimit = objectLimit }
        try page.exportStore(of: coordinator, to: sink)
        return String(decoding: sink.data, as: UTF8.self)
    }

    private func insert(_ entity: String, _ values: [String: Any], _ context: NSManagedObjectContext) -> NSManagedObject
    {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    @Test func `objects are named by their titles, and every link has a target`() throws {
        let html = try page("Notes") { context in
            let tag = insert("Tag", ["name": "home"], context)
            for number in 1...20 {
                let note = insert("Note", ["title": "Note \(number)", "tags": NSSet(object: tag)], context)
                _ = insert("Item", ["name": "Milk", "note": note], context)
            }
        }
        #expect(html.contains("41 objects"))
        #expect(html.contains(">Note 3</a>"))
        #expect(html.contains("<summary>20 objects</summary>"))
        let addresses = Set(html.matches(of: /id="([^"]+)"/).map { String($0.output.1) })
        let links = html.matches(of: /href="#([^"]+)"/).map { String($0.output.1) }
        #expect(links.count == 3 + 20 * 4)
        #expect(links.allSatisfy(addresses.contains))
    }

    @Test func `values are escaped, whatever they contain`() throws {
        let html = try page("<b>&") { context in
            _ = insert("Note", ["title": "<script>alert(1)</script>", "body": "\u{0}\u{1B}\"'"], context)
            let site = try #require(URL(string: "javascript:alert(1)"))
            _ = insert("Person", ["name": "<img src=x onerror=alert(1)>", "site": site], context)
        }
        #expect(html.contains("<title>&lt;b&gt;&amp;</title>"))
        #expect(!html.contains("<script>alert"))
        #expect(!html.contains("<img src=x"))
        #expect(!html.contains("href=\"javascript"))
        #expect(!html.contains("\u{0}"))
    }

    @Test func `a page of more objects than its limit is not written`() throws {
        let insertThree = { (context: NSManagedObjectContext) in
            for number in 1...3 { _ = self.insert("Note", ["title": "Note \(number)"], context) }
        }
        #expect(try page("Notes", objectLimit: 3, insertThree).contains("3 objects"))
        let error = #expect(throws: PageError.self) { try page("Notes", objectLimit: 2, insertThree) }
        #expect(error?.code == .tooManyObjects && error?.message == "The page would have more than 2 objects.")
    }

    @Test func `long text is truncated, and empty properties share a row`() throws {
        let html = try page("Notes") { context in
            _ = insert("Note", ["title": "T", "body": String(repeating: "ä", count: 5000)], context)
        }
        #expect(html.contains("… and 3000 more characters"))
        #expect(html.contains("<th>empty</th><td>created<wbr>At, identifier"))
    }
}

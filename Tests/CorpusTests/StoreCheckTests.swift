import Coral
import CoralTools
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Stores written by Apple's Core Data have no problems, and diagrams and pages of them are valid.
@Suite(.enabled(if: !Corpus.stores.isEmpty, "The files of the corpus are not here."))
struct StoreCheckTests {
    @Test(arguments: Corpus.stores)
    func `no problems are found, and checking changes nothing`(_ original: URL) throws {
        let copy = try StoreCopy(original)
        guard let model = try StoreInspection(url: copy.url).cachedModel else { return }
        let before = try copy.contents()
        #expect(try StoreCheck(url: copy.url, model: model).problems() == [])
        #expect(try copy.contents() == before)
    }

    @Test(arguments: Corpus.stores)
    func `a model is drawn as well-formed XML`(_ original: URL) throws {
        guard let model = try StoreInspection(url: original).cachedModel else { return }
        let diagram = ModelDiagram(model)
        #expect(diagram.boxes.count == model.entities.count)
        #expect(XMLParser(data: Data(diagram.svg(title: "A & B").utf8)).parse())
        #expect(diagram.svg() == ModelDiagram(model).svg())
    }

    @Test(arguments: Corpus.stores)
    func `every link of a page refers to an object of the page`(_ original: URL) throws {
        let copy = try StoreCopy(original)
        guard let model = try StoreInspection(url: copy.url).cachedModel else { return }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.keepingStoredArchives())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: copy.url,
            options: [NSReadOnlyPersistentStoreOption: true])
        let sink = MemorySink()
        let result = try StorePage().exportStore(of: coordinator, to: sink)
        let html = String(decoding: sink.data, as: UTF8.self)
        let parts = html.components(separatedBy: "<article id=\"")
        #expect(parts.count - 1 == result.recordCount)
        let addresses = Set(parts.dropFirst().map { String($0.prefix { $0 != "\"" }) })
        let links = parts.dropFirst().flatMap { $0.components(separatedBy: "href=\"#").dropFirst() }
        #expect(links.allSatisfy { addresses.contains(String($0.prefix { $0 != "\"" })) })
    }
}

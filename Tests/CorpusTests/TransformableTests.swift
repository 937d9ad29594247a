import Coral
import CoralTools
import Testing

/// Transformable columns written by apps, of classes that are not available: displayed, and preserved bit for bit.
@Suite(.enabled(if: !Corpus.stores.isEmpty, "The files of the corpus are not here."))
struct TransformableTests {
    private func context(
        _ url: URL, _ model: NSManagedObjectModel, readOnly: Bool = true
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSReadOnlyPersistentStoreOption: readOnly])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// The bytes of all transformable attributes, by attribute, sorted.
    private func archives(_ context: NSManagedObjectContext) throws -> [String: [Data]] {
        try context.performAndWait {
            var archives: [String: [Data]] = [:]
            for object in try objects(in: context) {
                for (name, attribute) in object.entity.attributesByName
                where attribute.attributeType == .transformableAttributeType {
                    guard let data = object.value(forKey: name) as? Data else { continue }
                    archives["\(object.entity.name ?? "").\(name)", default: []].append(data)
                }
            }
            return archives.mapValues { $0.sorted { $0.lexicographicallyPrecedes($1) } }
        }
    }

    private func objects(in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let model = try #require(context.persistentStoreCoordinator?.managedObjectModel)
        return try model.entities.filter { $0.superentity == nil }.flatMap {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: $0.name ?? ""))
        }
    }

    @Test(arguments: Corpus.stores)
    func `the bytes are preserved by a document, a subset and a copy`(_ original: URL) throws {
        let copy = try StoreCopy(original)
        guard let model = try StoreInspection(url: copy.url).cachedModel?.keepingStoredArchives() else { return }
        let source = try context(copy.url, model)
        let before = try archives(source)
        guard !before.isEmpty else { return }

        if Engine.current.choosesKeys {
            let sink = MemorySink()
            try GraphExporter(shape: .everything).exportStore(
                of: try #require(source.persistentStoreCoordinator), to: sink)
            let restored = copy.folder.appendingPathComponent("restored.sqlite")
            _ = try StoreRestorer(model: model).restore(.data(sink.data), to: restored)
            #expect(try archives(context(restored, model)) == before)
        }

        let part = copy.folder.appendingPathComponent("part.sqlite")
        try source.performAndWait {
            _ = try GraphSubset(shape: .everything).export(try objects(in: source), to: part)
        }
        let target = try context(part, model, readOnly: false)
        #expect(try archives(target) == before)
        try target.performAndWait {
            var rules = CopyRules()
            rules.uniqueness = .unchecked
            try GraphCopier(shape: .everything, rules: rules).copy(try objects(in: target))
        }
        #expect(try archives(target).mapValues(\.count) == before.mapValues { $0.count * 2 })
        #expect(try archives(target).mapValues(Set.init) == before.mapValues(Set.init))
    }

    /// The readable values of an attribute's archives in the document.
    private func shown(_ name: String, of entity: String, in store: String) throws -> [ReadableValue?] {
        let original = try #require(Corpus.stores.first { $0.lastPathComponent == store })
        let copy = try StoreCopy(original)
        let model = try #require(try StoreInspection(url: copy.url).cachedModel?.keepingStoredArchives())
        let sink = MemorySink()
        try GraphExporter().exportStore(
            of: try #require(context(copy.url, model).persistentStoreCoordinator), to: sink)
        var reader = try JSONDocumentReader(sink.data, schema: GraphSchema(model))
        var shown: [ReadableValue?] = []
        while let record = try reader.next() {
            guard record.entity == entity, case .transformable(let value)? = record.value(of: name) else { continue }
            #expect(value.archive != nil)
            shown.append(value.readable)
        }
        return shown
    }

    @Test func `objects of unknown classes are displayed with their classes and fields`() throws {
        let covers = try shown("cover", of: "Book", in: "SampleModel2_V1.sqlite")
        #expect(covers.count == 51)
        let cover = ReadableValue.dictionary([
            .init(name: ReadableValue.classKey, value: .value(.string("CoreDataPlus_Tests.Cover"))),
            .init(name: "text", value: .value(.string("default cover"))),
        ])
        #expect(covers.allSatisfy { $0 == cover })
        let pages = try shown("content", of: "Page", in: "SampleModel2_V1.sqlite")
        #expect(pages.count == 4970)
        #expect(pages.allSatisfy { $0?.showsObjects == true })
    }

    @Test func `collections of plain values are displayed unchanged`() throws {
        let phones = try shown("phoneNumbersDictionary", of: "OCKCDContact", in: "SampleStore2.0.sqlite")
        #expect(!phones.isEmpty)
        for phone in phones {
            #expect(phone?.showsObjects == false)
            guard case .dictionary? = phone else { return #expect(Bool(false), "\(String(describing: phone))") }
        }
    }
}

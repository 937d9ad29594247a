import Foundation
import KeyedArchives
import Testing

@testable import ModelFiles

@Suite("Damaged files")
struct DamagedModelTests {
    @Test("A file that is not a model is rejected with a reason", .enabled(if: Corpus.isPresent))
    func otherFiles() throws {
        func code(_ path: String) -> ModelError.Code? {
            do {
                _ = try ModelFile.read(at: Corpus.url(path))
                return nil
            } catch {
                return (error as? ModelError)?.code
            }
        }
        let fixtures = "alemar11+CoreDataPlus/Tests/Resources/SampleModel/Fixtures"
        #expect(code("nothing") == .unreadableFile)
        #expect(code(fixtures) == .unknownFormat)
        #expect(code("\(fixtures)/SampleModel_V1.sqlite") == .unknownFormat)
        #expect(code("\(fixtures)/SampleModel.momd/SampleModel.omo") == .unknownFormat)
        #expect(code("\(fixtures)/SampleModel.momd/VersionInfo.plist") == .malformedFile)
        #expect(code("INDEX.md") == .unknownFormat)
    }

    /// A file that is truncated or has changed bytes is read or rejected, without crashing.
    private func damage(_ data: Data, _ read: (Data) throws -> Model) {
        var survivors = 0
        for length in stride(from: 0, to: data.count, by: max(1, data.count / 31)) {
            if (try? read(data.prefix(length))) != nil { survivors += 1 }
        }
        #expect(survivors == 0)
        var generator: UInt64 = 0x9E37_79B9_7F4A_7C15
        for _ in 0..<60 {
            var damaged = data
            for _ in 0..<3 {
                generator = generator &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let position = damaged.startIndex + Int(generator >> 33) % damaged.count
                damaged[position] = UInt8(truncatingIfNeeded: generator >> 24)
            }
            do {
                _ = try read(damaged).validate()
            } catch {
                #expect(error is ModelError)
            }
        }
    }

    @Test("Compiled models", arguments: Corpus.files(".mom"))
    func compiled(_ path: String) throws {
        damage(try Corpus.data(path)) { try ModelArchive.read($0) }
    }

    @Test("Old source models", arguments: Corpus.files("/elements"))
    func elements(_ path: String) throws {
        damage(try Corpus.data(path)) { try ModelElementsReader.read($0) }
    }

    @Test("Source models", arguments: Corpus.files("Moody 3.xcdatamodel/contents"))
    func source(_ path: String) throws {
        damage(try Corpus.data(path)) { try ModelSourceReader.read($0) }
    }

    @Test("Cached models", .enabled(if: Corpus.hasSQLite))
    func cached() throws {
        let content = try Corpus.cache(of: "objcio+core-data/Migrations/MigrationsTests/Moody.moody")
        damage(content) { try ModelCache.read($0) }
    }

    /// An archive of a model with one attribute, whose fields are given.
    private func model(
        _ builder: KeyedArchiveBuilder, type: ModelAttributeType, _ field: String, _ value: PropertyListValue
    ) throws -> Data {
        var builder = builder
        let name = builder.add(string: "value")
        let attribute = builder.add(
            classChain: ["NSAttributeDescription", "NSPropertyDescription", "NSObject"],
            fields: PropertyListDictionary([
                ("NSPropertyName", name), ("NSAttributeType", .integer(Int64(type.rawValue))), (field, value),
            ]))
        let properties = builder.add(dictionary: [(key: name, value: attribute)])
        let entityName = builder.add(string: "Note")
        let entity = builder.add(
            classChain: ["NSEntityDescription", "NSObject"],
            fields: PropertyListDictionary([("NSEntityName", entityName), ("NSProperties", properties)]))
        let entities = builder.add(dictionary: [(key: entityName, value: entity)])
        let root = builder.add(
            classChain: ["NSManagedObjectModel", "NSObject"],
            fields: PropertyListDictionary([("NSEntities", entities)]))
        return try builder.archive(root: root)
    }

    @Test("A small file whose parts are doubled at each level is rejected: predicates", arguments: [4, 90])
    func sharedPredicates(levels: Int) throws {
        var builder = KeyedArchiveBuilder()
        var predicate = builder.add(
            classChain: ["NSTruePredicate", "NSPredicate", "NSObject"], fields: PropertyListDictionary())
        for _ in 0..<levels {
            let parts = builder.add(array: [predicate, predicate])
            predicate = builder.add(
                classChain: ["NSCompoundPredicate", "NSPredicate", "NSObject"],
                fields: PropertyListDictionary([
                    ("NSCompoundPredicateType", .integer(1)), ("NSSubpredicates", parts),
                ]))
        }
        let predicates = builder.add(array: [predicate])
        let data = try model(builder, type: .string, "NSValidationPredicates", predicates)
        if levels == 4 {
            #expect(try ModelArchive.read(data).entities[0].attributes[0].validations.count == 1)
        } else {
            #expect(throws: ModelError.self) { try ModelArchive.read(data) }
        }
    }

    @Test("A small file whose parts are doubled at each level is rejected: composites", arguments: [4, 30])
    func sharedElements(levels: Int) throws {
        var builder = KeyedArchiveBuilder()
        let name = builder.add(string: "element")
        let chain = ["NSAttributeDescription", "NSPropertyDescription", "NSObject"]
        var element = builder.add(
            classChain: chain,
            fields: PropertyListDictionary([("NSPropertyName", name), ("NSAttributeType", .integer(700))]))
        for _ in 1..<levels {
            let elements = builder.add(array: [element, element])
            element = builder.add(
                classChain: chain,
                fields: PropertyListDictionary([
                    ("NSPropertyName", name), ("NSAttributeType", .integer(2100)), ("NSCompositeElements", elements),
                ]))
        }
        let elements = builder.add(array: [element, element])
        let data = try model(builder, type: .composite, "NSCompositeElements", elements)
        if levels == 4 {
            #expect(try ModelArchive.read(data).entities[0].attributes[0].leaves.count == 16)
        } else {
            #expect(throws: ModelError.self) { try ModelArchive.read(data) }
        }
    }

    @Test("Lists that are shared in lists are rejected when their product is too large", arguments: [3, 1000])
    func sharedLists(count: Int) throws {
        var builder = KeyedArchiveBuilder()
        let name = builder.add(string: "value")
        let element = builder.add(
            classChain: ["NSFetchIndexElementDescription", "NSObject"],
            fields: PropertyListDictionary([("NSPropertyName", name)]))
        let elements = builder.add(array: Array(repeating: element, count: count))
        let index = builder.add(
            classChain: ["NSFetchIndexDescription", "NSObject"],
            fields: PropertyListDictionary([("NSIndexName", name), ("NSIndexElements", elements)]))
        let indexes = builder.add(array: Array(repeating: index, count: count))
        let entityName = builder.add(string: "Note")
        let entity = builder.add(
            classChain: ["NSEntityDescription", "NSObject"],
            fields: PropertyListDictionary([("NSEntityName", entityName), ("NSFetchIndexDescriptions", indexes)]))
        let entities = builder.add(dictionary: [(key: entityName, value: entity)])
        let root = builder.add(
            classChain: ["NSManagedObjectModel", "NSObject"],
            fields: PropertyListDictionary([("NSEntities", entities)]))
        let data = try builder.archive(root: root)
        if count == 3 {
            #expect(try ModelArchive.read(data).entities[0].fetchIndexes.map(\.elements.count) == [3, 3, 3])
        } else {
            #expect(throws: ModelError.self) { try ModelArchive.read(data) }
        }
    }

    @Test("Random bytes")
    func random() {
        for length in 0..<200 {
            let bytes = Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ length) })
            #expect(throws: ModelError.self) { try ModelArchive.read(bytes) }
            #expect(throws: ModelError.self) { try ModelCache.read(bytes) }
            #expect(throws: ModelError.self) { try ModelArchive.read(Data("bplist00".utf8) + bytes) }
        }
    }
}

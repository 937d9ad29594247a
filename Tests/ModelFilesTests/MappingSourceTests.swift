import Foundation
import KeyedArchives
import PredicateLanguage
import Testing

@testable import ModelFiles

/// Mapping models of Xcode's editor, and their compiled form.
@Suite(.enabled(if: Corpus.isPresent, "The files that Apple's tools wrote are absent."))
struct MappingSourceTests {
    private static let folder = Corpus.url("alemar11+CoreDataPlus/Tests/Resources/SampleModel")
    private static let source = folder.appendingPathComponent("MappingModels/V2toV3.xcmappingmodel")

    /// The mapping as comparable text, with everything that the archive contains.
    private func text(_ entities: [MappingArchive.Entity]) -> [String] {
        entities.map { entity in
            let properties = (entity.attributes + entity.relationships).map {
                "\($0.name ?? "nil")=\($0.value?.predicateFormat ?? "nil") \($0.userInfo)"
            }
            return [
                entity.name ?? "nil", "\(entity.type)", entity.sourceName ?? "nil",
                entity.sourceHash?.base64EncodedString() ?? "nil", entity.destinationName ?? "nil",
                entity.destinationHash?.base64EncodedString() ?? "nil", entity.source?.predicateFormat ?? "nil",
                entity.policyClassName ?? "nil",
                "\(entity.userInfo)",
            ].joined(separator: "\n") + "\n" + properties.joined(separator: "\n")
        }
    }

    @Test func `the compiled form is that of Xcode`() throws {
        let mapping = try MappingSource(contentsOf: Self.source)
        let xcode = Self.folder.appendingPathComponent("Fixtures/V2toV3.cdm")
        let expected = text(try MappingArchive.read(at: xcode))
        #expect(text(try mapping.compiled()) == expected)
        let written = try MappingArchive.read(mapping.compiledData())
        #expect(text(written) == expected)
        #expect(text(try MappingArchive.read(at: Self.source)) == expected)
    }

    /// The classes and the keys of all objects, from the root, where the references are replaced by their objects.
    private func structure(_ data: Data) throws -> PropertyListValue {
        let list = try PropertyListValue(propertyList: data)
        let objects = try #require(list["$objects"]?.elements)
        func resolved(_ value: PropertyListValue) -> PropertyListValue {
            switch value {
            case .uid(let number): return resolved(objects[number])
            case .array(let elements): return .array(elements.map(resolved))
            case .dictionary(let dictionary):
                var members = PropertyListDictionary(sorted: dictionary.contents.mapValues(resolved))
                if let keys = dictionary["NS.keys"]?.elements, let values = dictionary["NS.objects"]?.elements {
                    // A dictionary has no order.
                    let pairs = zip(keys, values).map { (resolved($0).string ?? "", resolved($1)) }.sorted {
                        $0.0 < $1.0
                    }
                    members["NS.keys"] = .array(pairs.map { PropertyListValue.string($0.0) })
                    members["NS.objects"] = .array(pairs.map { $0.1 })
                }
                // Arrays of mappings and arguments may be mutable; both classes are read in the same way.
                if members["$classname"]?.string == "NSMutableArray" {
                    members["$classname"] = .string("NSArray")
                    members["$classes"] = .array([.string("NSArray"), .string("NSObject")])
                }
                return .dictionary(members)
            default: return value
            }
        }
        return resolved(try #require(list["$top"]?["root"]))
    }

    @Test func `the archive has the structure of Xcode's`() throws {
        let xcode = try Data(contentsOf: Self.folder.appendingPathComponent("Fixtures/V2toV3.cdm"))
        let own = try MappingSource(contentsOf: Self.source).compiledData()
        #expect(try structure(own) == structure(xcode))
        #expect(own == (try MappingSource(contentsOf: Self.source).compiledData()))
    }

    @Test(arguments: Corpus.files("xcmapping.xml"))
    func `every mapping model is read and compiled`(_ path: String) throws {
        let mapping = try MappingSource(contentsOf: Corpus.url(path).deletingLastPathComponent())
        let compiled = try mapping.compiled()
        #expect(!compiled.isEmpty)
        let models = try mapping.models()
        #expect(
            MappingArchive.fits(
                compiled, from: VersionHash(models.source).entityHashes,
                to: VersionHash(models.destination).entityHashes))
        #expect(text(try MappingArchive.read(mapping.compiledData())) == text(compiled))
    }

    @Test func `the copies of the models in the file are used where the project is absent`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let copy = folder.appendingPathComponent("V2toV3.xcmappingmodel")
        try FileManager.default.copyItem(at: Self.source, to: copy)
        let alone = try MappingSource(contentsOf: copy)
        #expect(try alone.models().source.entities.map(\.name).sorted() == ["Car", "LuxuryCar", "Person", "SportCar"])
        #expect(try alone.compiled().map(\.name) == MappingSource(contentsOf: Self.source).compiled().map(\.name))
    }

    @Test func `a key path and a mapping of the editor become a call`() throws {
        let mapping = try MappingSource(
            contentsOf: Corpus.url("objcio+core-data/Migrations/Migrations/Moody 2-Moody 3.xcmappingmodel"))
        let mood = try #require(try mapping.compiled().first { $0.name == "MoodToMood" })
        #expect(
            mood.relationships.first { $0.name == "continent" }?.value?.predicateFormat
                == "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", "
                + "\"ContinentToContinent\", $source.country.continent)")
    }
}

/// Damaged mapping models are errors with a place.
@Suite struct DamagedMappingSourceTests {
    private func failure(_ text: String) throws -> ModelError? {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).xml")
        defer { try? FileManager.default.removeItem(at: url) }
        try Data(text.utf8).write(to: url)
        return #expect(throws: ModelError.self) { try MappingSource(contentsOf: url).compiled() }
    }

    @Test func `a file that is not a mapping model is refused`() throws {
        #expect(try failure("<database>")?.code == .malformedFile)
        #expect(try failure("<model/>")?.code == .unknownFormat)
        #expect(try failure("<database/>")?.code == .unknownFormat)
        let dangling = """
            <database>
            <object type="XDDEVMAPPINGMODEL" id="z1"><relationship name="entitymappings" idrefs="z2"/></object>
            </database>
            """
        #expect(try failure(dangling)?.message == "There is no object z2.")
        let empty = """
            <database>
            <object type="XDDEVMAPPINGMODEL" id="z1"><relationship name="entitymappings" idrefs="z2"/></object>
            <object type="XDDEVENTITYMAPPING" id="z2"/>
            </database>
            """
        #expect(try failure(empty)?.line == 3)
        let modelless = empty.replacingOccurrences(
            of: #"id="z2"/>"#, with: #"id="z2"><attribute name="destinationname" type="string">A</attribute></object>"#)
        #expect(try failure(modelless)?.message.contains("source model") == true)
        #expect(throws: ModelError.self) { try MappingSource(contentsOf: URL(fileURLWithPath: "/nowhere")) }
    }
}

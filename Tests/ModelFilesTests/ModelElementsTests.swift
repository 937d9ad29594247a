import Foundation
import Testing

@testable import ModelFiles

@Suite("Source models before Xcode 4")
struct ModelElementsTests {
    /// The two models that a mapping model embeds, in base64.
    private func embedded(_ path: String, _ name: String) throws -> Data {
        let text = String(decoding: try Corpus.data(path), as: UTF8.self)
        let start = try #require(text.range(of: "<attribute name=\"\(name)\" type=\"binary\">"))
        let end = try #require(text.range(of: "</attribute>", range: start.upperBound..<text.endIndex))
        return try #require(
            Data(base64Encoded: String(text[start.upperBound..<end.lowerBound]), options: .ignoreUnknownCharacters))
    }

    private static let moody = "objcio+core-data/Migrations/Migrations"
    private static let sample = "alemar11+CoreDataPlus/Tests/Resources/SampleModel"

    @Test(
        "A model embedded in a mapping is the source model that it was copied from", .enabled(if: Corpus.isPresent),
        arguments: [
            ("\(moody)/Moody 2-Moody 3.xcmappingmodel", "sourcemodeldata", "\(moody)/Moody.xcdatamodeld/Moody 2"),
            ("\(moody)/Moody 2-Moody 3.xcmappingmodel", "destinationmodeldata", "\(moody)/Moody.xcdatamodeld/Moody 3"),
            ("\(moody)/Moody 4-Moody 5.xcmappingmodel", "sourcemodeldata", "\(moody)/Moody.xcdatamodeld/Moody 4"),
            ("\(moody)/Moody 4-Moody 5.xcmappingmodel", "destinationmodeldata", "\(moody)/Moody.xcdatamodeld/Moody 5"),
            (
                "\(sample)/MappingModels/V2toV3.xcmappingmodel", "sourcemodeldata",
                "\(sample)/SampleModel.xcdatamodeld/SampleModel2"
            ),
            (
                "\(sample)/MappingModels/V2toV3.xcmappingmodel", "destinationmodeldata",
                "\(sample)/SampleModel.xcdatamodeld/SampleModel3"
            ),
        ])
    func embeddedModel(mapping: String, name: String, source: String) throws {
        let model = try ModelElementsReader.read(embedded(mapping + "/xcmapping.xml", name))
        let expected = try ModelFile.read(at: Corpus.url(source + ".xcdatamodel")).model.compiledForm()
        #expect(model.validate() == [])
        #expect(VersionHash(model).entityHashes == VersionHash(expected).entityHashes)
        var compiled = model.compiledForm()
        for index in expected.entities.indices {
            // The old form has no fetch indexes, and therefore no mark of indexed attributes. Some of the class names were set
            // when the mapping was created, and removed in the published source.
            compiled.entities[index].className = expected.entities[index].className
            compiled.entities[index].fetchIndexes = expected.entities[index].fetchIndexes
        }
        compiled.versionIdentifiers = expected.versionIdentifiers
        #expect(compiled.compiledForm().differences(from: expected) == [])
    }

    @Test("The hashes of such a model are those in its store", .enabled(if: Corpus.hasSQLite))
    func store() throws {
        let example = "RestKit+RestKit/Examples/RKTwitterCoreData"
        let file = try ModelFile.read(at: Corpus.url("\(example)/Resources/RKTwitterCoreData.xcdatamodel"))
        #expect(file.kind == .elements)
        let metadata = try Corpus.metadata(of: "\(example)/RKSeedDatabase.sqlite")
        #expect(VersionHash(file.model).entityHashes == Corpus.hashes(in: metadata))
    }

    @Test("A bundle of such models is read", .enabled(if: Corpus.isPresent))
    func bundle() throws {
        let path = "magicalpanda+MagicalRecord/Samples/iOS/Application/Models/Recipes.xcdatamodeld"
        let file = try ModelFile.read(at: Corpus.url(path))
        #expect(file.versions.map(\.name) == ["Recipes", "Recipes 2"])
        let recipe = try #require(file.model.entity(named: "Recipe"))
        #expect(file.model.validate() == [])
        #expect(recipe.attributes.map(\.name).contains("name"))
        let ingredients = try #require(recipe.relationships.first { $0.name == "ingredients" })
        #expect(ingredients.isToMany)
        #expect(ingredients.deleteRule == .cascade)
    }
}

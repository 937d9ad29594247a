import Foundation
import KeyedArchives
import PredicateLanguage
import Testing

@testable import ModelFiles

@Suite("Conversions of models")
struct ModelConversionTests {
    private func element(_ name: String, _ type: ModelAttributeType) -> ModelAttribute {
        ModelAttribute(name: name, type: type, isOptional: true)
    }

    /// A model as compiled: composites without a named type, and properties that only code can set.
    private var compiled: Model {
        var inner = element("point", .composite)
        inner.elements = [element("latitude", .double), element("longitude", .double)]
        var home = element("home", .composite)
        home.elements = [element("street", .string), inner]
        var work = home
        work.name = "work"
        var title = element("title", .string)
        title.customValidations = [
            ModelValidation(
                predicate: .comparison(
                    ComparisonNode(.evaluatedObject, .beginsWith, .constant(value: "a"))), warning: .text("No a."))
        ]
        var request = ModelFetchRequest(entityName: "Note")
        request.sortDescriptors = [ModelSortDescriptor(key: "title", isAscending: false)]
        let twins = ModelFetchedProperty(name: "twins", fetchRequest: request)
        let many = ModelRelationship(name: "notes", destinationName: "Note", maximumCount: -1)
        return Model(entities: [
            ModelEntity(
                name: "Note", attributes: [home, title, work], relationships: [many], fetchedProperties: [twins])
        ])
    }

    @Test("A source written from a compiled model has composite types, compiles, and has the same hashes")
    func source() throws {
        let conversion = try ModelConversion.source(of: compiled)
        let result = try ModelSourceReader.read(conversion.data)
        #expect(result.validate().isEmpty)
        #expect(VersionHash(result).entityHashes == VersionHash(compiled).entityHashes)
        #expect(result.composites.map(\.name) == ["Point", "Home"])
        #expect(result.entities[0].attributes.map(\.compositeName) == ["Home", nil, "Home"])
        #expect(result.entities[0].attributes.map(\.elements).map { $0.map(\.name) }[0] == ["street", "point"])
        #expect(result.entities[0].relationships[0].maximumCount == -1)
    }

    /// A model with an attribute of the given number of composites in each other.
    private func nested(_ depth: Int) -> Model {
        var attribute = element("value", .double)
        for level in 0..<depth {
            var outer = element("level\(level)", .composite)
            outer.elements = [attribute]
            attribute = outer
        }
        return Model(entities: [ModelEntity(name: "Note", attributes: [attribute])])
    }

    @Test(
        "Every depth of composites that can be written can be read; a greater one is an error of all readers and writers"
    )
    func nesting() throws {
        let allowed = nested(ModelAttribute.maximumNesting)
        let hashes = VersionHash(allowed).entityHashes
        #expect(VersionHash(try ModelSourceReader.read(try ModelSourceWriter.write(allowed))).entityHashes == hashes)
        #expect(VersionHash(try ModelArchive.read(try ModelArchive.write(allowed))).entityHashes == hashes)

        let deeper = nested(ModelAttribute.maximumNesting + 1)
        func expectError(_ body: () throws -> Void) {
            let error = #expect(throws: ModelError.self) { try body() }
            #expect(error?.description.contains("nested more than 32 levels deep") == true)
        }
        expectError { _ = try ModelSourceWriter.write(deeper) }
        expectError { _ = try ModelArchive.write(deeper) }
        let types = (0...ModelAttribute.maximumNesting).map { level in
            let type = level == ModelAttribute.maximumNesting ? "'Double'" : "'Composite' composite='C\(level + 1)'"
            return "<composite name='C\(level)'><attribute name='value' attributeType=\(type)/></composite>"
        }
        let attribute = "<attribute name='value' attributeType='Composite' composite='C0'/>"
        let source = "<model><entity name='Note'>\(attribute)</entity>\(types.joined())</model>"
        expectError { _ = try ModelSourceReader.read(Data(source.utf8)) }
    }

    @Test("Properties that a source cannot represent are listed as omissions")
    func omissions() throws {
        let omissions = try ModelConversion.source(of: compiled).omissions.map(\.description)
        #expect(omissions.count == 2)
        #expect(omissions.contains { $0.hasPrefix("Note.title: validations, ") })
        #expect(omissions.contains("Note.twins: sort descriptors, title descending before, nothing after"))
        #expect(try ModelConversion.compiled(of: compiled).omissions == [])
    }

    @Test("A conversion that would change a hash is an error")
    func hashes() {
        // A number of objects that the format cannot hold.
        var model = compiled
        model.entities[0].relationships[0].maximumCount = 1
        model.entities[0].relationships[0].destinationName = nil
        model.entities[0].attributes[1].name = "ti\u{0}tle"
        #expect(throws: ModelError.self) { try ModelConversion.source(of: model) }
    }

    @Test("A type's name differs from all entity names, and different elements have different types")
    func names() throws {
        var model = compiled
        model.entities.append(ModelEntity(name: "Home"))
        model.entities[0].attributes[2].elements.removeLast()
        let result = try ModelSourceReader.read(ModelConversion.source(of: model).data)
        #expect(result.entities[0].attributes.compactMap(\.compositeName) == ["Home2", "Work"])
        #expect(VersionHash(result).entityHashes == VersionHash(model).entityHashes)
    }

    @Test("Models of real apps are converted either way with the same hashes", arguments: Corpus.files(".mom"))
    func corpus(_ path: String) throws {
        let model = try ModelArchive.read(Corpus.data(path))
        _ = try ModelConversion.source(of: model)
        #expect(try ModelConversion.compiled(of: model).omissions == [])
    }

    @Test("An identical second declaration of an index is a warning; two different indexes with one name are an error")
    func indexes() {
        let index = ModelFetchIndex(name: "byTitle", elements: [ModelFetchIndexElement(.property("title"))])
        var model = Model(entities: [
            ModelEntity(name: "Note", attributes: [element("title", .string), element("rank", .double)])
        ])
        model.entities[0].fetchIndexes = [index, index]
        #expect(model.validate() == [])
        #expect(model.warnings().map(\.code) == [.repeatedIndex])
        model.entities[0].fetchIndexes[1].elements = [ModelFetchIndexElement(.property("rank"))]
        #expect(model.validate().map(\.code) == [.duplicateName])
        #expect(model.warnings() == [])
    }
}

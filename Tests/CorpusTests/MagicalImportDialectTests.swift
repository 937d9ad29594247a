import Coral
import Foundation
import Testing

private let fixtureFile = "magicalpanda+MagicalRecord/Tests/Fixtures/TestModel.xcdatamodeld"

/// MagicalRecord's model and documents give the results of its own tests of importing.
@Suite(.enabled(if: DialectFixture.exists(fixtureFile), "The files of the corpus are not here."))
struct MagicalImportDialectTests {
    private let fixture: DialectFixture
    private let options: ImportOptions

    init() throws {
        fixture = try DialectFixture(model: fixtureFile, documents: "magicalpanda+MagicalRecord/Tests/Fixtures")
        options = try Dialect.magicalImport.importOptions(for: fixture.model)
    }

    @discardableResult
    private func take(_ name: String, as entity: String? = nil) throws -> NSManagedObject {
        let document = try ImportSource.data(fixture.document("\(name).json"))
        return try #require(try fixture.take(document, as: entity ?? name, options).first)
    }

    @Test func `a key that the model does not have is a warning`() {
        let mistakes = Dialect.magicalImport.mistakes(in: fixture.model)
        #expect(mistakes.filter { !$0.isWarning }.isEmpty)
        #expect(mistakes.contains { $0.entity == "MappedEntity" && $0.message.contains("\"mapped\"") })
    }

    @Test func `values of every type`() throws {
        let object = try take("SingleEntityWithNoRelationships")
        #expect(object.int("int16TestAttribute") == 256)
        #expect(object.int("int32TestAttribute") == 32)
        #expect(object.int("int64TestAttribute") == 10_158_365_420_975_381)
        #expect((object.value(forKey: "decimalTestAttribute") as? NSDecimalNumber)?.stringValue == "1.2")
        #expect((object.value(forKey: "doubleTestAttribute") as? NSNumber)?.doubleValue == 124.3)
        #expect((object.value(forKey: "floatTestAttribute") as? NSNumber)?.floatValue == 1e10)
        #expect((object.value(forKey: "booleanTestAttribute") as? NSNumber)?.boolValue == false)
        #expect((object.value(forKey: "booleanAsStringTestAttribute") as? NSNumber)?.boolValue == true)
        #expect(object.text("stringTestAttribute") == "This is a test value")
        #expect(object.text("numberAsStringTestAttribute") == "10248909829")
        #expect(object.text("mappedStringAttribute") == "Mapped value")
        #expect(object.value(forKey: "nullTestAttribute") == nil)
        #expect(object.text("notInJsonAttribute")?.contains("Core Data Model") == true)
        let dates = ["dateTestAttribute", "dateWithCustomFormat", "unixTimeTestAttribute", "unixTime13TestAttribute"]
        #expect(
            dates.map { object.value(forKey: $0) as? Date } == [
                Date(timeIntervalSince1970: 1_311_460_240), Date(timeIntervalSince1970: 1_312_509_364),
                Date(timeIntervalSince1970: 1_388_349_428), Date(timeIntervalSince1970: 1_388_349_427.543),
            ])
        try fixture.save()
    }

    @Test func `numbers in strings`() throws {
        let json = """
            {"int64TestAttribute": "42", "int32TestAttribute": "32", "int16TestAttribute": "256", "decimalTestAttribute": "1.2",
             "doubleTestAttribute": "124.3", "floatTestAttribute": "10000000000", "booleanTestAttribute": "true"}
            """
        let object = try #require(
            try fixture.take(.data(Data(json.utf8)), as: "SingleEntityWithNoRelationships", options).first)
        #expect(object.int("int64TestAttribute") == 42 && object.int("int16TestAttribute") == 256)
        #expect((object.value(forKey: "decimalTestAttribute") as? NSDecimalNumber)?.stringValue == "1.2")
        #expect((object.value(forKey: "floatTestAttribute") as? NSNumber)?.floatValue == 1e10)
        #expect((object.value(forKey: "booleanTestAttribute") as? NSNumber)?.boolValue == true)
    }

    @Test func `objects without a key are always inserted`() throws {
        try take("MultipleEntitiesWithNoPrimaryKey", as: "SingleEntityWithNoRelationships")
        #expect(try fixture.objects("SingleEntityWithNoRelationships").count == 4)
    }

    @Test func `many related objects, by a mapped key`() throws {
        let name = "SingleEntityRelatedToManyMappedEntitiesUsingMappedPrimaryKey"
        let object = try take(name)
        #expect(object.many("mappedEntities").count == 4)
        try fixture.save()
        let importer = GraphImporter(into: fixture.context, options: options)
        try fixture.context.performAndWait {
            try importer.populate(object, from: .data(Data("{}".utf8)))
            #expect(object.many("mappedEntities").count == 4)
            try importer.populate(object, from: .data(Data(#"{"mappedEntities": null}"#.utf8)))
            #expect(object.many("mappedEntities").isEmpty)
        }
    }

    @Test func `many related objects, by a list of keys`() throws {
        for key in 1...5 { _ = fixture.insert("MappedEntity", ["testMappedEntityID": key]) }
        try fixture.save()
        let object = try take(
            "SingleEntityRelatedToManyMappedEntitiesUsingListOfPrimaryKeys",
            as: "SingleEntityRelatedToManyMappedEntitiesUsingMappedPrimaryKey")
        #expect(Set(object.many("mappedEntities").map { $0.int("testMappedEntityID") }) == [1, 2, 3, 4])
        #expect(object.int("testPrimaryKey") == 84)
        #expect(try fixture.objects("MappedEntity").count == 5)
    }

    @Test func `a related object, by the usual key`() throws {
        _ = fixture.insert("MappedEntity", ["mappedEntityID": 42])
        try fixture.save()
        let object = try take("SingleEntityRelatedToMappedEntityUsingDefaults")
        #expect(object.one("mappedEntity")?.text("sampleAttribute")?.contains("sample json file") == true)
        #expect(try fixture.objects("MappedEntity").count == 1)
    }

    @Test func `a related object, by a mapped key under another name`() throws {
        _ = fixture.insert("MappedEntity", ["testMappedEntityID": 42])
        try fixture.save()
        let object = try take("SingleEntityRelatedToMappedEntityUsingMappedPrimaryKey")
        #expect(object.one("mappedEntity")?.int("testMappedEntityID") == 42)
        #expect(object.one("mappedEntity")?.text("sampleAttribute")?.contains("sample json file") == true)
        #expect(try fixture.objects("MappedEntity").count == 1)
    }

    @Test func `a nested value, and alternative keys`() throws {
        let nested = try take("SingleEntityRelatedToMappedEntityWithNestedMappedAttributes")
        #expect(nested.one("mappedEntity")?.text("nestedAttribute") == "This is a nested value")
        let other = try take("SingleEntityRelatedToMappedEntityWithSecondaryMappings")
        #expect(other.text("secondaryMappedAttribute") == "mapped value from sample json file")
        #expect(other.one("mappedRelationship")?.text("sampleAttribute")?.hasPrefix("actualMapped") == true)
    }

    @Test func `related objects have the relationship's entity`() throws {
        let object = try take("SingleRelatedEntity")
        let one = try #require(object.one("testAbstractToOneRelationship"))
        #expect(one.entity.name == "AbstractRelatedEntity")
        #expect(one.text("sampleBaseAttribute")?.contains("BASE") == true)
        #expect(object.many("testAbstractToManyRelationship").count == 2)
        let concrete = try #require(object.one("testConcreteToOneRelationship"))
        #expect(concrete.text("sampleBaseAttribute")?.contains("BASE") == true)
        #expect(concrete.text("sampleConcreteAttribute")?.contains("DESCENDANT") == true)
        #expect(object.many("testConcreteToManyRelationship").count == 3)
    }

    @Test func `an empty document gives an empty object`() throws {
        let object = try take("SampleJSONDataForImport", as: "SingleEntityWithNoRelationships")
        #expect(object.text("stringTestAttribute") == nil)
    }

    @Test func `the same values in a property list`() throws {
        let name = "SingleEntityWithNoRelationships"
        var mended = options
        mended.mapping?.entities[name]?.properties["dateWithCustomFormat"]?.dates = .format("M/d/yyyy h-mm-ss a")
        let document = try fixture.document("\(name).plist")
        let object = try #require(try fixture.take(.data(document), as: name, mended).first)
        #expect(object.int("int64TestAttribute") == 10_158_365_420_975_381)
        let date = object.value(forKey: "dateWithCustomFormat") as? Date
        #expect(date == Date(timeIntervalSince1970: 1_312_509_364))
    }

    @Test func `a date in another format is an error`() throws {
        let name = "SingleEntityWithNoRelationships"
        let document = try fixture.document("\(name).plist")
        let error = #expect(throws: ImportError.self) { try fixture.take(.data(document), as: name, options) }
        #expect(error?.place?.property == "dateWithCustomFormat")
    }
}

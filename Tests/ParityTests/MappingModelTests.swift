import CoreData
import Testing

/// Mapping models, inferred and made by hand.
@Suite struct MappingModelTests {
    /// "Lightweight Migration": names and types of inferred mappings, a property mapping for each attribute of the new
    /// entity, relationships of both versions only.
    /// https://developer.apple.com/documentation/coredata/nsmappingmodel/inferredmappingmodel(forsourcemodel:destinationmodel:)
    @Test func aMappingModelIsInferred() throws {
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: LibraryModels.old(), destinationModel: LibraryModels.new())
        let types = mapping.entityMappingsByName.mapValues(\.mappingType)
        #expect(
            types == [
                "IEM_Transform_Book": .transformEntityMappingType, "IEM_Transform_Novel": .transformEntityMappingType,
                "IEM_Transform_Person": .transformEntityMappingType, "IEM_Add_Hall": .addEntityMappingType,
                "IEM_Remove_Visitor": .removeEntityMappingType,
            ])
        let book = try #require(mapping.entityMappingsByName["IEM_Transform_Book"])
        #expect(book.sourceEntityName == "Book" && book.destinationEntityName == "Book")
        #expect(book.sourceEntityVersionHash == LibraryModels.old().entityVersionHashesByName["Book"])
        #expect(book.destinationEntityVersionHash == LibraryModels.new().entityVersionHashesByName["Book"])
        #expect(Set((book.attributeMappings ?? []).map(\.name)) == ["heading", "pages", "shelf", "year"])
        #expect(book.attributeMappings?.first { $0.name == "year" }?.valueExpression == nil)
        #expect((book.relationshipMappings ?? []).map(\.name) == ["authors"])
        #expect(mapping.entityMappingsByName["IEM_Transform_Person"]?.sourceEntityName == "Author")
    }

    /// inferredMappingModel: "If … the mapping model cannot be inferred, error contains … `reason`, `entity`, `property`".
    @Test func anImpossibleMappingHasAReason() throws {
        let new = LibraryModels.new()
        let strict = DiaryModel.attribute("barcode", .stringAttributeType)
        strict.isOptional = false
        new.entitiesByName["Book"]?.properties += [strict]
        let error = #expect(throws: CocoaError.self) {
            try NSMappingModel.inferredMappingModel(forSourceModel: LibraryModels.old(), destinationModel: new)
        }
        #expect(error?.code.rawValue == NSInferredMappingModelError)
        #expect(error?.userInfo["entity"] as? String == "Book")
        #expect(error?.userInfo["property"] as? String == "barcode")
        #expect((error?.userInfo["reason"] as? String)?.isEmpty == false)
    }

    /// NSEntityMapping: "If no name is set … source->destination"; mappings are found by name; nil resets them.
    @Test func aMappingModelIsMadeByHand() {
        let mapping = NSEntityMapping()
        mapping.sourceEntityName = "Author"
        mapping.destinationEntityName = "Person"
        #expect(mapping.name == "Author->Person")
        let model = NSMappingModel()
        model.entityMappings = [mapping]
        #expect(model.entityMappingsByName["Author->Person"] === mapping)
        model.entityMappings = nil
        #expect(model.entityMappings.isEmpty)
    }

    /// CoreDataPlus, `test_InferringMappingModelFromV1toV2`: an inferred mapping lists the names of its properties.
    @Test func anInferredMappingListsItsProperties() throws {
        func model(_ names: [String], renaming: [String: String] = [:]) -> NSManagedObjectModel {
            let entity = NSEntityDescription()
            entity.name = "Author"
            entity.properties = names.map { name in
                let attribute = NSAttributeDescription()
                attribute.name = name
                attribute.attributeType = .stringAttributeType
                attribute.isOptional = true
                attribute.renamingIdentifier = renaming[name]
                return attribute
            }
            let model = NSManagedObjectModel()
            model.entities = [entity]
            return model
        }
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: model(["alias", "cover", "siteURL"]),
            destinationModel: model(["alias", "frontCover", "age"], renaming: ["frontCover": "cover"]))
        let userInfo = try #require(mapping.entityMappings?.first?.userInfo)
        #expect(userInfo["mappedProperties"] as? Set<String> == ["alias", "frontCover"])
        #expect(userInfo["addedProperties"] as? Set<String> == ["age"])
        #expect(userInfo["removedProperties"] as? Set<String> == ["siteURL"])
    }

    /// CoreDataPlus, `test_MigrationFromV1toV3`: a new relationship, required or not, may have the name that is the renaming
    /// identifier of an attribute of the version before.
    @Test func aRelationshipHasTheNameThatAnAttributeHadBefore() throws {
        func model(_ change: (NSEntityDescription, NSEntityDescription) -> Void) -> NSManagedObjectModel {
            let book = DiaryModel.entity("Book", NSManagedObject.self)
            let cover = DiaryModel.entity("Cover", NSManagedObject.self)
            book.properties = [DiaryModel.attribute("frontCover", .stringAttributeType)]
            change(book, cover)
            let model = NSManagedObjectModel()
            model.entities = [book, cover]
            return model
        }
        let old = model { book, _ in book.attributesByName["frontCover"]?.renamingIdentifier = "cover" }
        let new = model { book, cover in
            DiaryModel.relate(
                book, "cover", (1, false, .cascadeDeleteRule), cover, "book", (1, false, .nullifyDeleteRule))
            book.relationshipsByName["cover"]?.isOptional = false
        }
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        let book = try #require(mapping.entityMappingsByName["IEM_Transform_Book"])
        #expect(book.attributeMappings?.map(\.name) == ["frontCover"])
        #expect(book.relationshipMappings?.isEmpty == true)
    }
}

import CoreData
import Testing

/// The behaviour that programs rely on when building or reading a model.
@Suite struct ModelTests {
    /// A library: publications, of which books are one kind, and their authors.
    private func library() -> NSManagedObjectModel {
        let title = NSAttributeDescription()
        title.name = "title"
        title.attributeType = .stringAttributeType
        title.isOptional = false
        let year = NSAttributeDescription()
        year.name = "year"
        year.type = .integer16
        year.defaultValue = 1900
        let pages = NSAttributeDescription()
        pages.name = "pages"
        pages.type = .integer32
        let name = NSAttributeDescription()
        name.name = "name"
        name.type = .string

        let publication = NSEntityDescription()
        publication.name = "Publication"
        publication.isAbstract = true
        let book = NSEntityDescription()
        book.name = "Book"
        let author = NSEntityDescription()
        author.name = "author"

        let authors = NSRelationshipDescription()
        authors.name = "authors"
        authors.destinationEntity = author
        let works = NSRelationshipDescription()
        works.name = "works"
        works.destinationEntity = publication
        works.deleteRule = .cascadeDeleteRule
        authors.inverseRelationship = works
        works.inverseRelationship = authors
        for relationship in [authors, works] {
            relationship.minCount = 0
            relationship.maxCount = 0
        }

        publication.properties = [title, year, authors]
        publication.subentities = [book]
        book.properties = [pages]
        book.uniquenessConstraints = [["title", "pages"]]
        author.properties = [name, works]
        let model = NSManagedObjectModel()
        model.entities = [publication, book, author]
        model.setEntities([author], forConfigurationName: "People")
        return model
    }

    /// https://developer.apple.com/documentation/coredata/nsentitydescription
    @Test func anEntityHasInheritedProperties() throws {
        let model = library()
        let book = try #require(model.entitiesByName["Book"])
        let publication = try #require(model.entitiesByName["Publication"])
        #expect(Set(book.propertiesByName.keys) == ["title", "year", "authors", "pages"])
        #expect(Set(book.attributesByName.keys) == ["title", "year", "pages"])
        #expect(Set(book.relationshipsByName.keys) == ["authors"])
        #expect(book.superentity === publication)
        #expect(book.isKindOf(entity: publication))
        #expect(!publication.isKindOf(entity: book))
        #expect(publication.subentitiesByName["Book"] === book)
        #expect(book.managedObjectModel === model)
        let author = try #require(model.entitiesByName["author"])
        #expect(book.relationships(forDestination: author).map(\.name) == ["authors"])
        #expect(author.relationshipsByName["works"]?.isToMany == true)
    }

    /// https://developer.apple.com/documentation/coredata/nsattributedescription/type-swift.property
    @Test func oldAndNewTypesAreEqual() {
        let attribute = NSAttributeDescription()
        attribute.type = .date
        #expect(attribute.attributeType == .dateAttributeType)
        #expect(attribute.attributeValueClassName == "NSDate")
        attribute.attributeType = .decimalAttributeType
        #expect(attribute.type == .decimal)
        #expect(NSAttributeDescription.AttributeType.composite.rawValue.rawValue == 2100)
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectmodel/setentities(_:forconfigurationname:)
    @Test func configurationsGroupEntities() {
        let model = library()
        #expect(model.configurations == ["People"])
        #expect(model.entities(forConfigurationName: "People")?.map(\.name) == ["author"])
        #expect(model.entities(forConfigurationName: nil)?.count == 3)
        #expect(model.entities(forConfigurationName: "Nobody") == nil)
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectmodel
    @Test func aCopyIsEqualAndIndependent() throws {
        let model = library()
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        #expect(copy.isEqual(model))
        #expect(copy.entityVersionHashesByName == model.entityVersionHashesByName)
        let authors = try #require(copy.entitiesByName["Book"]?.relationshipsByName["authors"])
        #expect(authors.destinationEntity === copy.entitiesByName["author"])
        #expect(authors.inverseRelationship?.entity === copy.entitiesByName["author"])
        copy.entitiesByName["Book"]?.isAbstract = true
        #expect(!copy.isEqual(model))
        #expect(model.entitiesByName["Book"]?.isAbstract == false)
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectmodel/isconfiguration(withname:compatiblewithstoremetadata:)
    @Test func hashesDetermineCompatibleStores() throws {
        let model = library()
        let hashes = model.entityVersionHashesByName
        #expect(hashes.count == 3)
        #expect(hashes.values.allSatisfy { $0.count == 32 })
        let metadata: [String: Any] = ["NSStoreModelVersionHashes": hashes]
        #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(!model.isConfiguration(withName: "People", compatibleWithStoreMetadata: metadata))

        let changed = try #require(model.copy() as? NSManagedObjectModel)
        changed.entitiesByName["author"]?.versionHashModifier = "2"
        #expect(!changed.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(changed.versionChecksum != model.versionChecksum)
        let found = NSManagedObjectModel(byMerging: [changed, model], forStoreMetadata: metadata)
        #expect(found?.entityVersionHashesByName == hashes)
    }

    /// The vector of `name` and `petName`, two strings, the second one optional.
    /// https://developer.apple.com/documentation/coredata/nsentitydescription/versionhash
    @Test func hashesAreThoseOfOtherImplementations() {
        let name = NSAttributeDescription()
        name.name = "name"
        name.type = .string
        name.isOptional = false
        let petName = NSAttributeDescription()
        petName.name = "petName"
        petName.type = .string
        let user = NSEntityDescription()
        user.name = "User"
        user.properties = [name, petName]
        let hash = user.versionHash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(hash == "6b31f4e97b691d16c4c820bae55f89408d47013bd42151ecfde1eac7fe4be798")
        let model = NSManagedObjectModel()
        model.entities = [user]
        #expect(model.versionChecksum == "u970QgYhRHEJGIt0zQr1UhuZL2ZJ1KxBS+B7rkAx0ik=")
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectmodel/init(bymerging:)
    @Test func modelsOfDifferentEntitiesMerge() {
        let model = library()
        let note = NSEntityDescription()
        note.name = "Note"
        let other = NSManagedObjectModel()
        other.entities = [note]
        let merged = NSManagedObjectModel(byMerging: [model, other])
        #expect(merged?.entities.count == 4)
        #expect(merged?.entityVersionHashesByName["Book"] == model.entityVersionHashesByName["Book"])

        let otherBook = NSEntityDescription()
        otherBook.name = "Book"
        let contradicting = NSManagedObjectModel()
        contradicting.entities = [otherBook]
        #expect(NSManagedObjectModel(byMerging: [model, contradicting]) == nil)
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectmodel/fetchrequestfromtemplate(withname:substitutionvariables:)
    @Test func aFetchRequestIsMadeFromATemplate() {
        let model = library()
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = model.entitiesByName["Book"]
        request.predicate = NSPredicate(format: "title == $TITLE")
        model.setFetchRequestTemplate(request, forName: "byTitle")
        let made = model.fetchRequestFromTemplate(withName: "byTitle", substitutionVariables: ["TITLE": "Emma"])
        #expect(made?.predicate?.predicateFormat == #"title == "Emma""#)
        #expect(model.fetchRequestTemplate(forName: "byTitle")?.predicate?.predicateFormat == "title == $TITLE")
        #expect(model.fetchRequestTemplate(forName: "nothing") == nil)
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectmodel
    @Test func aModelSurvivesAnArchive() throws {
        let model = library()
        let data = try NSKeyedArchiver.archivedData(withRootObject: model, requiringSecureCoding: true)
        let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSManagedObjectModel.self, from: data))
        #expect(read.entityVersionHashesByName == model.entityVersionHashesByName)
        #expect(read.configurations == ["People"])
        #expect(read.entitiesByName["Book"]?.uniquenessConstraints as? [[String]] == [["title", "pages"]])
    }

    /// https://developer.apple.com/documentation/coredata/nsmanagedobjectmodel/init(contentsof:)
    @Test func aMissingFileGivesNoModel() {
        let nowhere = URL(fileURLWithPath: "/nowhere/Model.momd")
        #expect(NSManagedObjectModel(contentsOf: nowhere) == nil)
    }

    /// https://developer.apple.com/documentation/coredata/nsentitydescription/renamingidentifier
    @Test func renamingIdentifiersDefaultToNames() {
        let entity = NSEntityDescription()
        entity.name = "Note"
        #expect(entity.renamingIdentifier == "Note")
        entity.renamingIdentifier = "Memo"
        #expect(entity.renamingIdentifier == "Memo")
        #expect(entity.managedObjectClassName == "NSManagedObject")
    }
}

import Foundation
import KeyedArchives
import PredicateLanguage
import Testing

@testable import ModelFiles

@Suite("Compiled models")
struct ModelArchiveTests {
    private static let bundle = "alemar11+CoreDataPlus/Tests/Resources/SampleModel"

    @Test("A .mom is read, written and read again", arguments: Corpus.files(".mom"))
    func roundTrip(_ path: String) throws {
        let model = try ModelArchive.read(Corpus.data(path))
        let written = try ModelArchive.write(model)
        #expect(try ModelArchive.read(written) == model)
        #expect(try ModelArchive.write(model) == written)
    }

    @Test(
        "Source and compiled model of one version are equal", .enabled(if: Corpus.isPresent),
        arguments: ["SampleModel", "SampleModel2", "SampleModel3"])
    func sourceAndCompiled(_ name: String) throws {
        let source = try ModelFile.read(
            at: Corpus.url("\(Self.bundle)/SampleModel.xcdatamodeld/\(name).xcdatamodel"))
        let compiled = try ModelFile.read(at: Corpus.url("\(Self.bundle)/Fixtures/SampleModel.momd/\(name).mom"))
        let expected = compiled.model.withoutValueClasses()
        #expect(source.model.compiledForm().withoutValueClasses().differences(from: expected) == [])
    }

    @Test(
        "The model that a store keeps is its source model", .enabled(if: Corpus.hasSQLite),
        arguments: Corpus.pairs.filter { !$0.isAmbiguous })
    func sourceAndCache(_ pair: Corpus.Pair) throws {
        // The source of CareKit was edited after the store was written, in a default that is part of no hash.
        guard Corpus.storesWithCache.contains(pair.store), !pair.store.contains("CareKit") else { return }
        let file = try ModelFile.read(at: Corpus.url(pair.model))
        let source = try #require(file.versions.first { pair.version == nil || $0.name == pair.version })
        var cached = try ModelCache.read(Corpus.cache(of: pair.store)).withoutValueClasses()
        var expected = source.model.compiledForm().withoutValueClasses()
        // Identifiers are part of no hash either; one of the models got its own after the store was written.
        expected.versionIdentifiers = cached.versionIdentifiers
        for index in cached.entities.indices where index < expected.entities.count {
            // A cache does not contain the names of missing classes.
            expected.entities[index].className = cached.entities[index].className
            // The framework adds an index for each attribute that is marked as indexed.
            let attributes = Set(cached.entities[index].attributes.filter(\.isIndexed).map(\.name))
            cached.entities[index].fetchIndexes.removeAll { attributes.contains($0.name) }
        }
        #expect(expected.differences(from: cached) == [])
    }

    @Test("A bundle is read, written and read again", .enabled(if: Corpus.isPresent))
    func bundleRoundTrip() throws {
        let file = try ModelFile.read(at: Corpus.url("\(Self.bundle)/Fixtures/SampleModel.momd"))
        #expect(file.kind == .compiledBundle)
        #expect(file.versions.map(\.name) == ["SampleModel", "SampleModel2", "SampleModel3"])
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".momd")
        defer { try? FileManager.default.removeItem(at: scratch) }
        try file.writeCompiledBundle(to: scratch)
        #expect(try ModelFile.read(at: scratch) == file)
    }

    @Test(
        "A store's cached model is read, written and read again", .enabled(if: Corpus.hasSQLite),
        arguments: Corpus.storesWithCache)
    func cache(_ store: String) throws {
        let content = try Corpus.cache(of: store)
        let inflated = try ModelCache.inflate(content)
        #expect(try ModelCache.deflate(inflated) == content)
        #expect(
            try BinaryPropertyList.read(BinaryPropertyList.write(BinaryPropertyList.read(inflated)))
                == BinaryPropertyList.read(inflated))
        let model = try ModelCache.read(content)
        let written = try ModelCache.write(model)
        #expect(try ModelCache.read(written).differences(from: model) == [])
        #expect(try ModelCache.read(written) == model)
    }

    /// Objects of a class and the number of fields with each name: the structure of an archive.
    private func inventory(_ data: Data) throws -> [String: [String: Int]] {
        let archive = try KeyedArchive(data: data)
        var inventory: [String: [String: Int]] = [:]
        for number in archive.objects.indices {
            guard let object = try archive.object(.uid(number)), object.className?.hasSuffix("Description") == true
            else { continue }
            let name = object.classChain.joined(separator: "/")
            for field in object.fieldNames { inventory[name, default: [:]][field, default: 0] += 1 }
            if let flags = try object.integer("_P") { inventory[name, default: [:]]["_P \(flags)", default: 0] += 1 }
        }
        return inventory
    }

    @Test(
        "A cache that we write has the classes and fields of the one that Apple wrote", .enabled(if: Corpus.hasSQLite),
        arguments: Corpus.storesWithCache)
    func inventory(_ store: String) throws {
        let content = try Corpus.cache(of: store)
        let expected = try inventory(ModelCache.inflate(content))
        let written = try inventory(ModelCache.inflate(ModelCache.write(ModelCache.read(content))))
        // Empty lists of indexes are omitted here.
        let optional = ["NSCompoundIndexes", "NSFetchIndexDescriptions"]
        for (name, fields) in expected {
            let other = written[name] ?? [:]
            let differing = Set(fields.keys).union(other.keys).filter {
                fields[$0] != other[$0] && !optional.contains($0)
            }
            #expect(differing.sorted() == [], "\(name)")
        }
    }

    @Test("Compiling preserves every part of a model")
    func everything() throws {
        var price = ModelAttribute(
            name: "price", type: .decimal, defaultValue: .decimal(Decimal(string: "-12.50") ?? 0))
        price.minimum = .decimal(-100)
        price.customValidations = [
            ModelValidation(predicate: try PredicateParser.parse("SELF != 13"), warning: .text("Not thirteen"))
        ]
        var photo = ModelAttribute(name: "photo", type: .binaryData, isOptional: true)
        photo.allowsExternalBinaryDataStorage = true
        photo.preservesValueInHistoryOnDeletion = true
        photo.allowsCloudEncryption = true
        var place = ModelAttribute(name: "place", type: .composite, isOptional: true)
        place.elements = [ModelAttribute(name: "latitude", type: .double, defaultValue: .double(0.25))]
        var total = ModelAttribute(name: "total", type: .integer64, isOptional: true)
        total.derivation = ModelDerivation(
            expression: .function("sum:", arguments: [.keyPath("items.amount")]),
            filteringPredicate: try PredicateParser.parse("amount > 0"))
        var colour = ModelAttribute(name: "colour", type: .transformable, isOptional: true)
        colour.valueTransformerName = "ColourTransformer"
        colour.valueClassName = "Colour"
        colour.defaultValue = .archived(.object(classChain: ["Colour", "NSObject"], fields: [.init("red", .real(1))]))
        var request = ModelFetchRequest(
            entityName: "Item",
            predicate: try PredicateParser.parse("amount BETWEEN {1, 9} AND name BEGINSWITH[cd] 'a'"))
        request.sortDescriptors = [ModelSortDescriptor(key: "name", isAscending: false)]
        request.includesSubentities = false
        var order = ModelEntity(
            name: "Order", className: "Shop.Order", attributes: [colour, photo, place, price, total],
            relationships: [
                ModelRelationship(
                    name: "items", destinationName: "Item", inverseName: "order", maximumCount: 0, isOrdered: true)
            ],
            fetchedProperties: [ModelFetchedProperty(name: "cheap", fetchRequest: request)],
            uniquenessConstraints: [["price", "photo"]],
            fetchIndexes: [
                ModelFetchIndex(
                    name: "byPlace",
                    elements: [ModelFetchIndexElement(.property("price"), collation: .rTree, isAscending: false)],
                    partialIndexPredicate: try PredicateParser.parse("price != nil"))
            ], userInfo: ["key": "value", "list": [1, 2.5, true]])
        order.versionHashModifier = "2"
        order.renamingIdentifier = "Purchase"
        let item = ModelEntity(
            name: "Item", isAbstract: true,
            attributes: [
                ModelAttribute(name: "amount", type: .integer32, defaultValue: .integer(-1)),
                ModelAttribute(name: "name", type: .string, isOptional: true),
            ],
            relationships: [ModelRelationship(name: "order", destinationName: "Order", inverseName: "items")])
        let special = ModelEntity(
            name: "Special", parentName: "Item",
            attributes: [ModelAttribute(name: "id", type: .uuid, defaultValue: .uuid(UUID()))])
        let model = Model(
            entities: [item, order, special], configurations: [ModelConfiguration(name: "C", entityNames: ["Item"])],
            fetchRequestTemplates: [ModelFetchRequestTemplate(name: "T", fetchRequest: request)],
            versionIdentifiers: ["1", "one"])
        #expect(model.validate() == [])
        let compiled = try ModelArchive.read(ModelArchive.write(model))
        #expect(compiled.differences(from: model) == [])
        #expect(compiled == model)
        var cached = model
        cached.fetchRequestTemplates = []
        #expect(try ModelCache.read(ModelCache.write(model)).differences(from: cached) == [])
        #expect(VersionHash(compiled).checksum == VersionHash(model).checksum)
    }
}

extension Model {
    /// The model without value classes, which compilers omit as often as they keep them.
    func withoutValueClasses() -> Model {
        var model = self
        for entity in model.entities.indices {
            for attribute in model.entities[entity].attributes.indices {
                model.entities[entity].attributes[attribute].valueClassName = nil
            }
        }
        return model
    }

    /// The differences, for the message of a failing test.
    func differences(from other: Model) -> [String] {
        var differences: [String] = []
        func compare<Value: Equatable>(_ name: String, _ left: Value, _ right: Value) {
            if left != right { differences.append("\(name): \(left) != \(right)") }
        }
        compare("entities", entities.map(\.name), other.entities.map(\.name))
        compare("configurations", configurations, other.configurations)
        compare("templates", fetchRequestTemplates, other.fetchRequestTemplates)
        compare("identifiers", versionIdentifiers, other.versionIdentifiers)
        for (left, right) in zip(entities, other.entities) where left != right {
            for case (let one, let two) in zip(left.attributes, right.attributes) { compare(left.name, one, two) }
            for case (let one, let two) in zip(left.relationships, right.relationships) { compare(left.name, one, two) }
            for case (let one, let two) in zip(left.fetchedProperties, right.fetchedProperties) {
                compare(left.name, one, two)
            }
            compare(left.name, left.properties.map(\.name), right.properties.map(\.name))
            compare(left.name, left.fetchIndexes, right.fetchIndexes)
            compare(left.name, left.compoundIndexes, right.compoundIndexes)
            compare(left.name, left.uniquenessConstraints, right.uniquenessConstraints)
            compare(left.name, left.className, right.className)
            compare(left.name, left.userInfo, right.userInfo)
            compare(left.name, left.renamingIdentifier, right.renamingIdentifier)
            compare(left.name, left.parentName, right.parentName)
            if differences.isEmpty { differences.append(left.name) }
        }
        return differences
    }
}

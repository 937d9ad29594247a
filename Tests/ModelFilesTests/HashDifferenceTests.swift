import Foundation
import KeyedArchives
import PredicateLanguage
import Testing

@testable import ModelFiles

/// Why version hashes differ.
@Suite struct HashDifferenceTests {
    private let model = Model(entities: [
        ModelEntity(
            name: "Note",
            attributes: [
                ModelAttribute(name: "title", type: .string),
                ModelAttribute(name: "rank", type: .integer16, isOptional: true),
            ],
            relationships: [
                ModelRelationship(name: "items", destinationName: "Item", inverseName: "note", maximumCount: 0)
            ]),
        ModelEntity(
            name: "Item",
            relationships: [ModelRelationship(name: "note", destinationName: "Note", inverseName: "items")]),
        ModelEntity(name: "Task", parentName: "Note", attributes: [ModelAttribute(name: "due", type: .date)]),
    ])

    private func changed(_ change: (inout ModelEntity) -> Void) -> Model {
        var model = model
        change(&model.entities[0])
        return model
    }

    private func reasons(_ change: (inout ModelEntity) -> Void) -> [String] {
        let difference = HashDifference(from: model, to: changed(change))
        #expect(difference.entities.allSatisfy { $0.isProven })
        return difference.entities.flatMap { entity in
            entity.reasons.map { "\(entity.name) \($0.text(old: "A", new: "B"))" }
        }
    }

    private let inherited = "Task its parent Note differs"

    @Test func `each part that a hash covers is a reason`() {
        #expect(reasons { _ in }.isEmpty)
        #expect(
            reasons { $0.attributes[0].isOptional = true }
                == ["Note title: optional is no in A, yes in B", inherited])
        #expect(
            reasons { $0.attributes[1].type = .integer64 }
                == ["Note rank: type is integer16 in A, integer64 in B", inherited])
        #expect(
            reasons { $0.attributes[1].versionHashModifier = "2" }
                == ["Note rank: hash modifier is none in A, 2 in B", inherited])
        #expect(
            reasons { $0.relationships[0].isOrdered = true } == ["Note items: ordered is no in A, yes in B", inherited])
        #expect(
            reasons { $0.relationships[0].maximumCount = 1 }
                == ["Note items: maximum count is unlimited (to-many) in A, 1 (to-one) in B", inherited])
        #expect(
            reasons { $0.uniquenessConstraints = [["title"]] }
                == ["Note uniqueness constraints is none in A, title in B", inherited])
        #expect(reasons { $0.isAbstract = true } == ["Note abstract is no in A, yes in B", inherited])
        #expect(
            reasons { $0.attributes.append(ModelAttribute(name: "colour", type: .string, isOptional: true)) }
                == ["Note colour: only in B (string, optional)", inherited])
        #expect(reasons { $0.attributes.removeFirst() } == ["Note title: only in A (string)", inherited])
        #expect(
            reasons { $0.attributes[0].isTransient = true } == ["Note title: only in A (string)", inherited])
    }

    @Test func `what a hash does not cover is no reason beside one that it does`() {
        let reasons = reasons { note in
            note.relationships[0].deleteRule = .cascade
            note.attributes[0].defaultValue = .string("?")
            note.attributes[0].renamingIdentifier = "name"
            note.className = "MyNote"
            note.attributes[1].isOptional = false
        }
        #expect(reasons == ["Note rank: optional is yes in A, no in B", inherited])
    }

    @Test func `renamed properties and entities are one difference each`() {
        let reasons = reasons { note in
            note.attributes[0].name = "heading"
            note.attributes[0].renamingIdentifier = "title"
        }
        #expect(reasons == ["Note heading: name is title in A, heading in B", inherited])
        var other = model
        other.entities[1].name = "Entry"
        other.entities[1].renamingIdentifier = "Item"
        other.entities[0].relationships[0].destinationName = "Entry"
        let difference = HashDifference(from: model, to: other)
        #expect(difference.entities.map(\.name) == ["Entry", "Note", "Task"])
        #expect(difference.entities.allSatisfy { $0.isProven })
        #expect(difference.entities[0].reasons.map(\.aspect) == [.name])
        #expect(difference.entities[1].reasons.map(\.aspect) == [.destination])
    }

    @Test func `elements of composites differ one by one, and their order makes no difference`() {
        func model(_ elements: [ModelAttribute]) -> Model {
            var place = ModelAttribute(name: "place", type: .composite)
            place.elements = elements
            return Model(entities: [ModelEntity(name: "Note", attributes: [place])])
        }
        let (city, street) = (
            ModelAttribute(name: "city", type: .string), ModelAttribute(name: "street", type: .string)
        )
        #expect(HashDifference(from: model([city, street]), to: model([street, city])).entities.isEmpty)
        var required = city
        required.isOptional = true
        let difference = HashDifference(from: model([city, street]), to: model([required]))
        #expect(difference.entities.first?.isProven == true)
        #expect(
            difference.entities.first?.reasons.map { $0.text(old: "A", new: "B") } == [
                "place.city: optional is no in A, yes in B", "place.street: only in A (string)",
            ])
    }

    @Test func `hashes that are not those of the older model are not proven`() {
        var hashes = VersionHash(model).entityHashes
        hashes["Note"] = Data([1])
        let difference = HashDifference(from: model, to: changed { $0.isAbstract = true }, hashes: hashes)
        #expect(difference.entities.map(\.name) == ["Note", "Task"])
        #expect(difference.entities.map(\.isProven) == [false, true])
    }

    @Test func `one or two changes are found from the hash alone`() throws {
        func found(_ change: (inout ModelEntity) -> Void, others: [Model] = []) throws -> [String]? {
            let hash = try #require(VersionHash(changed(change)).entityHashes["Note"])
            return HashSearch(model, others: others).reasons(forEntity: "Note", hash: hash)?
                .map { $0.text(old: "A", new: "B") }
        }
        #expect(try found { $0.attributes[0].isOptional = true } == ["title: optional is yes in A, no in B"])
        #expect(
            try found {
                $0.attributes[1].type = .integer64
                $0.relationships[0].isOrdered = true
            } == ["rank: type is integer64 in A, integer16 in B", "items: ordered is yes in A, no in B"])
        #expect(
            try found {
                $0.attributes[1].type = .double
                $0.attributes[1].isOptional = false
            } == ["rank: optional is no in A, yes in B", "rank: type is double in A, integer16 in B"])
        #expect(try found { $0.attributes.removeFirst() } == ["title: only in B (string)"])
        let colour = ModelAttribute(name: "colour", type: .uuid)
        #expect(try found { $0.attributes.append(colour) } == nil)
        #expect(
            try found({ $0.attributes.append(colour) }, others: [changed { $0.attributes = [colour] }])
                == ["colour: only in A (uuid)"])
    }

    @Test func `the nearest of the known versions is the one with the most equal hashes`() throws {
        let one = ModelFile.Version(name: "1", model: changed { $0.isAbstract = true })
        let two = ModelFile.Version(name: "2", model: model)
        let hashes = VersionHash(model).entityHashes
        #expect(StoreVersion(hashes: hashes, among: [one, two]).exact?.name == "2")
        let nearest = StoreVersion(hashes: hashes, among: [one])
        #expect(nearest.exact == nil)
        #expect(nearest.candidates.map(\.differentCount) == [2])
    }

    /// Every two versions of each model of the corpus: the reasons are proven by the hashes.
    @Test(.enabled(if: Corpus.isPresent, "The files of the corpus are not here."))
    func `the reasons are the true ones for all versions of the corpus`() throws {
        var count = 0
        for path in Corpus.files(".xcdatamodeld", ".momd") {
            guard let versions = try? ModelFile.read(at: Corpus.url(path)).versions, versions.count > 1 else {
                continue
            }
            // Neighbours, and the first and last: all pairs of ninety versions would take too long here.
            let pairs = Array(zip(versions, versions.dropFirst())) + [(versions[0], versions[versions.count - 1])]
            for (before, after) in pairs {
                let difference = HashDifference(from: before.model, to: after.model)
                let expected = ModelDifference(from: before.model, to: after.model).differentHashes
                #expect(difference.entities.isEmpty == expected.isEmpty, "\(path) \(before.name) \(after.name)")
                for entity in difference.entities where entity.oldName != nil && entity.newName != nil {
                    #expect(entity.isProven, "\(path) \(before.name) \(after.name) \(entity.name) \(entity.reasons)")
                    #expect(!entity.reasons.isEmpty)
                    count += 1
                }
            }
        }
        #expect(count > 0)
    }
}

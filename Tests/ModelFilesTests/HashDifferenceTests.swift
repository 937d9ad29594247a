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

    /// Every two versions of each model of the corpus, in both directions. `CORAL_MODELS` is a folder with further models.
    @Test(.enabled(if: Corpus.isPresent, "The files of the corpus are not here."))
    func `with the older parts that the reasons name, the hashes of all versions of the corpus agree`() throws {
        var count = 0
        for versions in Self.corpusVersions {
            for (before, after) in Self.pairs(versions) {
                let difference = HashDifference(from: before.model, to: after.model)
                let replacement = PartReplacement(difference, from: before.model, to: after.model)
                let hashes = VersionHash(before.model).entityHashes
                let pair = "\(before.name) \(after.name)"
                #expect(difference.entities.isEmpty == (VersionHash(after.model).entityHashes == hashes), "\(pair)")
                #expect(
                    VersionHash(replacement.model(with: difference.entities)).entityHashes == hashes,
                    "\(pair) \(difference.entities)")
                for (index, entity) in difference.entities.enumerated() {
                    guard let oldName = entity.oldName, entity.newName != nil else { continue }
                    #expect(entity.isProven && !entity.reasons.isEmpty, "\(pair) \(entity)")
                    for reason in entity.reasons {
                        // A parent has its own reasons, and a new one is not in the older model.
                        let isNew = reason.aspect == .parent && before.model.entity(named: reason.new) == nil
                        if reason.aspect == .inheritance || isNew { continue }
                        var fewer = difference.entities
                        fewer[index].reasons.removeAll { $0 == reason }
                        let model = replacement.model(with: fewer)
                        #expect(VersionHash(model).entityHashes[oldName] != hashes[oldName], "\(pair) \(reason)")
                        count += 1
                    }
                }
            }
        }
        #expect(count > 100)
    }

    @Test(.enabled(if: Corpus.isPresent, "The files of the corpus are not here."))
    func `a single reason is found from the hash alone for all versions of the corpus`() throws {
        let searched: Set<HashReason.Aspect> = [.optional, .type, .ordered, .maximumCount, .added, .removed, .abstract]
        var count = 0
        for versions in Self.corpusVersions {
            for (before, after) in Self.pairs(versions) {
                let hashes = VersionHash(before.model).entityHashes
                for entity in HashDifference(from: before.model, to: after.model).entities {
                    guard let name = entity.newName, name == entity.oldName, entity.reasons.count == 1,
                        searched.contains(entity.reasons[0].aspect), entity.reasons[0].property?.contains(".") != true
                    else { continue }
                    let others = versions.map(\.model).filter { $0 != after.model }
                    let found = HashSearch(after.model, others: others)
                        .reasons(forEntity: name, hash: try #require(hashes[name]))
                    #expect(found == entity.reasons, "\(before.name) \(after.name) \(name)")
                    count += 1
                }
            }
        }
        #expect(count > 10)
    }

    private static let corpusVersions: [[ModelFile.Version]] = {
        let further = ProcessInfo.processInfo.environment["CORAL_MODELS"].map { URL(fileURLWithPath: $0) }
        let models =
            further.map { folder in
                (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
            } ?? []
        return (Corpus.files(".xcdatamodeld", ".momd").map(Corpus.url) + models).compactMap {
            (try? ModelFile.read(at: $0))?.versions
        }
    }()

    private static func pairs(
        _ versions: [ModelFile.Version]
    ) -> [(before: ModelFile.Version, after: ModelFile.Version)] {
        versions.flatMap { before in
            versions.filter { $0.name != before.name }.map { (before, $0) }
        }
    }
}

/// A newer model in which the parts that reasons name are the older ones. It finds the parts by the words of the reasons alone.
private struct PartReplacement {
    private let old: Model
    private let new: Model
    /// All reasons of an entity, by its newer name: they state what was renamed.
    private let reasons: [String: [HashReason]]

    init(_ difference: HashDifference, from old: Model, to new: Model) {
        (self.old, self.new) = (old, new)
        reasons = difference.entities.reduce(into: [:]) { $0[$1.name] = $1.reasons }
    }

    func model(with differences: [HashDifference.Entity]) -> Model {
        var model = new
        for difference in differences {
            guard let index = model.entities.firstIndex(where: { $0.name == difference.newName }) else { continue }
            guard let before = difference.oldName.flatMap(old.entity) else {
                model.entities.remove(at: index)
                continue
            }
            // The name last: other differences find their entity by the newer one.
            for reason in difference.reasons where reason.aspect != .name || reason.property != nil {
                Self.replace(reason, among: reasons[difference.name] ?? [], from: before, in: &model.entities[index])
            }
        }
        for difference in differences
        where difference.reasons.contains(where: { $0.aspect == .name && $0.property == nil }) {
            guard let index = model.entities.firstIndex(where: { $0.name == difference.newName }) else { continue }
            model.entities[index].name = difference.oldName ?? ""
        }
        return Model(
            entities: model.entities
                + differences.filter { $0.newName == nil }.compactMap { $0.oldName }
                .compactMap(old.entity))
    }

    private static func replace(
        _ reason: HashReason, among reasons: [HashReason], from before: ModelEntity, in after: inout ModelEntity
    ) {
        guard let path = reason.property else {
            switch reason.aspect {
            case .abstract: after.isAbstract = before.isAbstract
            case .modifier: after.versionHashModifier = before.versionHashModifier
            case .uniqueness: after.uniquenessConstraints = before.uniquenessConstraints
            case .parent, .inheritance: after.parentName = reason.old.isEmpty ? nil : reason.old
            default: Issue.record("There is no \(reason.aspect) of an entity.")
            }
            return
        }
        /// The older name of the property or element with a path.
        func oldName(_ path: String) -> String {
            reasons.first { $0.property == path && $0.aspect == .name }?.old ?? String(path.split(separator: ".").last!)
        }
        let name = String(path.split(separator: ".")[0])
        let old = (
            attribute: before.attributes.first { $0.name == oldName(name) },
            relationship: before.relationships.first { $0.name == oldName(name) }
        )
        if name == path, [.added, .removed, .kind].contains(reason.aspect) {
            if reason.aspect != .removed {
                after.attributes.removeAll { $0.name == name && !$0.isTransient }
                after.relationships.removeAll { $0.name == name && !$0.isTransient }
            }
            if reason.aspect != .added {
                after.attributes.removeAll { $0.name == name }
                after.relationships.removeAll { $0.name == name }
                if let attribute = old.attribute { after.attributes.append(attribute) }
                if let relationship = old.relationship { after.relationships.append(relationship) }
            }
        } else if let index = after.attributes.firstIndex(where: { [name, oldName(name)].contains($0.name) }),
            let attribute = old.attribute
        {
            replace(reason, from: attribute, in: &after.attributes[index], oldName(path))
        } else if let index = after.relationships.firstIndex(where: { [name, oldName(name)].contains($0.name) }),
            let relationship = old.relationship
        {
            replace(reason, from: relationship, in: &after.relationships[index])
        } else {
            Issue.record("There is no \(path).")
        }
    }

    private static func replace(
        _ reason: HashReason, from before: ModelAttribute, in after: inout ModelAttribute, _ oldName: String
    ) {
        guard reason.property?.contains(".") == true, let name = reason.property?.split(separator: ".").last else {
            switch reason.aspect {
            case .name: after.name = before.name
            case .optional: after.isOptional = before.isOptional
            case .modifier: after.versionHashModifier = before.versionHashModifier
            case .type: (after.type, after.elements) = (before.type, before.elements)
            case .externalStorage: after.allowsExternalBinaryDataStorage = before.allowsExternalBinaryDataStorage
            case .preservation: after.preservesValueInHistoryOnDeletion = before.preservesValueInHistoryOnDeletion
            case .derivation: after.derivation = before.derivation
            default: Issue.record("There is no \(reason.aspect) of an attribute.")
            }
            return
        }
        after.elements.removeAll { $0.name == name }
        if reason.aspect != .added { after.elements += before.elements.filter { $0.name == oldName } }
    }

    private static func replace(
        _ reason: HashReason, from before: ModelRelationship, in after: inout ModelRelationship
    ) {
        switch reason.aspect {
        case .name: after.name = before.name
        case .optional: after.isOptional = before.isOptional
        case .modifier: after.versionHashModifier = before.versionHashModifier
        case .destination: after.destinationName = before.destinationName
        case .inverse: after.inverseName = before.inverseName
        case .maximumCount: after.maximumCount = before.maximumCount
        case .minimumCount: after.minimumCount = before.minimumCount
        case .ordered: after.isOrdered = before.isOrdered
        default: Issue.record("There is no \(reason.aspect) of a relationship.")
        }
    }
}

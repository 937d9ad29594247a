import Foundation
import ModelFiles

/// Why a store opens with a model or does not, from its hashes and the model that it contains.
///
/// A reason is a part of an entity that its version hash covers. Each is proven: with the store's part in its place, and those of
/// the other reasons, the hash of the model's entity is that of the store.
package struct StoreExplanation: Sendable {
    /// From where the parts of the store's version are known.
    package enum Origin: Sendable, Equatable {
        /// The model that the store contains.
        case storedModel
        /// A version of the model's file.
        case version(String)
        /// The hashes alone: changes were tried until one gave the hash.
        case search
    }

    /// A difference of an entity between the store and the model.
    package struct Entity: Sendable {
        /// The entity's name in the store; nil if only the model has it.
        package var storeName: String?
        /// The entity's name in the model; nil if only the store has it.
        package var modelName: String?
        package var reasons: [HashReason]
        package var isProven: Bool

        package var name: String { modelName ?? storeName ?? "" }
    }

    /// A property or entity that may have been renamed: of the same kind and type, and only in the store or only in the model.
    package struct Renaming: Sendable, Equatable {
        package var entity: String
        /// Nil if the entity itself may have been renamed.
        package var property: String?
        package var oldName: String
    }

    /// The version of the file that the store is compared with.
    package let version: StoreVersion.Candidate
    /// The known versions, the nearest first.
    package let versions: StoreVersion
    /// The configuration with whose entities the store opens; nil if it opens with all, or does not open.
    package let configuration: String?
    /// The checksum of the store's model, which staged migration identifies its version by; nil if it is not known.
    package let checksum: String?
    /// The entities that differ, sorted by name. Empty if the store opens.
    package let entities: [Entity]
    package let origin: Origin
    /// The model that the store was written with; nil if it is not known.
    package let storeModel: Model?
    /// Differences that no hash covers, and that are not a reason.
    package let withoutEffect: [ModelDifference.Change]
    /// What prevents an inferred migration. Nil if the model of the store is not known.
    package let obstacles: [InferredMapping.Obstacle]?
    /// What may have been renamed without a renaming identifier, so that an inferred migration would lose it.
    package let renamings: [Renaming]

    /// Whether the store opens with the version, without a migration.
    package var opens: Bool { entities.isEmpty }

    /// Explains a store.
    ///
    /// - Parameters:
    ///   - hashes: The version hashes in the store's metadata.
    ///   - checksum: The checksum in the store's metadata.
    ///   - storedModel: The model that the store contains.
    ///   - file: The model with its versions.
    ///   - version: The name of the version to compare with; nil for the current one.
    package init(
        hashes: [String: Data], checksum: String?, storedModel: Model?, file: ModelFile, version name: String? = nil
    ) {
        versions = StoreVersion(hashes: hashes, among: file.versions)
        let name = name ?? file.current.name
        let chosen = versions.candidates.first { $0.name == name } ?? versions.candidates[0]
        version = chosen
        let isStored = storedModel.map { VersionHash($0).entityHashes == hashes } ?? false
        let known = isStored ? storedModel : versions.exact?.model
        storeModel = known
        self.checksum = checksum ?? known.map { VersionHash($0).checksum }
        configuration = chosen.isExact ? nil : Self.configuration(of: chosen.model, hashes)
        guard !chosen.isExact, configuration == nil else {
            (entities, withoutEffect, obstacles, renamings) = ([], [], nil, [])
            origin = .storedModel
            return
        }
        guard let known else {
            origin = .search
            entities = Self.searched(chosen.model, file.versions.map(\.model), hashes)
            (withoutEffect, obstacles, renamings) = ([], nil, [])
            return
        }
        origin = isStored ? .storedModel : .version(versions.exact?.name ?? "")
        let difference = HashDifference(from: known, to: chosen.model, hashes: hashes)
        entities = difference.entities.map {
            Entity(storeName: $0.oldName, modelName: $0.newName, reasons: $0.reasons, isProven: $0.isProven)
        }
        let models = ModelDifference(from: known, to: chosen.model)
        withoutEffect = models.changes.filter { !$0.isHashed }
        obstacles = models.mapping.obstacles
        renamings = Self.renamings(difference, from: known, to: chosen.model)
    }

    /// The configuration whose entities have the hashes of the store.
    private static func configuration(of model: Model, _ hashes: [String: Data]) -> String? {
        let own = VersionHash(model).entityHashes
        let inheritance = ModelInheritance(model)
        return model.configurations.first { configuration in
            let listed = Set(configuration.entityNames)
            let names = own.keys.filter { name in
                !listed.isDisjoint(with: [name] + inheritance.ancestors(of: name).map(\.name))
            }
            return names.count == hashes.count && names.allSatisfy { own[$0] == hashes[$0] }
        }?.name
    }

    private static func searched(_ model: Model, _ others: [Model], _ hashes: [String: Data]) -> [Entity] {
        let own = VersionHash(model).entityHashes
        let search = HashSearch(model, others: others)
        let inheritance = ModelInheritance(model)
        return own.merging(hashes) { $1 }.keys.sorted().compactMap { name in
            guard own[name] != hashes[name] else { return nil }
            guard own[name] != nil, let hash = hashes[name] else {
                let isInStore = own[name] == nil
                return Entity(
                    storeName: isInStore ? name : nil, modelName: isInStore ? nil : name, reasons: [], isProven: true)
            }
            // The hash of an entity covers its parent's, whose difference is its own reason.
            let parent = inheritance.ancestors(of: name).first?.name
            if let parent, own[parent] != hashes[parent] {
                let reason = HashReason(property: nil, aspect: .inheritance, old: parent, new: parent)
                return Entity(storeName: name, modelName: name, reasons: [reason], isProven: false)
            }
            let reasons = search.reasons(forEntity: name, hash: hash)
            return Entity(storeName: name, modelName: name, reasons: reasons ?? [], isProven: reasons != nil)
        }
    }

    // MARK: - Renaming

    private static func renamings(_ difference: HashDifference, from old: Model, to new: Model) -> [Renaming] {
        let (before, after) = (ModelInheritance(old), ModelInheritance(new))
        var found: [Renaming] = []
        let removed = difference.entities.filter { $0.newName == nil }.compactMap {
            $0.oldName.flatMap { before.entities[$0] }
        }
        let added = difference.entities.filter { $0.oldName == nil }.compactMap {
            $0.newName.flatMap { after.entities[$0] }
        }
        if removed.count == 1, added.count == 1, isAlike(removed[0], added[0]) {
            found.append(Renaming(entity: added[0].name, property: nil, oldName: removed[0].name))
        }
        for entity in difference.entities {
            guard let oldName = entity.oldName, let newName = entity.newName,
                let old = before.entities[oldName], let new = after.entities[newName]
            else { continue }
            let gone = entity.reasons.filter { $0.aspect == .removed }.compactMap(\.property)
            let came = entity.reasons.filter { $0.aspect == .added }.compactMap(\.property)
            for name in came {
                // Only an unambiguous counterpart is suggested.
                let alike = gone.filter { isAlike($0, in: old, name, in: new) }
                guard alike.count == 1, came.filter({ isAlike(alike[0], in: old, $0, in: new) }).count == 1 else {
                    continue
                }
                found.append(Renaming(entity: newName, property: name, oldName: alike[0]))
            }
        }
        return found
    }

    /// Whether at least half of the stored properties have the same names.
    private static func isAlike(_ one: ModelEntity, _ other: ModelEntity) -> Bool {
        let (names, others) = (Set(one.properties.map(\.name)), Set(other.properties.map(\.name)))
        return names.intersection(others).count * 2 >= names.union(others).count
    }

    private static func isAlike(
        _ name: String, in old: ModelEntity, _ other: String, in new: ModelEntity
    ) -> Bool {
        if let one = old.attributes.first(where: { $0.name == name }),
            let other = new.attributes.first(where: { $0.name == other })
        {
            return one.type == other.type
        }
        if let one = old.relationships.first(where: { $0.name == name }),
            let other = new.relationships.first(where: { $0.name == other })
        {
            return one.destinationName == other.destinationName && one.isToMany == other.isToMany
        }
        return false
    }

    /// A model with the renaming identifiers that ``renamings`` suggest.
    package func renamed(_ model: Model) -> Model {
        var model = model
        for renaming in renamings {
            guard let index = model.entities.firstIndex(where: { $0.name == renaming.entity }) else { continue }
            guard let property = renaming.property else {
                model.entities[index].renamingIdentifier = renaming.oldName
                continue
            }
            for attribute in model.entities[index].attributes.indices
            where model.entities[index].attributes[attribute].name == property {
                model.entities[index].attributes[attribute].renamingIdentifier = renaming.oldName
            }
            for relationship in model.entities[index].relationships.indices
            where model.entities[index].relationships[relationship].name == property {
                model.entities[index].relationships[relationship].renamingIdentifier = renaming.oldName
            }
        }
        return model
    }
}

extension ModelDifference.Change {
    /// Whether the change is of a part that a version hash covers.
    package var isHashed: Bool {
        switch kind {
        case .renamed: true
        case .added, .removed: propertyKind != "fetched property" && !summary.contains("transient")
        case .changed(let aspect, _, _): Self.hashedAspects.contains(aspect)
        }
    }

    private static let hashedAspects: Set<String> = [
        "abstract", "parent", "hash modifier", "uniqueness constraints", "type", "optional", "transient",
        "external storage", "kept in history", "derived", "derived where", "elements", "destination", "inverse",
        "to many", "least count", "greatest count", "ordered", "declared by",
    ]
}

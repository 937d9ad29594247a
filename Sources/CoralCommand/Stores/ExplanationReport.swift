import Coral
import CoralTools
import ModelFiles

/// The output of `coral explain`.
struct ExplanationReport: Encodable {
    struct Reason: Encodable {
        var property: String?
        var aspect: String
        var inStore: String
        var inModel: String
    }

    struct Entity: Encodable {
        var entity: String
        /// The name in the store, if it is another one.
        var storeName: String?
        /// `store` or `model` if only that has the entity.
        var isOnlyIn: String?
        var reasons: [Reason]
        var isProven: Bool
    }

    struct Version: Encodable {
        var name: String
        var checksum: String
        var equalEntities: Int
        var differentEntities: Int
    }

    struct Obstacle: Encodable {
        var entity: String
        var property: String?
        var reason: String
    }

    var store: String
    var model: String?
    var version: String
    var opens: Bool
    var configuration: String?
    var checksum: String?
    var versions: [Version]
    /// How the store's version is known: `stored model`, `version NAME`, `search`.
    var origin: String
    var entities: [Entity]
    var withoutEffect: [String]
    var obstacles: [Obstacle]?
    var advice: [String]
    /// The files that were created.
    var written: [String]?

    private let texts: [(name: String, lines: [String])]
    private let isKnown: Bool

    init(_ explanation: StoreExplanation, store: String, model: String?, file: ModelFile) {
        (self.store, self.model) = (store, model)
        version = explanation.version.name
        opens = explanation.opens
        configuration = explanation.configuration
        checksum = explanation.checksum
        isKnown = explanation.storeModel != nil
        versions = explanation.versions.candidates.map {
            Version(
                name: $0.name, checksum: $0.checksum, equalEntities: $0.equalCount,
                differentEntities: $0.differentCount)
        }
        origin =
            switch explanation.origin {
            case .storedModel: "stored model"
            case .version(let name): "version \(name)"
            case .search: "search"
            }
        entities = explanation.entities.map { entity in
            Entity(
                entity: entity.name, storeName: entity.storeName == entity.modelName ? nil : entity.storeName,
                isOnlyIn: entity.modelName == nil ? "store" : entity.storeName == nil ? "model" : nil,
                reasons: entity.reasons.map {
                    Reason(property: $0.property, aspect: $0.aspect.rawValue, inStore: $0.old, inModel: $0.new)
                }, isProven: entity.isProven)
        }
        texts = explanation.entities.map { ($0.name, Self.lines(of: $0)) }
        withoutEffect = explanation.withoutEffect.map(\.description)
        obstacles = explanation.obstacles?.map { .init(entity: $0.entity, property: $0.property, reason: $0.reason) }
        advice = ExplanationAdvice(explanation, store: store, model: model).sentences
    }

    private enum CodingKeys: String, CodingKey {
        case store, model, version, opens, configuration, checksum, versions, origin, entities, withoutEffect, obstacles
        case advice, written
    }

    private static func lines(of entity: StoreExplanation.Entity) -> [String] {
        if entity.modelName == nil { return ["only in the store"] }
        if entity.storeName == nil { return ["only in the model"] }
        var lines = entity.reasons.map { $0.text(old: "the store", new: "the model") }
        if lines.isEmpty {
            lines.append(
                "the hash differs, and the reason was not found: no single change and no two of the model give it")
        } else if !entity.isProven, entity.reasons.first?.aspect != .inheritance {
            lines.append(
                "these reasons do not explain the whole difference: the hash in the metadata is of another model")
        }
        return lines
    }

    var text: String {
        var text = ""
        let subject = model.map { "\($0), version \"\(version)\"" } ?? "its own model"
        if let configuration {
            text += "\(store) opens with the configuration \"\(configuration)\" of \(subject).\n"
        } else {
            text += "\(store) \(opens ? "opens" : TextStyle.red.text("does not open")) with \(subject).\n"
        }
        text += known
        for (name, lines) in texts {
            text +=
                "\n\(TextStyle.bold.text(Terminal.text(name, on: .output)))\n" + lines.map { "    \($0)\n" }.joined()
        }
        if !entities.isEmpty, entities.allSatisfy({ $0.isProven || $0.reasons.first?.aspect == "hash of the parent" }) {
            text += "\nThese reasons are all: with the store's parts in their place, the hashes agree.\n"
        }
        if !withoutEffect.isEmpty {
            text += "\nOther differences, which no hash covers:\n" + withoutEffect.map { "    \($0)\n" }.joined()
        }
        if let obstacles, !obstacles.isEmpty {
            text += "\nCore Data cannot infer the migration:\n"
            text += obstacles.map { obstacle in
                "    \([obstacle.entity, obstacle.property].compactMap { $0 }.joined(separator: ".")): \(obstacle.reason)\n"
            }.joined()
        }
        if !advice.isEmpty { text += "\nWhat to do:\n" + advice.map { "    \($0)\n" }.joined() }
        if let written { text += "\nWritten:\n" + written.map { "    \($0)\n" }.joined() }
        return text
    }

    /// Which version the store has.
    private var known: String {
        var text = checksum.map { "Its version has the checksum \($0).\n" } ?? ""
        guard model != nil, !opens else { return text }
        let list = "\(Quantity.count(versions.count, "version"))"
        if let exact = versions.first, exact.differentEntities == 0 {
            text += "It was written with the version \"\(exact.name)\" of this model.\n"
        } else if let nearest = versions.first, versions.count > 1 {
            text +=
                "It is none of the \(list) of this model. The nearest is \"\(nearest.name)\", with \(nearest.equalEntities) of "
                + "\(nearest.equalEntities + nearest.differentEntities) entities equal.\n"
        }
        if !isKnown { text += "It does not contain its model: the reasons were searched with its hashes.\n" }
        return text
    }
}

/// What to do about a store that does not open, as sentences with command lines.
private struct ExplanationAdvice {
    private(set) var sentences: [String] = []

    init(_ explanation: StoreExplanation, store: String, model: String?) {
        guard !explanation.opens, let model else { return }
        let (file, target) = (ShellWord.quoted(store), ShellWord.quoted(model))
        let isShared =
            explanation.entities.contains { $0.storeName != nil && $0.modelName != nil }
            || explanation.version.equalCount > 0
        guard isShared else {
            sentences.append("No entity is in both: this is the store of another model.")
            return
        }
        for renaming in explanation.renamings {
            let part = [renaming.entity, renaming.property].compactMap { $0 }.joined(separator: ".")
            sentences.append(
                "If \(part) is \(renaming.oldName) renamed, give it the renaming identifier \"\(renaming.oldName)\" (in SwiftData: "
                    + "originalName), or its values are lost.")
        }
        if explanation.versions.exact == nil {
            sentences.append(
                "If this version has shipped, the model was edited afterwards or was not kept. Get it back: coral explain \(file) "
                    + "--model \(target) --write Frozen")
            if let checksum = explanation.checksum {
                sentences.append(
                    "A staged migration needs a stage that names the checksum \(checksum); without one it fails with error 134504."
                )
            }
        }
        guard let obstacles = explanation.obstacles else { return }
        if obstacles.isEmpty {
            sentences.append("Migrate the store: coral migrate \(file) --to \(target) --dry-run")
        } else {
            let options = obstacles.compactMap(Self.repair)
            if options.isEmpty {
                sentences.append(
                    "Let --write Frozen write the mapping model and decide on the values in it, or add a version between the two that "
                        + "can be inferred.")
            } else {
                sentences.append(
                    "Let --write Frozen write the mapping model, or let a repair decide: coral migrate \(file) --to \(target) --dry-run "
                        + options.joined(separator: " "))
            }
        }
    }

    /// The option of `coral migrate` that removes an obstacle.
    private static func repair(_ obstacle: InferredMapping.Obstacle) -> String? {
        guard let property = obstacle.property else { return nil }
        let subject = ShellWord.quoted("\(obstacle.entity).\(property)")
        if obstacle.reason.contains("required") { return "--fill \(subject)=VALUE" }
        if obstacle.reason.hasPrefix("Its type changes") { return "--convert \(subject)" }
        return nil
    }
}

/// The correspondence between the entities and properties of an older and a newer model.
///
/// Entities and properties are matched by their canonical name: the renaming identifier if there is one, else the
/// name. A renaming identifier on the newer side takes precedence over an equal name, and may also be the older name
/// itself. The rest is matched by equal names.
///
/// Source: "Lightweight Migration" in Apple's Core Data Model Versioning and Data Migration Programming Guide.
public struct ModelMatch: Sendable {
    /// An old and a new name; nil if there is none.
    public typealias Pair = (old: String?, new: String?)

    private let oldNames: [String: String]
    private let newNames: [String: String]
    /// The entities of both models, in the order of the new model, then the removed ones in the order of the old.
    public let entities: [Pair]

    /// Matches the entities of two models. Cost: a step for each entity.
    public init(from old: Model, to new: Model) {
        entities = Self.pairs(
            old.entities.map { ($0.name, $0.renamingIdentifier) }, new.entities.map { ($0.name, $0.renamingIdentifier) }
        )
        var oldNames: [String: String] = [:]
        var newNames: [String: String] = [:]
        for case (let before?, let after?) in entities {
            oldNames[after] = before
            newNames[before] = after
        }
        self.oldNames = oldNames
        self.newNames = newNames
    }

    /// The old name of an entity of the new model; nil if the entity is new.
    public func oldName(of entity: String) -> String? { oldNames[entity] }

    /// The new name of an entity of the old model; nil if the entity is removed.
    public func newName(of entity: String) -> String? { newNames[entity] }

    /// The properties of two lists.
    static func pairs(_ old: [any ModelProperty], _ new: [any ModelProperty]) -> [Pair] {
        pairs(old.map { ($0.name, $0.renamingIdentifier) }, new.map { ($0.name, $0.renamingIdentifier) })
    }

    /// A name and a renaming identifier.
    package typealias Part = (name: String, identifier: String?)

    /// Matches the parts of two lists.
    package static func pairs(_ old: [Part], _ new: [Part]) -> [Pair] {
        var matched: [String: String] = [:]
        var free = Dictionary(old.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let oldByCanonicalName = Dictionary(
            old.map { ($0.identifier ?? $0.name, $0.name) }, uniquingKeysWith: { first, _ in first })

        func match(_ part: Part, with name: String?) {
            guard matched[part.name] == nil, let name, free.removeValue(forKey: name) != nil else { return }
            matched[part.name] = name
        }
        for part in new {
            guard let identifier = part.identifier, identifier != part.name else { continue }
            match(part, with: oldByCanonicalName[identifier])
            match(part, with: identifier)
        }
        for part in new { match(part, with: oldByCanonicalName[part.identifier ?? part.name]) }
        for part in new { match(part, with: part.name) }
        return new.map { (matched[$0.name], $0.name) } + old.filter { free[$0.name] != nil }.map { ($0.name, nil) }
    }
}

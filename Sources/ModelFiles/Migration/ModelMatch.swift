/// The correspondence between the entities and properties of an older and a newer model.
///
/// Entities and properties are matched by their canonical name: the renaming identifier if there is one, else the
/// name. A renaming identifier on the newer side takes precedence over an equal name, and may also be the older name
/// itself. A part that states the same name and renaming identifier in both models stays the same, even if the identifier has become
/// the name of another part. The rest is matched by equal names. Parts of one kind are matched first: the renaming identifier of a former
/// attribute may be the name of a new, unrelated relationship. A part that has changed its kind is matched only by the names
/// that both sides state.
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
            old.entities.map { Part($0.name, identifier: $0.renamingIdentifier, kind: .entity) },
            new.entities.map { Part($0.name, identifier: $0.renamingIdentifier, kind: .entity) })
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

    /// Matches the properties of two lists.
    static func pairs(_ old: [any ModelProperty], _ new: [any ModelProperty]) -> [Pair] {
        pairs(old.map(Part.init), new.map(Part.init))
    }

    /// The kinds of named parts of a model.
    package enum Kind: Hashable, Sendable {
        case entity, attribute, relationship, fetchedProperty
    }

    /// A named part of a model, with its renaming identifier if it has one.
    package struct Part: Sendable {
        let name: String
        let identifier: String?
        let kind: Kind

        package init(_ name: String, identifier: String?, kind: Kind) {
            self.name = name
            self.identifier = identifier
            self.kind = kind
        }

        init(_ property: any ModelProperty) {
            let kind: Kind =
                switch property {
                case is ModelAttribute: .attribute
                case is ModelRelationship: .relationship
                default: .fetchedProperty
                }
            self.init(property.name, identifier: property.renamingIdentifier, kind: kind)
        }
    }

    private struct CanonicalName: Hashable {
        let name: String
        let kind: Kind
    }

    /// Matches the parts of two lists.
    package static func pairs(_ old: [Part], _ new: [Part]) -> [Pair] {
        var matched: [String: String] = [:]
        var free = Dictionary(old.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        // Parts that state an identifier come before one that has it as its name.
        let ranked = old.filter { $0.identifier != nil } + old.filter { $0.identifier == nil }
        let oldByCanonicalName = Dictionary(
            ranked.map { (CanonicalName(name: $0.identifier ?? $0.name, kind: $0.kind), $0.name) },
            uniquingKeysWith: { first, _ in first })

        func match(_ part: Part, with name: String?, keepsKind: Bool = true) {
            guard matched[part.name] == nil, let name, let former = free[name],
                former.kind == part.kind || !keepsKind
            else { return }
            free[name] = nil
            matched[part.name] = name
        }
        func match(_ part: Part, withCanonical name: String) {
            match(part, with: oldByCanonicalName[CanonicalName(name: name, kind: part.kind)])
        }
        for part in new {
            guard let identifier = part.identifier, free[part.name]?.identifier == identifier else { continue }
            match(part, with: part.name)
        }
        for part in new {
            guard let identifier = part.identifier, identifier != part.name else { continue }
            match(part, withCanonical: identifier)
            match(part, with: identifier)
        }
        for part in new { match(part, withCanonical: part.identifier ?? part.name) }
        for part in new { match(part, with: part.name) }
        for part in new { match(part, with: part.identifier ?? part.name, keepsKind: false) }
        for part in new { match(part, with: part.name, keepsKind: false) }
        return new.map { (matched[$0.name], $0.name) } + old.filter { free[$0.name] != nil }.map { ($0.name, nil) }
    }
}

import CoreData

/// The keys of the copying directives in the user info of attributes and relationships.
///
/// The default names and their meanings are those of MOCloner. `exclude`, with any value, omits a property; `rebuild`
/// is `uuid` or `now`; `followParent` names an attribute of an ancestor in the graph whose value is used, as `noteID`
/// or `Note.noteID`; `withoutParent` is `keep` or `blank` and determines the value if there is no such ancestor.
/// `coral.copy` sets the rule of a relationship to `embed`, `reference` or `omit`, and comes before `coral.shape`, which documents
/// have too.
public struct CopyDirectiveKeys: Sendable, Hashable {
    /// Omits an attribute or a relationship.
    public var exclude: String
    /// Creates an attribute's value: `uuid` or `now`.
    public var rebuild: String
    /// Uses the value of an ancestor's attribute.
    public var followParent: String
    /// The value of `followParent` if there is no such ancestor: `keep` or `blank`.
    public var withoutParent: String
    /// Sets the rule of a relationship.
    public var rule: String

    /// Keys; those not given are MOCloner's.
    public init(
        exclude: String = "exclude", rebuild: String = "rebuild", followParent: String = "followParent",
        withoutParent: String = "withoutParent", rule: String = "coral.copy"
    ) {
        self.exclude = exclude
        self.rebuild = rebuild
        self.followParent = followParent
        self.withoutParent = withoutParent
        self.rule = rule
    }
}

/// Reads the directives of a model's properties and rejects invalid ones.
struct CopyDirectives {
    let keys: CopyDirectiveKeys
    let model: NSManagedObjectModel

    // MARK: - Relationships

    /// The rule that the user info sets for the relationship in copies, if any: `coral.copy`, then `exclude`.
    func rule(for relationship: NSRelationshipDescription, at place: String) throws -> RelationshipRule? {
        if let word = text(keys.rule, of: relationship) {
            guard let rule = RelationshipRule(rawValue: word) else {
                throw wrong(keys.rule, word, at: place, known: RelationshipRule.allCases.map(\.rawValue))
            }
            return rule
        }
        return relationship.userInfo?[keys.exclude] == nil ? nil : .omit
    }

    // MARK: - Attributes

    /// The source of an attribute's value according to the user info; nil if the attribute is omitted.
    func source(of attribute: NSAttributeDescription, at place: String) throws -> AttributeCopy.Source? {
        let source = try rebuilt(attribute, at: place) ?? followed(attribute, at: place) ?? .original
        guard attribute.userInfo?[keys.exclude] != nil else { return source }
        guard canBeBlank(attribute) else {
            throw CopyError(
                .wrongDirective,
                "\(place) has the directive \(keys.exclude), but is required and has no default value.", at: place)
        }
        return nil
    }

    private func rebuilt(_ attribute: NSAttributeDescription, at place: String) throws -> AttributeCopy.Source? {
        guard let word = text(keys.rebuild, of: attribute) else { return nil }
        let (type, source): (NSAttributeType, AttributeCopy.Source)
        switch word {
        case "uuid": (type, source) = (.UUIDAttributeType, .newUUID)
        case "now": (type, source) = (.dateAttributeType, .now)
        default: throw wrong(keys.rebuild, word, at: place, known: ["uuid", "now"])
        }
        guard attribute.attributeType == type else {
            throw CopyError(
                .wrongDirective,
                "\(place) has the directive \(keys.rebuild) = \(word), but is not a \(word == "uuid" ? "UUID" : "date").",
                at: place)
        }
        return source
    }

    private func followed(_ attribute: NSAttributeDescription, at place: String) throws -> AttributeCopy.Source? {
        let without = try withoutParent(attribute, at: place)
        guard let path = text(keys.followParent, of: attribute) else {
            guard without == nil else {
                throw CopyError(
                    .wrongDirective, "\(place) has the directive \(keys.withoutParent), but not \(keys.followParent).",
                    at: place)
            }
            return nil
        }
        let parts = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let name = parts.last, parts.count <= 2, !parts.contains("") else {
            throw CopyError(
                .wrongDirective,
                "\(place) has the directive \(keys.followParent) = \(path), which is not an attribute.",
                at: place)
        }
        let parent = ParentValue(
            entity: parts.count == 2 ? parts[0] : nil, attribute: name, isBlankWithoutParent: without == .blank)
        try checkParents(parent, of: attribute, path, at: place)
        return .parent(parent)
    }

    /// Throws `CopyError` if the directive names an entity or an attribute that no ancestor can have.
    private func checkParents(
        _ parent: ParentValue, of attribute: NSAttributeDescription, _ path: String, at place: String
    ) throws {
        if let name = parent.entity, model.entitiesByName[name] == nil {
            throw CopyError(
                .wrongDirective,
                "\(place) has the directive \(keys.followParent) = \(path), but the model has no entity \"\(name)\"."
                    + NameSuggestion.advice(for: name, in: model.entitiesByName.keys),
                at: place)
        }
        let entities = model.entities.filter { entity in parent.entity.map { entity.name == $0 } ?? true }
        let candidates = entities.compactMap { $0.attributesByName[parent.attribute] }.filter { $0 !== attribute }
        guard !candidates.isEmpty else {
            let names = entities.flatMap(\.attributesByName.keys)
            throw CopyError(
                .wrongDirective,
                "\(place) has the directive \(keys.followParent) = \(path), which no entity has."
                    + NameSuggestion.advice(for: parent.attribute, in: names),
                at: place)
        }
        guard candidates.contains(where: { $0.attributeType == attribute.attributeType }) else {
            throw CopyError(
                .wrongDirective,
                "\(place) has the directive \(keys.followParent) = \(path), which has another type.", at: place)
        }
    }

    private enum WithoutParent: String, CaseIterable { case keep, blank }

    private func withoutParent(_ attribute: NSAttributeDescription, at place: String) throws -> WithoutParent? {
        guard let word = text(keys.withoutParent, of: attribute) else { return nil }
        guard let choice = WithoutParent(rawValue: word) else {
            throw wrong(keys.withoutParent, word, at: place, known: WithoutParent.allCases.map(\.rawValue))
        }
        if choice == .blank, !canBeBlank(attribute) {
            throw CopyError(
                .wrongDirective,
                "\(place) has the directive \(keys.withoutParent) = blank, but is required and has no default value.",
                at: place)
        }
        return choice
    }

    // MARK: - Words

    private func canBeBlank(_ attribute: NSAttributeDescription) -> Bool {
        attribute.isOptional || attribute.defaultValue != nil
    }

    private func text(_ key: String, of property: NSPropertyDescription) -> String? {
        property.userInfo?[key].map { $0 as? String ?? "\($0)" }
    }

    private func wrong(_ key: String, _ word: String, at place: String, known: [String]) -> CopyError {
        CopyError(
            .wrongDirective,
            "\(place) has the directive \(key) = \"\(word)\"; it must be \(known.joined(separator: " or ")).", at: place
        )
    }
}

import CoreData

/// The attribute whose texts name the objects of an entity: in tables, links, sequences and pages.
///
/// It is the one that the key `coral.label` in the user info of the entity or an ancestor names. Otherwise it is an attribute that
/// reads as a name or a text, and in which at least half of the first 100 objects differ: `title`, `name` or another of the usual
/// names; one that ends with such a word (`partnerName`); one that reads as a text (`text`, `messageBody`); or any that is not an
/// identifier. If there is none, it is a name that differs at all, or a place such as `url`, then one with a value, and at last an
/// identifier.
package enum LabelAttribute {
    /// The key in an entity's user info that names the attribute.
    package static let userInfoKey = "coral.label"
    /// The number of objects that decide.
    private static let sampleSize = 100

    /// The name of the attribute; nil if no attribute has text. Must be called on the queue of the context, which keeps the answer.
    ///
    /// Cost: at first, the texts of some objects are read. If they cannot be read, the names of the attributes decide.
    package static func name(of entity: NSEntityDescription, in context: NSManagedObjectContext) -> String? {
        if let stated = statedName(of: entity) { return stated }
        let names = names(of: entity)
        guard names.count > 1 else { return names.first ?? texts(of: entity).keys.min() }
        let key = "\(userInfoKey).\(entity.name ?? "")"
        if let known = context.userInfo[key] as? String { return known }
        let rows = (try? sample(of: entity, names, in: context)) ?? []
        let best = names.enumerated().min { left, right in
            (group(of: left.element, rows), left.offset) < (group(of: right.element, rows), right.offset)
        }
        context.userInfo[key] = best?.element
        return best?.element
    }

    /// The name of the attribute, where no objects can decide: the names of the attributes do. Nil if no attribute has text.
    package static func name(of entity: NSEntityDescription) -> String? {
        statedName(of: entity) ?? names(of: entity).first
    }

    /// The attributes with text that are stored, the one that reads best as a name first.
    private static func names(of entity: NSEntityDescription) -> [String] {
        texts(of: entity).filter { !$0.value.isTransient }.keys.sorted { (rank(of: $0), $0) < (rank(of: $1), $1) }
    }

    private static func texts(of entity: NSEntityDescription) -> [String: NSAttributeDescription] {
        entity.attributesByName.filter { $0.value.attributeType == .stringAttributeType }
    }

    /// The attributes of all entities in a context, by the names of the entities. Must be called on its queue.
    package static func names(in context: NSManagedObjectContext) -> [String: String] {
        (context.persistentStoreCoordinator?.managedObjectModel.entities ?? []).reduce(into: [:]) {
            $0[$1.name ?? ""] = name(of: $1, in: context)
        }
    }

    /// The attribute with text that the user info of an entity, or else of its nearest ancestor, names.
    private static func statedName(of entity: NSEntityDescription) -> String? {
        sequence(first: entity, next: \.superentity).lazy.compactMap { $0.userInfo?[userInfoKey] as? String }
            .first { entity.attributesByName[$0]?.attributeType == .stringAttributeType }
    }

    private static func sample(
        of entity: NSEntityDescription, _ names: [String], in context: NSManagedObjectContext
    ) throws -> [[String: Any]] {
        let request = NSFetchRequest<NSDictionary>(entityName: entity.name ?? "")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = names
        request.fetchLimit = sampleSize
        return try context.fetch(request).compactMap { $0 as? [String: Any] }
    }

    // MARK: - Values

    /// How well the values of an attribute name objects: the lowest number is best.
    private static func group(of name: String, _ rows: [[String: Any]]) -> Int {
        let values = rows.compactMap { $0[name] as? String }.filter { !$0.isEmpty }
        let count = Set(values).count
        let tellsApart = rows.count == 1 || count > 1 && count * 2 >= rows.count
        guard !values.isEmpty else { return 5 }
        if isIdentifier(name) { return 4 }
        if places.contains(lastWord(of: name)) { return tellsApart ? 2 : 4 }
        if classes.contains(lastWord(of: name)) { return 4 }
        if tellsApart { return 0 }
        return count > 1 && rank(of: name) <= preferred.count ? 1 : 3
    }

    // MARK: - Names

    /// How well the name of an attribute reads as that of a label: the lowest number is best.
    package static func rank(of attribute: String) -> Int {
        if let index = preferredIndex(of: attribute) { return index }
        let kinds: [Set<String>] = [["name", "title"], texts, identifiers.union(classes).union(places)]
        let word = lastWord(of: attribute)
        return preferred.count + [0: 0, 1: 1, 2: 3][kinds.firstIndex { $0.contains(word) } ?? -1, default: 2]
    }

    // Inferred names are in lower case.
    private static func preferredIndex(of attribute: String) -> Int? {
        preferred.firstIndex { $0.lowercased() == attribute.lowercased() }
    }

    /// The last word of a name in lower case: `jid` of `fromJID`, `name` of `partnerName`.
    private static func lastWord(of name: String) -> String {
        let letters = Array(name.unicodeScalars)
        var start = letters.count
        while start > 0, letters[start - 1].properties.isUppercase { start -= 1 }
        if start == letters.count {
            while start > 0, !letters[start - 1].properties.isUppercase, letters[start - 1] != "_" { start -= 1 }
            if start > 0, letters[start - 1].properties.isUppercase { start -= 1 }
        }
        var word = String.UnicodeScalarView()
        word.append(contentsOf: letters[start...])
        return String(word).lowercased()
    }

    /// Whether an attribute identifies objects for programs, by its name: `identifier`, `senderID`.
    package static func isIdentifier(_ attribute: String) -> Bool {
        preferredIndex(of: attribute) == nil && identifiers.contains(lastWord(of: attribute))
    }

    /// Attributes that usually name objects, the best first.
    private static let preferred = [
        "title", "name", "fullName", "displayName", "label", "firstName", "lastName", "subject", "caption", "headline",
        "filename", "fileName", "key", "code",
    ]

    /// Last words of the names of attributes with a text that people read.
    private static let texts: Set<String> = [
        "body", "comment", "content", "description", "message", "notes", "question", "summary", "text", "value",
    ]

    /// Last words of the names of attributes that only programs read.
    private static let identifiers: Set<String> = [
        "checksum", "guid", "hash", "id", "identifier", "jid", "key", "token", "uid", "uuid", "version",
    ]

    /// Last words of the names of attributes that classify objects.
    private static let classes: Set<String> = ["language", "locale", "state", "status", "type", "zone"]

    /// Last words of the names of attributes that say where something is.
    private static let places: Set<String> = ["path", "uri", "url"]
}

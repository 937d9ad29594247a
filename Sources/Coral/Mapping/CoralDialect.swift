import CoreData
import GraphDocuments

/// The directives of this library that describe the format of documents.
///
/// For attributes and relationships: `coral.key` (keys as paths, separated by commas, of which the first existing one
/// is read), `coral.transformer`, `coral.direction` (`both`, `read`, `write`, `none`). For attributes: `coral.dates`
/// (`iso8601`, `unix`, `unixMilliseconds`, `reference`, or formats separated by `|`), `coral.default`. For
/// relationships: `coral.referenceKey`, `coral.findBy` (the destination's attributes), `coral.keyed` (`yes`). For
/// entities: `coral.identity`, `coral.keys` (`same`, `snake_case`, `kebab-case`, `PascalCase`, `camelCase`),
/// `coral.documentKey`, `coral.optIn` (`yes`), `coral.transformer`, `coral.choice` (`type: round=Circle,
/// square=Square`), `coral.choiceTransformer`.
enum CoralDialect {
    static let entityWords = [
        "coral.identity", "coral.keys", "coral.documentKey", "coral.optIn", "coral.transformer", "coral.choice",
        "coral.choiceTransformer", "coral.newer", "coral.shape", "coral.copy",
    ]
    static let attributeWords = [
        "coral.key", "coral.transformer", "coral.direction", "coral.dates", "coral.default", "coral.shape",
    ]
    static let relationshipWords = [
        "coral.key", "coral.transformer", "coral.direction", "coral.referenceKey", "coral.findBy", "coral.keyed",
        "coral.import", "coral.shape", "coral.copy",
    ]

    static func read(_ model: NSManagedObjectModel) -> DialectReading {
        var reading = DialectReading()
        for entity in model.sortedEntities {
            let name = entity.name ?? ""
            reading.checkWords(of: entity.userInfo, known: entityWords, prefix: "coral.", name)
            if let mapping = mapping(of: entity, &reading) { reading.mapping[name] = mapping }
            for property in entity.ownProperties {
                let isAttribute = property is NSAttributeDescription
                reading.checkWords(
                    of: property.userInfo, known: isAttribute ? attributeWords : relationshipWords, prefix: "coral.",
                    name, property.name)
                if let mapping = self.mapping(of: property, name, &reading) {
                    reading.mapping[name][property.name] = mapping
                }
            }
        }
        return reading
    }

    private static func mapping(of entity: NSEntityDescription, _ reading: inout DialectReading) -> EntityMapping? {
        let name = entity.name ?? ""
        func text(_ key: String) -> String? { directive(key, in: entity.userInfo) }
        var mapping = EntityMapping()
        var isDeclared = false
        if let strategy = text("coral.keys") {
            isDeclared = true
            mapping.keys = KeyStrategy(named: strategy)
            if mapping.keys == nil {
                reading.note(
                    .wrongDirective,
                    "The directive coral.keys is \"\(strategy)\"; it must be one of \(KeyStrategy.names.joined(separator: ", ")).",
                    name)
            }
        }
        if let key = text("coral.documentKey") {
            isDeclared = true
            mapping.documentKey = key
        }
        if let flag = text("coral.optIn") {
            isDeclared = true
            mapping.isOptIn = boolean(flag, "coral.optIn", name, nil, &reading)
        }
        if let transformer = text("coral.transformer") {
            isDeclared = true
            mapping.transformer = .named(transformer)
        }
        if let transformer = text("coral.choiceTransformer") {
            isDeclared = true
            mapping.choice = .named(transformer)
        }
        if let choice = text("coral.choice") {
            isDeclared = true
            mapping.choice = self.choice(choice)
            if mapping.choice == nil {
                reading.note(
                    .wrongDirective,
                    "The directive coral.choice is \"\(choice)\"; it must have the form \"type: round=Circle, square=Square\".",
                    name)
            }
        }
        return isDeclared ? mapping : nil
    }

    private static func choice(_ text: String) -> EntityChoice? {
        let parts = text.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        guard parts.count == 2, !parts[0].isEmpty else { return nil }
        var names: [String: String] = [:]
        for pair in list(parts[1]) {
            let sides = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard sides.count == 2 else { return nil }
            names[sides[0]] = sides[1]
        }
        return .value(of: parts[0], names)
    }

    private static func mapping(
        of property: NSPropertyDescription, _ entity: String, _ reading: inout DialectReading
    ) -> PropertyMapping? {
        func text(_ key: String) -> String? { directive(key, in: property.userInfo) }
        var mapping = PropertyMapping()
        var isDeclared = false
        func declare(_ key: String, _ body: (String) -> Void) {
            guard let value = text(key) else { return }
            isDeclared = true
            body(value)
        }
        declare("coral.key") { mapping.keys = list($0) }
        declare("coral.transformer") { mapping.transformer = .named($0) }
        declare("coral.referenceKey") { mapping.referenceKeys = list($0) }
        declare("coral.findBy") { mapping.identity = list($0) }
        declare("coral.dates") { text in
            let forms = text.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            mapping.dates = MappedDates(forms.flatMap { MappedDates(named: $0).forms })
        }
        if let flag = text("coral.keyed") {
            isDeclared = true
            mapping.isKeyed = boolean(flag, "coral.keyed", entity, property.name, &reading)
        }
        if let word = text("coral.direction") {
            isDeclared = true
            if let direction = PropertyMapping.Direction(rawValue: word) {
                mapping.direction = direction
            } else {
                reading.note(
                    .wrongDirective,
                    "The directive coral.direction is \"\(word)\"; it must be both, read, write or none.",
                    entity, property.name)
            }
        }
        if let value = text("coral.default"), let attribute = property as? NSAttributeDescription {
            isDeclared = true
            let type = GraphValueType(attribute.attributeType)
            // An invalid default is reported by the mapping's own check.
            mapping.defaultValue = GraphValue(text: value, as: type) ?? .string(value)
        }
        return isDeclared ? mapping : nil
    }

    private static func boolean(
        _ text: String, _ key: String, _ entity: String, _ property: String?, _ reading: inout DialectReading
    ) -> Bool {
        switch text.lowercased() {
        case "yes", "true", "1": return true
        case "no", "false", "0": return false
        default:
            reading.note(
                .wrongDirective, "The directive \(key) is \"\(text)\"; it must be yes or no.", entity, property)
            return false
        }
    }

    private static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}

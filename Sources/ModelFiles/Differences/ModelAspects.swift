import Foundation
import KeyedArchives
import PredicateLanguage

/// The attributes of a part of a model as a list of named texts, for comparing and for displaying.
struct ModelAspects {
    private var aspects: [(name: String, text: String)] = []

    private mutating func add(_ name: String, _ text: String?) {
        if let text, !text.isEmpty { aspects.append((name, text)) }
    }

    private mutating func add(_ name: String, _ flag: Bool) { add(name, flag ? "yes" : nil) }

    /// The aspects that differ, with the old and the new text; the text of a missing aspect is empty.
    static func differences(_ old: ModelAspects, _ new: ModelAspects) -> [(name: String, old: String, new: String)] {
        let before = Dictionary(old.aspects.map { ($0.name, $0.text) }, uniquingKeysWith: { first, _ in first })
        let after = Dictionary(new.aspects.map { ($0.name, $0.text) }, uniquingKeysWith: { first, _ in first })
        var names: [String] = []
        for (name, _) in old.aspects + new.aspects where !names.contains(name) { names.append(name) }
        return names.compactMap { name in
            let (old, new) = (before[name] ?? "", after[name] ?? "")
            return old == new ? nil : (name, old, new)
        }
    }

    /// All aspects as one text: `type string, optional yes`.
    var summary: String {
        aspects.map { $0.text == "yes" ? $0.name : $0.name == "type" ? $0.text : "\($0.name) \($0.text)" }
            .joined(separator: ", ")
    }

    /// The name of a kind of property, for display.
    static func kind(of property: any ModelProperty) -> String {
        switch property {
        case is ModelAttribute: "attribute"
        case is ModelRelationship: "relationship"
        default: "fetched property"
        }
    }
}

extension ModelAspects {
    init(_ entity: ModelEntity) {
        add("abstract", entity.isAbstract)
        add("parent", entity.parentName)
        add("class", entity.className)
        add("renaming identifier", entity.renamingIdentifier.flatMap { $0 == entity.name ? nil : $0 })
        add("hash modifier", entity.versionHashModifier)
        let constraints = entity.uniquenessConstraints.map { $0.joined(separator: "+") }.sorted()
        add("uniqueness constraints", constraints.joined(separator: ", "))
        add("indexes", entity.fetchIndexes.map(Self.text).sorted().joined(separator: ", "))
        let compound = entity.compoundIndexes.map { $0.joined(separator: "+") }.sorted()
        add("compound indexes", compound.joined(separator: ", "))
        addUserInfo(entity.userInfo)
    }

    init(_ request: ModelFetchRequest) { add(request) }

    init(_ property: any ModelProperty) {
        switch property {
        case let attribute as ModelAttribute: add(attribute)
        case let relationship as ModelRelationship: add(relationship)
        case let fetched as ModelFetchedProperty:
            add(fetched.fetchRequest)
        default: break
        }
        add("optional", property.isOptional)
        add("transient", property.isTransient && !(property is ModelFetchedProperty))
        add("indexed", property.isIndexed)
        add("in Spotlight", property.isIndexedBySpotlight)
        add("renaming identifier", property.renamingIdentifier.flatMap { $0 == property.name ? nil : $0 })
        add("hash modifier", property.versionHashModifier)
        addUserInfo(property.userInfo)
    }

    private mutating func add(_ attribute: ModelAttribute) {
        add("type", "\(attribute.type)")
        add("default", attribute.defaultValue.map(Self.text))
        add("minimum", attribute.minimum.map(Self.text))
        add("maximum", attribute.maximum.map(Self.text))
        add("pattern", attribute.regularExpression)
        add(attribute.customValidations)
        add("transformer", attribute.valueTransformerName)
        add("value class", attribute.valueClassName)
        add("external storage", attribute.allowsExternalBinaryDataStorage)
        add("encrypted in CloudKit", attribute.allowsCloudEncryption)
        add("kept in history", attribute.preservesValueInHistoryOnDeletion)
        add("derived", attribute.derivation?.expression.predicateFormat)
        add("derived where", attribute.derivation?.filteringPredicate?.predicateFormat)
        add("in the external record", attribute.isStoredInExternalRecord)
        // No composite contains itself: readers check this.
        let elements = attribute.elements.map { "\($0.name): \(ModelAspects($0).summary)" }
        add("elements", elements.joined(separator: "; "))
    }

    private mutating func add(_ relationship: ModelRelationship) {
        add("destination", relationship.destinationName)
        add("inverse", relationship.inverseName)
        add("to many", relationship.isToMany)
        add("least count", relationship.minimumCount > 0 ? "\(relationship.minimumCount)" : nil)
        // 0 and negative numbers mean no limit, but their version hashes differ.
        let hasCount = relationship.maximumCount > 1 || relationship.maximumCount < 0
        add("greatest count", hasCount ? "\(relationship.maximumCount)" : nil)
        add("ordered", relationship.isOrdered)
        add("delete rule", "\(relationship.deleteRule)")
        add(relationship.customValidations)
    }

    private mutating func add(_ validations: [ModelValidation]) {
        let texts = validations.map { validation in
            switch validation.warning {
            case .code(let code): "\(validation.predicate.predicateFormat) (\(code))"
            case .text(let text): "\(validation.predicate.predicateFormat) (\(text))"
            }
        }
        add("validations", texts.sorted().joined(separator: "; "))
    }

    private mutating func add(_ request: ModelFetchRequest) {
        add("entity", request.entityName)
        add("predicate", request.predicate?.predicateFormat)
        let order = request.sortDescriptors.map { descriptor in
            descriptor.key + (descriptor.isAscending ? "" : " descending")
                + (descriptor.selectorName == "compare:" ? "" : " by \(descriptor.selectorName)")
        }
        add("sort descriptors", order.joined(separator: ", "))
        add("limit", request.fetchLimit == 0 ? nil : "\(request.fetchLimit)")
        add("offset", request.fetchOffset == 0 ? nil : "\(request.fetchOffset)")
        add("batch size", request.fetchBatchSize == 0 ? nil : "\(request.fetchBatchSize)")
        add("result", request.resultType == .managedObjects ? nil : "\(request.resultType)")
        add("without subentities", !request.includesSubentities)
        add("without values", !request.includesPropertyValues)
        add("without pending changes", !request.includesPendingChanges)
        add("without faults", !request.returnsObjectsAsFaults)
        add("distinct", request.returnsDistinctResults)
        add("prefetched", request.relationshipKeyPathsForPrefetching.joined(separator: ", "))
        add("fetched properties", request.propertiesToFetch.joined(separator: ", "))
        add("grouped by", request.propertiesToGroupBy.joined(separator: ", "))
        add("having", request.havingPredicate?.predicateFormat)
    }

    private mutating func addUserInfo(_ userInfo: [String: PropertyListValue]) {
        for (key, value) in userInfo.sorted(by: { $0.key < $1.key }) {
            add("user info \(key)", value.string ?? Self.text(value))
        }
    }

    /// A value of the user info, as in JSON. Recursive; readers of property lists limit the depth.
    private static func text(_ value: PropertyListValue) -> String {
        switch value {
        case .null: "null"
        case .boolean(let value): value ? "true" : "false"
        case .integer(let value): "\(value)"
        case .unsignedInteger(let value): "\(value)"
        case .real(let value): "\(value)"
        case .date(let value): value.formatted(.iso8601)
        case .data(let value): "\(value.count) bytes"
        case .string(let value): "\"\(value)\""
        case .uid(let value): "UID \(value)"
        case .array(let values): "[\(values.map(text).joined(separator: ", "))]"
        case .set(let values): "{\(values.map(text).sorted().joined(separator: ", "))}"
        case .dictionary(let members):
            "{\(zip(members.keys, members.values).map { "\($0): \(text($1))" }.sorted().joined(separator: ", "))}"
        }
    }

    private static func text(_ index: ModelFetchIndex) -> String {
        let elements = index.elements.map { element in
            switch element.target {
            case .property(let name): name + order(of: element)
            case .expression(let expression, let type, _): "\(expression.predicateFormat): \(type)\(order(of: element))"
            }
        }
        let condition = index.partialIndexPredicate.map { " where \($0.predicateFormat)" } ?? ""
        return "\(index.name) (\(elements.joined(separator: " ")))\(condition)"
    }

    private static func order(of element: ModelFetchIndexElement) -> String {
        (element.isAscending ? "" : " descending") + (element.collation == .rTree ? " as R-tree" : "")
    }

    private static func text(_ value: ModelValue) -> String {
        switch value {
        case .integer(let value): "\(value)"
        case .decimal(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): "\"\(value)\""
        case .boolean(let value): value ? "true" : "false"
        case .date(let value): "\(value.formatted(.iso8601)) (\(value.timeIntervalSinceReferenceDate))"
        case .data(let value): "\(value.count) bytes (\(SecureHash.sha256(value).prefix(4).base64EncodedString()))"
        case .uuid(let value): value.uuidString
        case .uri(let value): value
        case .archived: "an archive"
        }
    }
}

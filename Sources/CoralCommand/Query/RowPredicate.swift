import Coral

/// Whether a database evaluates a predicate on each row when it comes to it, in the order of the keys: comparisons of attributes of
/// the row itself with constants.
///
/// The first objects are then known before the others are read, and the next ones are found after the key of the last one. Other
/// predicates may be evaluated at once, and would be evaluated again for each batch.
struct RowPredicate {
    private let entity: NSEntityDescription
    /// Whether the database has functions for the operators of texts, and for texts that differ in case or diacritics.
    private let hasTextFunctions: Bool

    /// - Parameter context: Its store evaluates the predicates.
    init(of entity: NSEntityDescription, in context: NSManagedObjectContext) {
        self.entity = entity
        let stores = context.persistentStoreCoordinator?.persistentStores ?? []
        hasTextFunctions = stores.allSatisfy { $0.type == NSSQLiteStoreType }
    }

    /// Recursive; the parser of predicates limits the depth.
    func isEvaluatedByRow(_ predicate: NSPredicate) -> Bool {
        if let compound = predicate as? NSCompoundPredicate {
            return compound.subpredicates.allSatisfy { ($0 as? NSPredicate).map(isEvaluatedByRow) == true }
        }
        guard let comparison = predicate as? NSComparisonPredicate, comparison.comparisonPredicateModifier == .direct
        else { return false }
        let (left, right) = (comparison.leftExpression, comparison.rightExpression)
        let hasOptions = !comparison.options.isEmpty
        switch comparison.predicateOperatorType {
        case .equalTo, .notEqualTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
            guard let (type, constants) = operands(left, right) ?? operands(right, left) else { return false }
            return !hasOptions || areTexts(type, constants, comparison)
        case .in, .between:
            guard let (type, constants) = operands(left, right) else { return false }
            return !hasOptions || areTexts(type, constants, comparison)
        case .contains, .beginsWith, .endsWith, .like, .matches:
            guard let (type, constants) = operands(left, right) else { return false }
            return areTexts(type, constants, comparison)
        default: return false
        }
    }

    /// The type of an attribute, and the constants that it is compared with.
    private func operands(_ path: NSExpression, _ value: NSExpression) -> (NSAttributeType, [Any?])? {
        guard path.expressionType == .keyPath, let attribute = entity.attributesByName[path.keyPath],
            !attribute.isTransient, Self.types.contains(attribute.attributeType)
        else { return nil }
        switch value.expressionType {
        case .constantValue:
            if let list = value.constantValue as? [Any] { return (attribute.attributeType, list) }
            return (attribute.attributeType, [value.constantValue])
        case .aggregate:
            guard let elements = value.collection as? [NSExpression],
                elements.allSatisfy({ $0.expressionType == .constantValue })
            else { return nil }
            return (attribute.attributeType, elements.map(\.constantValue))
        default: return nil
        }
    }

    /// Whether a text is compared with texts in a way that the functions of the database know.
    private func areTexts(_ type: NSAttributeType, _ constants: [Any?], _ comparison: NSComparisonPredicate) -> Bool {
        hasTextFunctions && type == .stringAttributeType && constants.allSatisfy { $0 is String }
            && comparison.options.isSubset(of: [.caseInsensitive, .diacriticInsensitive])
    }

    private static let types: [NSAttributeType] = [
        .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
        .floatAttributeType, .booleanAttributeType, .dateAttributeType, .stringAttributeType,
    ]
}

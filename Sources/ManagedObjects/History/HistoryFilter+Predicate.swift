import Foundation

extension HistoryFilter {
    /// The conditions that a predicate implies and that a store can check. Only conditions that every match satisfies
    /// are used; the predicate itself is evaluated afterwards.
    ///
    /// - Parameter ofChanges: Whether the predicate applies to changes; otherwise it applies to transactions.
    init(implying predicate: NSPredicate?, ofChanges: Bool, coordinator: NSPersistentStoreCoordinator) {
        var pending = [predicate].compactMap { $0 }
        while let next = pending.popLast() {
            if let compound = next as? NSCompoundPredicate, compound.compoundPredicateType == .and {
                pending += compound.subpredicates.compactMap { $0 as? NSPredicate }
            } else if let comparison = next as? NSComparisonPredicate {
                narrow(by: comparison, ofChanges: ofChanges, coordinator)
            }
        }
    }

    private mutating func narrow(
        by comparison: NSComparisonPredicate, ofChanges: Bool, _ coordinator: NSPersistentStoreCoordinator
    ) {
        guard comparison.leftExpression.expressionType == .keyPath,
            comparison.rightExpression.expressionType == .constantValue,
            comparison.comparisonPredicateModifier == .direct, comparison.options.isEmpty
        else { return }
        let constant = comparison.rightExpression.constantValue
        let key = comparison.leftExpression.keyPath
        let values: [Any]
        switch comparison.predicateOperatorType {
        case .equalTo: values = [constant as Any? ?? NSNull()]
        case .in:
            switch constant {
            case let set as NSSet: values = set.allObjects
            case let array as [Any]: values = array
            default: return
            }
        case .notEqualTo:
            if key == (ofChanges ? "transaction.author" : "author"), let author = constant as? String {
                excludedAuthors.insert(author)
            }
            return
        default: return
        }
        guard ofChanges else {
            if key == "author" { narrow(\.authors, to: values, Self.author) }
            return
        }
        switch key {
        case "transaction.author":
            narrow(\.authors, to: values, Self.author)
        case "changeType":
            narrow(\.types, to: values) { ($0 as? NSNumber)?.intValue ?? ($0 as? Int) }
        case "changedEntity":
            narrow(\.entities, to: values) { value in
                (value as? NSEntityDescription)?.name.flatMap {
                    coordinator.managedObjectModel.entitiesByName[$0]?.index
                }
            }
        case "changedObjectID":
            narrow(\.objects, to: values) { value in
                let id = (value as? NSManagedObjectID) ?? (value as? NSManagedObject)?.objectID
                return id.flatMap {
                    $0.isTemporaryID ? nil : coordinator.key(forURIRepresentation: $0.uriRepresentation())
                }
            }
        default: return
        }
    }

    /// The author that a constant names: an inner nil for `NSNull`; nil if the constant is neither text nor `NSNull`.
    private static func author(_ value: Any) -> String?? {
        if value is NSNull { return .some(nil) }
        guard let text = value as? String else { return nil }
        return .some(text)
    }

    /// Intersects a condition with a set of values, unless one of the values cannot be converted.
    private mutating func narrow<Value: Hashable>(
        _ condition: WritableKeyPath<HistoryFilter, Set<Value>?>, to values: [Any], _ convert: (Any) -> Value?
    ) {
        var converted: Set<Value> = []
        for value in values {
            guard let value = convert(value) else { return }
            converted.insert(value)
        }
        self[keyPath: condition] = self[keyPath: condition].map { $0.intersection(converted) } ?? converted
    }
}

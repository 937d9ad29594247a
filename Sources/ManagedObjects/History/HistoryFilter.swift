import CoreDataErrors
import Foundation
import FoundationAdditions

/// The conditions by which a history is filtered; a store checks them before rows are read. An empty set matches
/// nothing, nil matches everything.
package struct HistoryFilter: Sendable {
    /// Authors; nil among them stands for transactions without an author.
    package var authors: Set<String?>?
    /// Authors whose transactions are excluded.
    package var excludedAuthors: Set<String> = []
    /// Indexes of entities in the model.
    package var entities: Set<Int>?
    /// Changed objects of this store.
    package var objects: Set<ObjectKey>?
    /// Types of changes, as stored.
    package var types: Set<Int>?

    var narrowsChanges: Bool { entities != nil || objects != nil || types != nil }
}

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

// MARK: - Tokens in predicates

extension NSPredicate {
    /// The predicate for the transactions or changes of one store: a comparison of a transaction's token with a token compares the
    /// numbers that both have in the store.
    ///
    /// - Throws: Code 134301 for a token that precedes the first transaction of the store, as Apple's framework does.
    func comparingTokens(ofStore identifier: String) throws -> NSPredicate {
        if let compound = self as? NSCompoundPredicate {
            let parts = try compound.subpredicates.map { part in
                try (part as? NSPredicate)?.comparingTokens(ofStore: identifier)
            }
            return NSCompoundPredicate(type: compound.compoundPredicateType, subpredicates: parts.compactMap(\.self))
        }
        guard let comparison = self as? NSComparisonPredicate, comparison.leftExpression.expressionType == .keyPath,
            comparison.leftExpression.keyPath.split(separator: ".").last == "token",
            comparison.rightExpression.expressionType == .constantValue,
            let token = comparison.rightExpression.constantValue as? NSPersistentHistoryToken
        else { return self }
        let number = token.number(ofStore: identifier)
        if number == 0 {
            throw CocoaError(
                CocoaError.Code(rawValue: NSPersistentHistoryTokenExpiredError),
                "The token precedes the first transaction of the store. Use it with fetchHistory(after:).")
        }
        return NSComparisonPredicate(
            leftExpression: comparison.leftExpression,
            rightExpression: NSExpression(forConstantValue: NSNumber(value: number ?? 0)),
            modifier: comparison.comparisonPredicateModifier, type: comparison.predicateOperatorType,
            options: comparison.options)
    }
}

import Coral
import CoreData

/// A merge policy that resolves conflicts of attributes by rules during a save, for contexts that do not merge before
/// they save.
///
///     context.mergePolicy = ValueMergePolicy(rules) { conflict in log(conflict) }
///
/// Attributes that were changed in both contexts to different values are resolved by the rules and reported, one call
/// for each. Everything else is resolved as with `mergeByPropertyObjectTrump`: property by property, this context's
/// changes are kept and those of the store are used otherwise. An error of a merging closure is the save's error;
/// nothing is saved then.
public final class ValueMergePolicy: NSMergePolicy, @unchecked Sendable {  // because it is immutable
    private let rules: ValueConflictRules
    private let report: @Sendable (ValueConflict) -> Void

    /// Creates a policy with rules.
    ///
    /// - Parameters:
    ///   - rules: How each attribute's conflicts are resolved.
    ///   - report: Called on the queue of the context that saves.
    public init(_ rules: ValueConflictRules, report: @escaping @Sendable (ValueConflict) -> Void = { _ in }) {
        self.rules = rules
        self.report = report
        super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    }

    public override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        // The conflicts are computed before the superclass makes the saved values the base of the object's changes.
        let conflicts = try list.flatMap(conflicts)
        try super.resolve(optimisticLockingConflicts: list)
        for conflict in conflicts {
            if !TransformableEquality.areSame(conflict.result, conflict.object.value(forKey: conflict.attribute)) {
                conflict.object.setValue(conflict.result, forKey: conflict.attribute)
            }
            report(conflict)
        }
    }

    private func conflicts(of conflict: NSMergeConflict) throws -> [ValueConflict] {
        let object = conflict.sourceObject
        // The row is deleted: there is no conflict of attributes.
        guard !object.isDeleted, let theirs = conflict.persistedSnapshot ?? conflict.cachedSnapshot else { return [] }
        let changed = object.changedValues()
        return try object.entity.attributesByName.sorted { $0.key < $1.key }.compactMap { name, attribute in
            guard let value = changed[name] else { return nil }
            let base = object.committedValues(forKeys: [name])[name].flatMap(Self.present)
            let (mine, saved) = (Self.present(value), Self.value(of: attribute, at: name, in: theirs))
            guard !TransformableEquality.areSame(saved, base), !TransformableEquality.areSame(saved, mine) else {
                return nil
            }
            let result = try rules.result(of: name, object.entity, base: base, mine: mine, theirs: saved)
            return ValueConflict(
                object: object, attribute: name, base: base, mine: mine, theirs: saved, result: result)
        }
    }

    /// An attribute's value in a snapshot. A composite is made of its elements, which a snapshot may contain by their paths
    /// instead; nil when all are nil, as in key-value coding.
    private static func value(
        of attribute: NSAttributeDescription, at path: String, in snapshot: [String: Any]
    ) -> Any? {
        if let value = snapshot[path] { return present(value) }
        var elements: [String: Any] = [:]
        for element in attribute.compositeElements {
            elements[element.name] = value(of: element, at: "\(path).\(element.name)", in: snapshot)
        }
        return elements.isEmpty ? nil : elements
    }

    private static func present(_ value: Any) -> Any? { value is NSNull ? nil : value }
}

import CoreData

/// A merge policy that settles attributes by rules when a context saves what somebody else has saved meanwhile: for those
/// who do not merge before they save.
///
///     context.mergePolicy = ValueMergePolicy(rules) { conflict in log(conflict) }
///
/// Attributes that were changed here and there to different values are settled by the rules and reported, one call for
/// each. Everything else is as with `mergeByPropertyObjectTrump`: property by property, what was changed here is kept and
/// what was changed there is taken. What a merging closure throws is the save's error; nothing is saved then.
public final class ValueMergePolicy: NSMergePolicy, @unchecked Sendable {  // because it is immutable
    private let rules: ValueConflictRules
    private let report: @Sendable (ValueConflict) -> Void

    /// A policy that settles values by rules.
    ///
    /// - Parameters:
    ///   - rules: How each attribute's conflicts are settled.
    ///   - report: Called on the queue of the context that saves.
    public init(_ rules: ValueConflictRules, report: @escaping @Sendable (ValueConflict) -> Void = { _ in }) {
        self.rules = rules
        self.report = report
        super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    }

    public override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        // Asked before the policy beneath makes what others have saved the base of the object's changes.
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
        // The row is gone: there is nothing to choose from.
        guard !object.isDeleted, let theirs = conflict.persistedSnapshot ?? conflict.cachedSnapshot else { return [] }
        let changed = object.changedValues()
        return try object.entity.attributesByName.keys.sorted().compactMap { name in
            guard let value = changed[name] else { return nil }
            let base = object.committedValues(forKeys: [name])[name].flatMap(Self.present)
            let (mine, saved) = (Self.present(value), theirs[name].flatMap(Self.present))
            guard !TransformableEquality.areSame(saved, base), !TransformableEquality.areSame(saved, mine) else {
                return nil
            }
            let result = try rules.result(of: name, object.entity, base: base, mine: mine, theirs: saved)
            return ValueConflict(
                object: object, attribute: name, base: base, mine: mine, theirs: saved, result: result)
        }
    }

    private static func present(_ value: Any) -> Any? { value is NSNull ? nil : value }
}

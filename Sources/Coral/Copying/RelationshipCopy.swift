import CoreData

/// The treatment of one relationship: which objects it causes to be copied, and whether copies are linked to objects
/// that are not copied. Objects and rows are copied by these rules.
struct RelationshipCopy {
    let relationship: NSRelationshipDescription
    /// The relationship of the copies.
    let target: NSRelationshipDescription
    /// The effective rule: `copy` instead of `link` for required to-one relationships whose link would be exclusive, or that
    /// belong to a subset, and for all exclusive links if `CopyRules.exclusiveLinks` is `copy`.
    let rule: CopyRule
    /// Determines the rule for each object, instead of `rule`.
    let choice: CopyRules.RuleClosure?
    /// Whether it is omitted for the requested objects.
    let isLeftOutAtRoots: Bool
    /// Why a copy is not linked to an object that is not copied; nil if it is. A link that would remove the object from
    /// the original is omitted, and one that would change the object is omitted if the rules leave others untouched.
    let omission: CopyOmission.Reason?

    init(
        _ relationship: NSRelationshipDescription, target: NSRelationshipDescription, rule: CopyRule,
        choice: CopyRules.RuleClosure?, rules: CopyRules
    ) {
        self.relationship = relationship
        self.target = target
        self.choice = choice
        isLeftOutAtRoots = rules.excludedRootNames.contains(relationship.name)
        let inverse = target.inverseRelationship
        let isExclusive = inverse.map { !$0.isToMany } ?? false
        let isRequired = !target.isOptional && !target.isToMany
        let isCopiedInstead =
            isRequired && (rules.isSubset || isExclusive) || isExclusive && rules.exclusiveLinks == .copy
        self.rule = rule == .link && isCopiedInstead ? .copy : rule
        omission = isExclusive ? .exclusive : inverse != nil && rules.leavesOthersUntouched ? .untouched : nil
    }

    var name: String { relationship.name }

    /// Whether a copy cannot be saved without such an object.
    var isMandatory: Bool { !target.isOptional && (!target.isToMany || target.minCount > 0) }
}

import PredicateLanguage

/// A string operator with its right side, for conditions on texts.
package struct TextTest {
    package enum Operation {
        case equal, beginsWith, endsWith, contains, like
    }

    package let operation: Operation
    /// The right side. A constant does not contain the differences that the options ignore. For ``Operation/like`` it
    /// is a pattern of SQL.
    package let part: SQLFragment
    /// Whether the right side is a constant, and not a value of the row.
    package let isConstant: Bool
    package let options: ComparisonOptions

    package init(operation: Operation, part: SQLFragment, isConstant: Bool, options: ComparisonOptions) {
        (self.operation, self.part) = (operation, part)
        (self.isConstant, self.options) = (isConstant, options)
    }
}

/// Conditions that enclose a predicate that the database does not evaluate.
package struct EnclosingConditions {
    /// Holds for every row for which the predicate is true; nil if no such condition is known.
    package var necessary: SQLFragment?
    /// The predicate is true for every row for which it holds; nil if no such condition is known.
    package var sufficient: SQLFragment?

    package init(necessary: SQLFragment? = nil, sufficient: SQLFragment? = nil) {
        (self.necessary, self.sufficient) = (necessary, sufficient)
    }

    package static let unknown = EnclosingConditions()

    /// The conditions of the negated predicate. A condition that is NULL does not hold.
    package var negated: EnclosingConditions {
        EnclosingConditions(
            necessary: sufficient.map { "(\($0)) IS NOT TRUE" }, sufficient: necessary.map { "(\($0)) IS NOT TRUE" })
    }

    /// The conditions of a conjunction. The necessary conditions of some of its parts suffice.
    package static func all(_ parts: [EnclosingConditions]) -> EnclosingConditions {
        EnclosingConditions(
            necessary: joined(parts.compactMap(\.necessary), " AND ", atLeast: 1),
            sufficient: joined(parts.compactMap(\.sufficient), " AND ", atLeast: parts.count))
    }

    /// The conditions of a disjunction. The sufficient conditions of some of its parts suffice.
    package static func any(_ parts: [EnclosingConditions]) -> EnclosingConditions {
        EnclosingConditions(
            necessary: joined(parts.compactMap(\.necessary), " OR ", atLeast: parts.count),
            sufficient: joined(parts.compactMap(\.sufficient), " OR ", atLeast: 1))
    }

    private static func joined(_ conditions: [SQLFragment], _ word: String, atLeast count: Int) -> SQLFragment? {
        conditions.isEmpty || conditions.count < count ? nil : "(\(conditions.joined(separator: word)))"
    }
}

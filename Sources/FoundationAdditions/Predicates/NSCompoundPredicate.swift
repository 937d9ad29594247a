import Foundation
import PredicateLanguage

/// Predicates joined by AND or OR, or one negated.
open class NSCompoundPredicate: NSPredicate {
    internal override init(stating node: PredicateNode) {
        super.init(stating: node)
    }

    /// Joins predicates. NOT takes the first one; passing none is a programmer error.
    public init(type: LogicalType, subpredicates: [NSPredicate]) {
        let parts = subpredicates.map(\.embeddedNode)
        switch type {
        case .and: super.init(stating: .and(parts))
        case .or: super.init(stating: .or(parts))
        case .not:
            guard let part = parts.first else { preconditionFailure("A NOT predicate needs a subpredicate.") }
            super.init(stating: .not(part))
        }
    }

    /// True when all predicates are true; true without predicates.
    public convenience init(andPredicateWithSubpredicates subpredicates: [NSPredicate]) {
        self.init(type: .and, subpredicates: subpredicates)
    }

    /// True when at least one predicate is true; false without predicates.
    public convenience init(orPredicateWithSubpredicates subpredicates: [NSPredicate]) {
        self.init(type: .or, subpredicates: subpredicates)
    }

    /// The negation of a predicate.
    public convenience init(notPredicateWithSubpredicate predicate: NSPredicate) {
        self.init(type: .not, subpredicates: [predicate])
    }

    /// Reads a compound predicate from an archive; nil if the archive contains none.
    public required init?(coder: NSCoder) {
        super.init(coder: coder)
        switch node {
        case .and, .or, .not: break
        case .constant, .comparison, .opaque: return nil
        }
    }

    /// How the predicates are joined.
    open var compoundPredicateType: LogicalType {
        switch node {
        case .or: .or
        case .not: .not
        default: .and
        }
    }

    /// The predicates that are joined.
    open var subpredicates: [Any] { parts.map(NSPredicate.predicate(stating:)) }

    private var parts: [PredicateNode] {
        switch node {
        case .and(let parts), .or(let parts): parts
        case .not(let part): [part]
        case .constant, .comparison, .opaque: []
        }
    }
}

extension NSCompoundPredicate {
    /// How predicates are joined.
    public enum LogicalType: UInt, Sendable {
        /// The negation of one predicate.
        case not = 0
        /// All of them.
        case and = 1
        /// At least one of them.
        case or = 2
    }
}

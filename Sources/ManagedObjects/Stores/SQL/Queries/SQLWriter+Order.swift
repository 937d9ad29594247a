import PredicateLanguage
import SQLStores

extension SQLWriter {
    /// The terms of ORDER BY for sort descriptors; nil is sorted first, as in memory.
    func order(_ descriptors: [NSSortDescriptor]) throws -> [SQLFragment] {
        try descriptors.map { descriptor in
            let key = descriptor.key ?? "self"
            let place = ExpressionNode.keyPath(key)
            guard !descriptor.comparesByClosure else { throw PredicateRefusal(.opaque, place) }
            let term = try value(place)
            var collation: String?
            switch term.kind {
            case .bytes, .entity, .entityName: throw PredicateRefusal(.mixedKinds, place)
            case .string:
                collation = descriptor.selector.flatMap { PredicateFunctions.collation(of: $0) }
            default: break
            }
            let written = dialect.orderTerm(term.sql, ascending: descriptor.ascending, collation: collation)
            guard let written else { throw PredicateRefusal(.function, place) }
            return written
        }
    }
}

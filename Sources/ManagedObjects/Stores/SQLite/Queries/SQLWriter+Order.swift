import PredicateLanguage

extension SQLWriter {
    /// The terms of ORDER BY for sort descriptors; nil is sorted first, as in memory.
    func order(_ descriptors: [NSSortDescriptor]) throws -> [SQLFragment] {
        try descriptors.map { descriptor in
            let key = descriptor.key ?? "self"
            let place = ExpressionNode.keyPath(key)
            guard !descriptor.comparesByClosure else { throw PredicateRefusal(.opaque, place) }
            var term = try value(place)
            switch term.kind {
            case .bytes, .entity, .entityName: throw PredicateRefusal(.mixedKinds, place)
            case .string:
                if let selector = descriptor.selector, let collation = PredicateFunctions.collation(of: selector) {
                    term.sql.text += " COLLATE \(collation)"
                }
            default: break
            }
            if !descriptor.ascending { term.sql.text += " DESC" }
            return term.sql
        }
    }
}

import Foundation
import ManagedObjects
import class FoundationAdditions.NSSortDescriptor
import PredicateLanguage
import SQLStatements

/// Translates predicates and expressions over one entity's rows to SQL.
///
/// A writer is used for one statement: it generates table aliases and collects the joins of key paths. For expressions
/// that it cannot translate it throws ``PredicateRefusal``.
final class SQLWriter {
    let schema: SQLSchema
    let dialect: any SQLDialect
    /// The number of the store; objects of other stores are never found in this one.
    let store: UInt16
    let aliases = SQLAliases()
    /// The row of `SELF`.
    let subject: SQLSource
    /// The rows of the variables of subqueries.
    var variables: [String: SQLSource] = [:]
    /// The expressions of computed columns, by name.
    var columns: [String: ExpressionNode] = [:]
    /// The predicate's constants, which ``ConstantExtraction`` has extracted.
    let constants: [PredicateValue]
    /// Whether other constants of the same kinds produce the same text.
    var isReusable = true
    /// Whether aggregate functions may use the rows of a group: in columns of dictionaries.
    var aggregatesRows = false
    /// Whether an aggregate function is used on the rows of a group.
    var hasAggregates = false
    /// Whether the statement reads all rows that fulfil its condition: it has no limit.
    var readsAll = false
    /// Whether the condition makes the database examine all rows of the entity.
    var examinesAll = false
    private var depth = 0

    /// - Parameter entity: The index of the entity.
    /// - Throws: `PredicateRefusal` if the store does not have the entity.
    init(
        _ entity: Int, schema: SQLSchema, dialect: any SQLDialect, store: UInt16, constants: [PredicateValue] = []
    ) throws {
        guard let table = schema.entity(at: entity) else {
            throw PredicateRefusal(.notStored, place: schema.model.entities[entity].name)
        }
        self.schema = schema
        self.dialect = dialect
        self.store = store
        self.constants = constants
        subject = SQLScope(table, schema: schema, aliases: aliases).base
    }

    /// The maximum depth of a tree. Deeper trees are refused, because SQLite limits the depth of expressions too.
    static let depthLimit = 200

    private func descend<T>(_ work: () throws -> T) throws -> T {
        guard depth < Self.depthLimit else { throw PredicateRefusal(.tooLarge, place: "a very deep expression") }
        depth += 1
        defer { depth -= 1 }
        return try work()
    }

    // MARK: - Predicates

    func condition(_ node: PredicateNode) throws -> SQLCondition {
        try descend {
            switch node {
            case .constant(let value): return value ? always : never
            case .comparison(let comparison): return try condition(comparison)
            case .and(let parts): return try joined(parts, by: Self.and, whenEmpty: always)
            case .or(let parts): return try joined(parts, by: " OR ", whenEmpty: never)
            case .not(let part): return try condition(part).negated
            case .opaque: throw PredicateRefusal(.opaque, node)
            }
        }
    }

    /// Conditions that always and never hold.
    var always: SQLCondition { SQLCondition("\(dialect.constant(true))") }
    var never: SQLCondition { SQLCondition("\(dialect.constant(false))") }

    private static let and = " AND "

    private func joined(_ parts: [PredicateNode], by word: String, whenEmpty: SQLCondition) throws -> SQLCondition {
        if parts.count == 1 { return try condition(parts[0]) }
        guard !parts.isEmpty else { return whenEmpty }
        var conditions = try parts.map { try condition($0) }
        // Bounds of several dimensions are combined into one search if all of them must hold.
        let holdTogether = word == Self.and
        if !holdTogether { conditions = conditions.map(\.indexed) }
        return SQLCondition(
            Self.joined(conditions.map(\.sql)[...], by: word), isNullable: conditions.contains { $0.isNullable },
            bounds: holdTogether ? conditions.flatMap(\.bounds) : [])
    }

    /// The maximum number of parts in one chain. SQLite parses a chain to a tree as deep as the chain is long, and
    /// limits the depth.
    private static let chainLimit = 100

    /// Parts in parentheses with an operator between them; a long chain is split into nested halves.
    private static func joined(_ parts: ArraySlice<SQLFragment>, by word: String) -> SQLFragment {
        guard parts.count > chainLimit else { return "(\(Array(parts).joined(separator: word)))" }
        let middle = parts.startIndex + parts.count / 2
        return "(\(joined(parts[..<middle], by: word))\(word)\(joined(parts[middle...], by: word)))"
    }

    // MARK: - Expressions

    /// An operand of a comparison.
    enum Operand {
        /// A constant, and its index among the predicate's constants if it has one.
        case constant(PredicateValue, Int?)
        case value(SQLValue)
        case members(SQLMembers)
        case list([Operand])
    }

    func operand(_ node: ExpressionNode) throws -> Operand {
        try descend {
            switch node {
            case .constant(let value): return .constant(PredicateValue(value.value), nil)
            case .variable(let name):
                if let position = ConstantExtraction.position(ofConstant: name) {
                    return .constant(constants[position], position)
                }
                if let column = columns[name] { return try operand(column) }
                guard let source = variables[name] else { throw PredicateRefusal(.variable, node) }
                return .value(key(of: source))
            case .evaluatedObject: return .value(key(of: subject))
            case .keyPath(let base, let keys): return try operand(keys, of: base, place: node)
            case .aggregate(let elements): return .list(try elements.map { try operand($0) })
            case .function(let name, let arguments): return try function(name, arguments, place: node)
            case .subquery(let collection, let variable, let predicate):
                return .members(try subquery(collection, variable: variable, predicate, place: node))
            case .conditional(let test, let then, let otherwise):
                return .value(try conditional(test, then, otherwise, place: node))
            case .element(let collection, .size): return .value(try count(of: collection, place: node))
            case .element, .call, .setOperation, .fetch, .anyKey: throw PredicateRefusal(.function, node)
            case .opaque: throw PredicateRefusal(.opaque, node)
            }
        }
    }

    /// An expression as one value.
    func value(_ node: ExpressionNode) throws -> SQLValue {
        try value(operand(node), place: node)
    }

    func value(_ operand: Operand, place: ExpressionNode) throws -> SQLValue {
        switch operand {
        case .value(let value): return value
        case .constant(let constant, let position):
            guard let kind = SQLKind(constant) else { throw PredicateRefusal(.mixedKinds, place) }
            return SQLValue(
                sql: "\(argument(constant, position, .plain))", kind: kind, isNullable: constant.isNull)
        case .members: throw PredicateRefusal(.toMany, place)
        case .list: throw PredicateRefusal(.mixedKinds, place)
        }
    }

    /// The parameter for a constant.
    func argument(_ constant: PredicateValue, _ position: Int?, _ conversion: SQLConversion) -> SQLArgument {
        if let position { return .constant(position, conversion) }
        isReusable = false
        return .fixed(conversion.value(of: constant) { $0.storedObject?.key.number })
    }

    private func conditional(
        _ test: PredicateNode, _ then: ExpressionNode, _ otherwise: ExpressionNode, place: ExpressionNode
    ) throws -> SQLValue {
        let test = try condition(test)
        let (then, otherwise) = (try value(then), try value(otherwise))
        guard then.kind == otherwise.kind else { throw PredicateRefusal(.mixedKinds, place) }
        return SQLValue(
            sql: "CASE WHEN \(test.sql) THEN \(then.sql) ELSE \(otherwise.sql) END", kind: then.kind,
            isNullable: then.isNullable || otherwise.isNullable)
    }

    // MARK: - Rows

    /// The primary key of a row as a value.
    func key(of source: SQLSource) -> SQLValue {
        SQLValue(
            sql: "\(source.alias).Z_PK", kind: .key(root: source.entity.entity.root),
            isNullable: source.alias != subject.alias,
            reference: SQLValue.Reference(entity: source.entity.entity.index, number: "\(source.alias).Z_ENT"))
    }
}

extension SQLKind {
    /// The kind of a constant; nil for nil and for a constant that is not a single value.
    init?(_ constant: PredicateValue) {
        switch constant {
        case .bool: self = .boolean
        case .integer: self = .integer
        case .double(let number):
            if number.isNaN { return nil }
            self = .real
        case .decimal: self = .decimal
        case .string: self = .string
        case .date: self = .date
        case .data: self = .data
        case .uuid: self = .uuid
        case .url: self = .url
        case .null, .collection, .object, .other: return nil
        }
    }
}

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
                collation = descriptor.selector.flatMap { PredicateFunctions.collationNames[$0.name] }
            default: break
            }
            let written = dialect.orderTerm(term.sql, ascending: descriptor.ascending, collation: collation)
            guard let written else { throw PredicateRefusal(.function, place) }
            return written
        }
    }
}

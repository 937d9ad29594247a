import Foundation
import ManagedObjects
import PredicateLanguage
import SQLStatements

// Functions whose result is the same in SQL and in memory. Integer arithmetic stays integer in both. Operations that
// are an error in memory (division by zero) or that SQLite truncates (the remainder of doubles) are refused.

extension SQLWriter {
    func function(_ name: String, _ arguments: [ExpressionNode], place: ExpressionNode) throws -> Operand {
        switch name {
        case "now" where arguments.isEmpty:
            return .value(SQLValue(sql: "\(SQLArgument.now)", kind: .date, isNullable: false))
        case "noindex:" where arguments.count == 1: return try operand(arguments[0])
        case "indexed:by:" where arguments.count == 2: return try indexed(arguments[0], by: arguments[1], place: place)
        case "sum:", "count:", "min:", "max:", "average:":
            guard arguments.count == 1 else { throw PredicateRefusal(.function, place) }
            return .value(try reduce(arguments[0], by: name, place: place))
        case "uppercase:": return .value(try text(.uppercase, arguments, kind: .string, place: place))
        case "lowercase:": return .value(try text(.lowercase, arguments, kind: .string, place: place))
        case "canonical:": return .value(try text(.canonical, arguments, kind: .string, place: place))
        case "length:": return .value(try text(.length, arguments, kind: .integer, place: place))
        case "castObject:toType:": return .value(try cast(arguments, place: place))
        case "abs:", "chs:", "onesComplement:": return .value(try number(name, arguments, place: place))
        default: return .value(try arithmetic(name, arguments, place: place))
        }
    }

    /// A value to be searched with an index. SQLite itself chooses indexes other than R-trees.
    private func indexed(
        _ argument: ExpressionNode, by index: ExpressionNode, place: ExpressionNode
    ) throws -> Operand {
        guard case .constant(.string(let name), _) = try operand(index) else {
            throw PredicateRefusal(.function, place)
        }
        isReusable = false
        guard case .value(var value) = try operand(argument) else { throw PredicateRefusal(.function, place) }
        if dialect.hasSpatialIndexes, let place = value.columnPlace, place.alias == subject.alias,
            let table = schema.spatialTable(of: name, in: subject.entity, column: place.column)
        {
            value.spatial = SpatialColumn(table: table, column: place.column, row: subject.alias)
        }
        return .value(value)
    }

    private func text(
        _ function: PredicateFunctions.Name, _ arguments: [ExpressionNode], kind: SQLKind, place: ExpressionNode
    ) throws -> SQLValue {
        guard arguments.count == 1 else { throw PredicateRefusal(.function, place) }
        let text = try value(arguments[0])
        guard text.kind == .string else { throw PredicateRefusal(.mixedKinds, place) }
        guard let name = dialect.name(of: function) else { throw PredicateRefusal(.function, place) }
        return SQLValue(sql: "\(name)(\(text.sql))", kind: kind, isNullable: text.isNullable)
    }

    /// Numbers and dates have the same representation in a store: seconds.
    private func cast(_ arguments: [ExpressionNode], place: ExpressionNode) throws -> SQLValue {
        guard arguments.count == 2, case .constant(.string(let type), _) = try operand(arguments[1]) else {
            throw PredicateRefusal(.function, place)
        }
        isReusable = false
        var value = try value(arguments[0])
        value.isColumn = false
        switch (value.kind, type) {
        case (.date, "NSDate"): break
        case (.date, "NSNumber"): value.kind = .real
        case (_, "NSNumber") where value.kind.isNumber: break
        case (_, "NSDate") where value.kind.isNumber: value.kind = .date
        case (.string, "NSString"): break
        default: throw PredicateRefusal(.function, place)
        }
        return value
    }

    private func number(_ name: String, _ arguments: [ExpressionNode], place: ExpressionNode) throws -> SQLValue {
        guard arguments.count == 1 else { throw PredicateRefusal(.function, place) }
        let number = try value(arguments[0])
        guard number.kind.isNumber, name != "onesComplement:" || number.kind.isWhole else {
            throw PredicateRefusal(.mixedKinds, place)
        }
        let sql: SQLFragment =
            switch name {
            case "abs:": "abs(\(number.sql))"
            case "chs:": "(-\(number.sql))"
            default: "(~\(number.sql))"
            }
        return SQLValue(sql: sql, kind: number.kind.ofSum, isNullable: number.isNullable)
    }

    private func arithmetic(_ name: String, _ arguments: [ExpressionNode], place: ExpressionNode) throws -> SQLValue {
        guard arguments.count == 2 else { throw PredicateRefusal(.function, place) }
        let (left, right) = (try value(arguments[0]), try value(arguments[1]))
        let isNullable = left.isNullable || right.isNullable
        func combined(_ symbol: String, _ kind: SQLKind) -> SQLValue {
            SQLValue(sql: "(\(left.sql) \(symbol) \(right.sql))", kind: kind, isNullable: isNullable)
        }
        if left.kind == .date || right.kind == .date {
            switch (name, left.kind, right.kind) {
            case ("from:subtract:", .date, .date): return combined("-", .real)
            case ("add:to:", .date, _) where right.kind.isNumber: return combined("+", .date)
            case ("add:to:", _, .date) where left.kind.isNumber: return combined("+", .date)
            case ("from:subtract:", .date, _) where right.kind.isNumber: return combined("-", .date)
            default: throw PredicateRefusal(.mixedKinds, place)
            }
        }
        guard left.kind.isNumber, right.kind.isNumber else { throw PredicateRefusal(.mixedKinds, place) }
        let areWhole = left.kind.isWhole && right.kind.isWhole
        let kind: SQLKind =
            areWhole ? .integer : left.kind == .decimal || right.kind == .decimal ? .decimal : .real
        switch name {
        case "add:to:": return combined("+", kind)
        case "from:subtract:": return combined("-", kind)
        case "multiply:by:": return combined("*", kind)
        case "divide:by:" where try isNotZero(arguments[1]):
            guard !areWhole else { return combined("/", kind) }
            // SQLite stores a whole decimal or date as an integer, and the quotient of two integers is an integer.
            let dividend: SQLFragment = "CAST(\(left.sql) AS DOUBLE PRECISION)"
            return SQLValue(sql: "(\(dividend) / \(right.sql))", kind: kind, isNullable: isNullable)
        case "modulus:by:" where try areWhole && isNotZero(arguments[1]): return combined("%", kind)
        case "bitwiseAnd:with:" where areWhole: return combined("&", kind)
        case "bitwiseOr:with:" where areWhole: return combined("|", kind)
        case "leftshift:by:" where areWhole && dialect.canShift: return combined("<<", kind)
        case "rightshift:by:" where areWhole && dialect.canShift: return combined(">>", kind)
        default: throw PredicateRefusal(.function, place)
        }
    }

    /// Whether an expression is a constant that is not zero.
    private func isNotZero(_ node: ExpressionNode) throws -> Bool {
        guard case .constant(let value, _) = try operand(node) else { return false }
        return switch value {
        case .integer(let number): number != 0
        case .double(let number): number != 0
        case .decimal(let number): !number.isZero
        default: false
        }
    }

    // MARK: - Aggregates

    /// An aggregate function: of the members of a relationship, or, in a query for dictionaries, of the rows of a
    /// group.
    private func reduce(_ argument: ExpressionNode, by name: String, place: ExpressionNode) throws -> SQLValue {
        switch try operand(argument) {
        case .members(let members):
            switch name {
            case "count:": return try reduce(members, by: "@count", keys: [], place: place)
            case "average:": return try reduce(members, by: "@avg", place: place)
            default: return try reduce(members, by: "@" + name.dropLast(), place: place)
            }
        case .value(let value):
            guard aggregatesRows else { throw PredicateRefusal(.function, place) }
            hasAggregates = true
            return try aggregate(value, by: name, place: place)
        case .constant, .list: throw PredicateRefusal(.function, place)
        }
    }

    /// The value of a key path that begins with an operator, such as `@sum.size`, over the rows of a group.
    func reduceRows(by operation: String, keys: [String], place: ExpressionNode) throws -> SQLValue {
        hasAggregates = true
        if operation == "@count", keys.isEmpty { return SQLValue(sql: "COUNT(*)", kind: .integer, isNullable: false) }
        guard !keys.isEmpty, case .value(let value) = try follow(keys, from: subject, place: place) else {
            throw PredicateRefusal(.function, place)
        }
        switch operation {
        case "@sum" where value.kind.isNumber:
            // As in memory, the sum of no values is zero.
            let sum = try aggregate(.sum, of: value, place: place)
            return SQLValue(sql: "COALESCE(\(sum), 0)", kind: value.kind.ofSum, isNullable: false)
        case "@avg": return try aggregate(value, by: "average:", place: place)
        case "@min", "@max": return try aggregate(value, by: operation.dropFirst() + ":", place: place)
        default: throw PredicateRefusal(.function, place)
        }
    }

    private func aggregate(_ value: SQLValue, by name: String, place: ExpressionNode) throws -> SQLValue {
        switch name {
        case "count:": return SQLValue(sql: "COUNT(\(value.sql))", kind: .integer, isNullable: false)
        case "sum:" where value.kind.isNumber:
            return SQLValue(sql: try aggregate(.sum, of: value, place: place), kind: value.kind.ofSum)
        case "average:" where value.kind.isNumber:
            return SQLValue(sql: try aggregate(.average, of: value, place: place), kind: .real)
        case "min:" where value.kind.isOrdered:
            return SQLValue(sql: try aggregate(.minimum, of: value, place: place), kind: value.kind)
        case "max:" where value.kind.isOrdered:
            return SQLValue(sql: try aggregate(.maximum, of: value, place: place), kind: value.kind)
        default: throw PredicateRefusal(.mixedKinds, place)
        }
    }

    /// An aggregate of values.
    ///
    /// - Throws: `PredicateRefusal` if the database does not have it.
    func aggregate(_ function: SQLAggregate, of value: SQLValue, place: ExpressionNode) throws -> SQLFragment {
        guard let sql = dialect.aggregate(function, of: value.sql, kind: value.kind) else {
            throw PredicateRefusal(.function, place)
        }
        return sql
    }
}

extension SQLKind {
    var isWhole: Bool { self == .integer || self == .boolean }
}

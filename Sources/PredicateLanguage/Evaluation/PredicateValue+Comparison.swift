import Foundation

// Numbers are compared by value across all of their kinds and without loss: an integer against a double exactly, a
// decimal against a double by the shortest decimal text of the double, so that the decimal 0.1 equals the literal 0.1.

extension PredicateValue: Hashable {
    public static func == (left: PredicateValue, right: PredicateValue) -> Bool {
        // The most frequent pairs first: a switch over both values copies them.
        if case .integer(let left) = left, case .integer(let right) = right { return left == right }
        if case .string(let left) = left, case .string(let right) = right { return left == right }
        if left.isNull || right.isNull { return left.isNull && right.isNull }
        return switch (left, right) {
        case (.date(let left), .date(let right)): left == right
        case (.data(let left), .data(let right)): left == right
        case (.uuid(let left), .uuid(let right)): left == right
        case (.url(let left), .url(let right)): left.absoluteURL == right.absoluteURL
        case (.collection(let left, let leftOrdered), .collection(let right, let rightOrdered)):
            if leftOrdered && rightOrdered {
                left == right
            } else {
                Set(left) == Set(right)
            }
        case (.object(let left), .object(let right)): areSame(left.predicateIdentity, right.predicateIdentity)
        case (.object(let left), .other(let right)): areSame(left.predicateIdentity, identity(of: right))
        case (.other(let left), .object(let right)): areSame(identity(of: left), right.predicateIdentity)
        case (.other(let left), .other(let right)): areSame(identity(of: left), identity(of: right))
        default: left.isNumber && right.isNumber && compareNumbers(left, right) == .same
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value ? 1.0 : 0.0)
        case .integer(let value): hasher.combine(Double(value))
        case .double(let value): hasher.combine(value)
        case .decimal(let value): hasher.combine(value.nearestDouble)
        case .string(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value)
        case .data(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .url(let value): hasher.combine(value.absoluteURL)
        // The elements are not hashed: whether their order matters depends on the other side.
        case .collection(let elements, _): hasher.combine(elements.isEmpty)
        case .object(let value): hasher.combine(value.predicateIdentity)
        case .other(let value): hasher.combine(PredicateValue.identity(of: value))
        }
    }

    private static func areSame(_ left: AnyHashable?, _ right: AnyHashable?) -> Bool {
        left != nil && left == right
    }

    private static func identity(of value: Any) -> AnyHashable? {
        if let hashable = value as? any Hashable { return AnyHashable(hashable) }
        return type(of: value) is AnyClass ? AnyHashable(ObjectIdentifier(value as AnyObject)) : nil
    }
}

/// The order of two values.
enum Order {
    case ascending, same, descending
    /// One of the values is not a number (NaN).
    case unordered

    init<Value: Comparable>(_ left: Value, _ right: Value) {
        self = left < right ? .ascending : left == right ? .same : left > right ? .descending : .unordered
    }

    /// The order of two texts: that of their bytes in UTF-8, as databases compare them. `<` treats canonically equivalent texts as
    /// equal.
    init(ofBytes left: String, _ right: String) {
        let difference = left.utf8.withContiguousStorageIfAvailable { left in
            right.utf8.withContiguousStorageIfAvailable { Self.difference(left, $0) }
        }
        if let difference = difference ?? nil {
            self.init(difference, 0)
        } else if left.utf8.elementsEqual(right.utf8) {
            self = .same
        } else {
            self = left.utf8.lexicographicallyPrecedes(right.utf8) ? .ascending : .descending
        }
    }

    private static func difference(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int {
        if let one = left.baseAddress, let other = right.baseAddress {
            let difference = memcmp(one, other, min(left.count, right.count))
            if difference != 0 { return Int(difference) }
        }
        return left.count - right.count
    }

    var reversed: Order {
        switch self {
        case .ascending: .descending
        case .descending: .ascending
        case .same, .unordered: self
        }
    }
}

extension PredicateValue {
    /// The order of two values of one kind, or of two numbers; nil when the kinds cannot be ordered.
    static func order(_ left: PredicateValue, _ right: PredicateValue) -> Order? {
        // As in ``==(_:_:)``.
        if case .integer(let left) = left, case .integer(let right) = right { return Order(left, right) }
        if case .string(let left) = left, case .string(let right) = right { return Order(ofBytes: left, right) }
        if case .date(let left) = left, case .date(let right) = right { return Order(left, right) }
        return switch (left, right) {
        case (.uuid(let left), .uuid(let right)): Order(left.uuidString, right.uuidString)
        case (.url(let left), .url(let right)): Order(ofBytes: left.absoluteString, right.absoluteString)
        case (.data(let left), .data(let right)):
            left == right ? .same : left.lexicographicallyPrecedes(right) ? .ascending : .descending
        case (.object, _), (.other, _): rank(left).flatMap { left in rank(right).map { Order(left, $0) } }
        default: left.isNumber && right.isNumber ? compareNumbers(left, right) : nil
        }
    }

    private static func rank(_ value: PredicateValue) -> Int64? {
        switch value {
        case .object(let subject): (subject as? any PredicateRanked)?.predicateRank
        case .other(let value): (value as? any PredicateRanked)?.predicateRank
        default: nil
        }
    }

    /// The order of two numbers; unordered for any other values.
    static func compareNumbers(_ left: PredicateValue, _ right: PredicateValue) -> Order {
        switch (left, right) {
        case (.bool(let value), _): compareNumbers(.integer(value ? 1 : 0), right)
        case (_, .bool(let value)): compareNumbers(left, .integer(value ? 1 : 0))
        case (.integer(let left), .integer(let right)): Order(left, right)
        case (.double(let left), .double(let right)): Order(left, right)
        case (.decimal(let left), .decimal(let right)): compare(left, right)
        case (.integer(let left), .double(let right)): compare(left, right)
        case (.double(let left), .integer(let right)): compare(right, left).reversed
        case (.integer(let left), .decimal(let right)): compare(Decimal(left), right)
        case (.decimal(let left), .integer(let right)): compare(left, Decimal(right))
        case (.double(let left), .decimal(let right)): compare(right, left).reversed
        case (.decimal(let left), .double(let right)): compare(left, right)
        default: .unordered
        }
    }

    private static func compare(_ left: Int64, _ right: Double) -> Order {
        if right.isNaN { return .unordered }
        if right >= 0x1p63 { return .ascending }
        if right < -0x1p63 { return .descending }
        let whole = right.rounded(.down)
        let order = Order(left, Int64(whole))
        return order == .same && right > whole ? .ascending : order
    }

    private static func compare(_ left: Decimal, _ right: Decimal) -> Order {
        left.isNaN || right.isNaN ? .unordered : Order(left, right)
    }

    private static func compare(_ left: Decimal, _ right: Double) -> Order {
        if left.isNaN || right.isNaN { return .unordered }
        // Doubles outside the range of decimals (infinite, too large or too small) are compared as doubles.
        if right.magnitude >= 1e100 || right.magnitude < 1e-100 { return Order(left.nearestDouble, right) }
        return Decimal(string: "\(right)").map { compare(left, $0) } ?? .unordered
    }
}

/// A value as databases tell it from others of its column: a text by its bytes.
package struct StoredValue: Hashable {
    private let value: PredicateValue

    package init(_ value: Any?) { self.value = PredicateValue(value) }

    package static func == (left: StoredValue, right: StoredValue) -> Bool {
        guard case .string(let one) = left.value, case .string(let other) = right.value else {
            return left.value == right.value
        }
        return one.utf8.elementsEqual(other.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        guard case .string(var text) = value else { return hasher.combine(value) }
        // Of a `Data` only the first bytes would be hashed.
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

import Foundation
import PredicateLanguage

/// One sort criterion: a key, a direction, and a comparison.
///
/// Foundation's class is the superclass, so that Foundation's methods accept a descriptor of this class.
open class NSSortDescriptor: Foundation.NSSortDescriptor, NSSecureCoding {
    /// The key path whose values are compared; nil compares the objects themselves.
    open private(set) var key: String?

    /// The name of the comparison, or nil for a closure. The default is `compare:`; `caseInsensitiveCompare:`,
    /// `localizedCompare:`, `localizedCaseInsensitiveCompare:` and `localizedStandardCompare:` compare strings.
    open private(set) var selector: Selector?

    /// The closure that compares, if any.
    private let closure: Comparator?
    /// The steps of the key; none for the object itself.
    private let keys: [String]

    /// Creates a criterion that compares values by their type: numbers, strings, dates, …; nil comes first.
    public convenience init(key: String?, ascending: Bool) {
        self.init(key: key, ascending: ascending, selector: "compare:")
    }

    /// Creates a criterion with a named comparison; nil means `compare:`.
    public init(key: String?, ascending: Bool, selector: Selector?) {
        let selector = selector ?? "compare:"
        self.key = key
        keys = Self.keys(of: key)
        self.selector = selector
        closure = nil
        super.init(
            keyPath: \NSObject.self, ascending: ascending,
            comparator: { SortComparison.compare(PredicateValue($0), PredicateValue($1), by: selector.name) })
    }

    /// Creates a criterion with a closure. It cannot be translated to SQL.
    public init(key: String?, ascending: Bool, comparator cmptr: @escaping Comparator) {
        self.key = key
        keys = Self.keys(of: key)
        closure = cmptr
        super.init(keyPath: \NSObject.self, ascending: ascending, comparator: cmptr)
    }

    /// Creates a criterion for a Swift key path, by its name in ``KeyPathRegistry``. A key path without a name is a
    /// programmer error.
    public override convenience init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
        self.init(key: KeyPathRegistry.requiredName(of: keyPath), ascending: ascending)
    }

    /// Creates a criterion for a Swift key path, with a closure. It cannot be translated to SQL.
    public override convenience init<Root, Value>(
        keyPath: KeyPath<Root, Value>, ascending: Bool, comparator cmptr: @escaping Comparator
    ) {
        self.init(key: KeyPathRegistry.requiredName(of: keyPath), ascending: ascending, comparator: cmptr)
    }

    /// Creates a criterion from one of Swift, by the name of its key path in ``KeyPathRegistry``. A key path without a name is a
    /// programmer error. A criterion without a key path compares the objects themselves, and cannot be translated to SQL.
    public convenience init<Compared: NSObject>(_ sortDescriptor: SortDescriptor<Compared>) {
        guard let keyPath = sortDescriptor.keyPath else {
            self.init(key: nil, ascending: true) { first, second in
                guard let first = first as? Compared, let second = second as? Compared else { return .orderedSame }
                return sortDescriptor.compare(first, second)
            }
            return
        }
        self.init(key: KeyPathRegistry.requiredName(of: keyPath), ascending: sortDescriptor.order == .forward)
    }

    /// The order of two objects. A key that cannot be read is a programmer error, where Foundation raises an exception.
    open override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        do {
            return try comparison(of: object1, object2)
        } catch {
            preconditionFailure("Objects cannot be sorted by “\(key ?? "self")”: \(error)")
        }
    }

    /// The order of two objects.
    ///
    /// - Throws: An error if their values cannot be read.
    package final func comparison(of one: Any, _ two: Any) throws -> ComparisonResult {
        if closure != nil { return comparison(ofValues: try original(one) ?? NSNull(), try original(two) ?? NSNull()) }
        func value(_ object: Any) throws -> PredicateValue {
            try KeyReading.value(of: PredicateValue(object), at: keys[...])
        }
        return directed(SortComparison.compare(try value(one), try value(two), by: selector?.name ?? "compare:"))
    }

    /// The order of two objects that have certain values.
    package final func comparison(ofValues one: Any, _ two: Any) -> ComparisonResult {
        let name = selector?.name ?? "compare:"
        return directed(
            closure?(one, two) ?? SortComparison.compare(PredicateValue(one), PredicateValue(two), by: name))
    }

    private func directed(_ result: ComparisonResult) -> ComparisonResult {
        ascending ? result : ComparisonResult(rawValue: -result.rawValue) ?? result
    }

    /// The value of an object as its class returns it, for a closure.
    private func original(_ object: Any) throws -> Any? {
        var value: Any? = object
        for (index, key) in keys.enumerated() where key != "self" && key != "SELF" {
            guard !key.hasPrefix("@"), let subject = value as? any PredicateSubject else {
                return NSExpression.number(try KeyReading.value(of: PredicateValue(value), at: keys[index...]).value)
            }
            value = try subject.predicateValue(forKey: key)
        }
        return value
    }

    private static func keys(of key: String?) -> [String] {
        key == "self" || key == "SELF" ? [] : key?.split(separator: ".").map(String.init) ?? []
    }

    /// The same criterion in the other direction.
    open override var reversedSortDescriptor: Any {
        if let closure { return NSSortDescriptor(key: key, ascending: !ascending, comparator: closure) }
        return NSSortDescriptor(key: key, ascending: !ascending, selector: selector)
    }

    /// Does nothing: the evaluation of decoded descriptors is always allowed.
    open func allowEvaluation() {}

    /// Whether a closure compares, which no store can evaluate.
    package final var comparesByClosure: Bool { closure != nil }

    /// Returns itself: a descriptor is immutable.
    open override func copy(with zone: NSZone? = nil) -> Any { self }

    open override func copy() -> Any { self }

    /// Two descriptors are equal when key, direction and comparison are equal. One with a closure equals itself only.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSSortDescriptor else { return false }
        if self === other { return true }
        return closure == nil && other.closure == nil && key == other.key && ascending == other.ascending
            && selector == other.selector
    }

    open override var hash: Int { (key ?? "").hashValue }

    open override var description: String {
        "(\(key ?? "self"), \(ascending ? "ascending" : "descending"), \(selector?.name ?? "block"))"
    }

    // MARK: - Coding

    public static var supportsSecureCoding: Bool { true }

    /// Reads a descriptor written by ``encode(with:)``.
    public required convenience init?(coder: NSCoder) {
        let key = coder.decodeObject(of: NSString.self, forKey: "NSKey")
        let selector = coder.decodeObject(of: NSString.self, forKey: "NSSelector")
        self.init(
            key: key.map { String(describing: $0) }, ascending: coder.decodeBool(forKey: "NSAscending"),
            selector: selector.map { Selector(String(describing: $0)) })
    }

    /// Encodes key, direction and comparison. Fails for a descriptor with a closure.
    open func encode(with coder: NSCoder) {
        guard let selector else {
            coder.failWithError(PredicateCoding.unarchivable("A sort descriptor with a closure"))
            return
        }
        coder.encode(key.map { NSString(string: $0) }, forKey: "NSKey")
        coder.encode(ascending, forKey: "NSAscending")
        coder.encode(NSString(string: selector.name), forKey: "NSSelector")
    }
}

/// The name of a method. Swift has no `Selector` here; this type represents a name where Core Data takes a selector,
/// such as the comparison of a sort descriptor: `"localizedStandardCompare:"`.
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name, colons included.
    public let name: String

    /// Creates the selector of a name.
    public init(_ name: String) { self.name = name }

    public init(stringLiteral name: String) { self.name = name }

    public var description: String { name }
}

/// The selector of a name.
public func NSSelectorFromString(_ name: String) -> Selector { Selector(name) }

/// The name of a selector.
public func NSStringFromSelector(_ selector: Selector) -> String { selector.name }

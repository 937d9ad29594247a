import Foundation

/// Equality of two values of an attribute, as they are stored: canonically equivalent texts differ, as well as -0.0 and 0.0.
package enum TransformableEquality {
    package static func areSame(_ left: Any?, _ right: Any?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return isEqual(left, right) && isExact(left, right, level: 0)
    }

    private static func isEqual(_ left: Any, _ right: Any) -> Bool {
        switch (left, right) {
        case (let left as NSObject, let right as NSObject): left.isEqual(right)
        case (let left as AnyHashable, let right as AnyHashable): left == right
        case (let left as any Equatable, _): isEqual(left, right)
        default: (left as AnyObject) === (right as AnyObject)
        }
    }

    private static func isEqual<Value: Equatable>(_ left: Value, _ right: Any) -> Bool {
        (right as? Value).map { $0 == left } ?? false
    }

    /// Whether the texts and numbers in two equal values are the same. Elements of sets and keys of dictionaries are compared
    /// with those that they equal. Of other objects their own equality decides.
    private static func isExact(_ left: Any, _ right: Any, level: Int) -> Bool {
        guard level < 64 else { return false }
        func areExact(_ pairs: some Sequence<(Any, Any)>) -> Bool {
            pairs.allSatisfy { isExact($0, $1, level: level + 1) }
        }
        switch (left, right) {
        case (is Data, is Data): return true
        case (let left as String, let right as String): return left.utf8.elementsEqual(right.utf8)
        case (let left as Double, let right as Double): return left.bitPattern == right.bitPattern
        case (let left as Float, let right as Float): return left.bitPattern == right.bitPattern
        case (let left as [Any], let right as [Any]): return areExact(zip(left, right).lazy.map { ($0, $1) })
        case (let left as Set<AnyHashable>, let right as Set<AnyHashable>):
            return left.allSatisfy { element in
                right.firstIndex(of: element).map { areExact([(element, right[$0])]) } ?? false
            }
        case (let left as [AnyHashable: Any], let right as [AnyHashable: Any]):
            return left.allSatisfy { key, value in
                right.index(forKey: key).map { areExact([(key, right[$0].key), (value, right[$0].value)]) } ?? false
            }
        default: break
        }
        if type(of: left) is AnyClass { return true }
        let (mine, theirs) = (Mirror(reflecting: left).children, Mirror(reflecting: right).children)
        return mine.count == theirs.count && areExact(zip(mine, theirs).lazy.map { ($0.value, $1.value) })
    }
}

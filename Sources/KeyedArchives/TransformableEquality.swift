import Foundation

/// Equality of two values of an attribute, as they are stored: canonically equivalent texts differ, as well as -0.0 and 0.0.
///
/// Cost: that of `==`, and for equal values one step for each part that is not a plain array of numbers, bytes or texts.
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
    /// with those that they equal. Of other objects, and of what nests very deeply, their own equality decides.
    private static func isExact(_ left: Any, _ right: Any, level: Int) -> Bool {
        let type = type(of: left)
        if level >= 64 || exactTypes.contains(ObjectIdentifier(type)) { return true }
        if let isExact = isExact(left, right, of: type) { return isExact }
        func areExact(_ pairs: some Sequence<(Any, Any)>) -> Bool {
            pairs.allSatisfy { isExact($0, $1, level: level + 1) }
        }
        switch (left, right) {
        case (let left as String, let right as String): return left.utf8.elementsEqual(right.utf8)
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
        if type is AnyClass { return true }
        let (mine, theirs) = (Mirror(reflecting: left).children, Mirror(reflecting: right).children)
        return mine.count == theirs.count && areExact(zip(mine, theirs).lazy.map { ($0.value, $1.value) })
    }

    /// The types whose equal values have the same bytes. Casts and mirrors of many numbers would cost a thousand times their comparison.
    private static let exactTypes = Set(
        ([
            Bool.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self, UInt16.self,
            UInt32.self, UInt64.self, UUID.self, Data.self, [Bool].self, [Int].self, [Int8].self, [Int16].self,
            [Int32].self, [Int64].self, [UInt].self, [UInt8].self, [UInt16].self, [UInt32].self, [UInt64].self,
            [UUID].self,
        ] as [Any.Type]).map(ObjectIdentifier.init))

    /// Whether two equal values of a frequent type are the same; nil for other types.
    private static func isExact(_ left: Any, _ right: Any, of type: Any.Type) -> Bool? {
        if type is AnyClass {
            if (left as AnyObject) === (right as AnyObject) { return true }
            guard let left = left as? NSNumber, let right = right as? NSNumber else { return nil }
            return left.doubleValue.bitPattern == right.doubleValue.bitPattern
        }
        if type == Double.self, let left = left as? Double, let right = right as? Double {
            return left.bitPattern == right.bitPattern
        }
        if type == Float.self, let left = left as? Float, let right = right as? Float {
            return left.bitPattern == right.bitPattern
        }
        if type == [Double].self, let left = left as? [Double], let right = right as? [Double] {
            return left.elementsEqual(right) { $0.bitPattern == $1.bitPattern }
        }
        if type == [Float].self, let left = left as? [Float], let right = right as? [Float] {
            return left.elementsEqual(right) { $0.bitPattern == $1.bitPattern }
        }
        if type == [String].self, let left = left as? [String], let right = right as? [String] {
            return left.elementsEqual(right) { $0.utf8.elementsEqual($1.utf8) }
        }
        return nil
    }
}

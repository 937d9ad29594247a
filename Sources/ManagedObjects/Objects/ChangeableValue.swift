import Foundation

/// Distinguishes values that can be changed in place from immutable ones.
enum ChangeableValue {
    /// Whether a value can be changed in place: whether it is, or contains, an object of a class that is not known to
    /// be immutable. Cost: a step for each member of a collection of unknown type, up to a limit, beyond which the
    /// answer is yes.
    static func isChangeable(_ value: Any) -> Bool {
        var budget = 512
        var pending: [Any] = [value]
        while let next = pending.popLast() {
            budget -= 1
            if budget < 0 { return true }
            if next is any ValueSemantic, !(type(of: next) is AnyClass) { continue }
            if type(of: next) is AnyClass {
                guard let members = members(ofImmutable: next as AnyObject) else { return true }
                if members.count > budget { return true }
                pending += members
            } else {
                let children = Mirror(reflecting: next).children
                if children.count > budget { return true }
                pending += children.map(\.value)
            }
        }
        return false
    }

    private static let immutableClasses: Set<ObjectIdentifier> = {
        let classes: [AnyClass] = [
            NSString.self, NSNumber.self, NSDecimalNumber.self, NSDate.self, NSData.self, NSURL.self, NSUUID.self,
            NSNull.self, UndecodableValue.self,
        ]
        return Set(classes.map { ObjectIdentifier($0) })
    }()

    /// The members of an immutable object; nil for a mutable one.
    private static func members(ofImmutable object: AnyObject) -> [Any]? {
        let kind: AnyClass = type(of: object)
        if immutableClasses.contains(ObjectIdentifier(kind)) { return [] }
        switch object {
        case let array as NSArray where kind == NSArray.self: return array.map { $0 }
        case let set as NSSet where kind == NSSet.self: return set.allObjects
        case let set as NSOrderedSet where kind == NSOrderedSet.self: return set.array
        case let dictionary as NSDictionary where kind == NSDictionary.self:
            return dictionary.allKeys + dictionary.allValues
        default: return nil
        }
    }
}

/// Types whose values contain no mutable object.
private protocol ValueSemantic {}

extension String: ValueSemantic {}
extension Bool: ValueSemantic {}
extension Int: ValueSemantic {}
extension Int16: ValueSemantic {}
extension Int32: ValueSemantic {}
extension Int64: ValueSemantic {}
extension UInt64: ValueSemantic {}
extension Double: ValueSemantic {}
extension Float: ValueSemantic {}
extension Data: ValueSemantic {}
extension Date: ValueSemantic {}
extension UUID: ValueSemantic {}
extension URL: ValueSemantic {}
extension Decimal: ValueSemantic {}
extension Optional: ValueSemantic where Wrapped: ValueSemantic {}
extension Array: ValueSemantic where Element: ValueSemantic {}
extension Set: ValueSemantic where Element: ValueSemantic {}
extension Dictionary: ValueSemantic where Key: ValueSemantic, Value: ValueSemantic {}

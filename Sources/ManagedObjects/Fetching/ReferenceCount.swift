/// An estimate of an object's reference count; temporary references may be included.
enum ReferenceCount {
    /// Whether at most an object's context and one array of results refer to it.
    ///
    /// Compared with the count of an object in two arrays, because counting may itself retain the object. Unmanaged,
    /// because the caller's reference would count.
    static func isInResultsOnly(_ object: Unmanaged<NSManagedObject>) -> Bool {
        count(object) <= ofTwoHolders
    }

    private final class Probe {}

    private static let ofTwoHolders: UInt = {
        let holder = [Probe()]
        let other = holder.map { $0 }
        let probe = Unmanaged.passUnretained(other[0])
        return withExtendedLifetime((holder, other)) { count(probe) }
    }()

    @inline(never)
    private static func count<Object: AnyObject>(_ object: Unmanaged<Object>) -> UInt {
        object._withUnsafeGuaranteedRef { _getRetainCount($0) }
    }
}

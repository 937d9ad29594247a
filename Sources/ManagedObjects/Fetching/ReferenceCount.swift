/// How many hold an object, as far as it can be known: what holds it for the moment may be counted too.
enum ReferenceCount {
    /// Whether an object is held by its context and one array of results at most.
    ///
    /// Compared with what is counted for an object that two arrays hold, because counting may hold the object itself.
    /// Unmanaged, because the caller's own reference would count.
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

import Foundation

extension Progress {
    /// Sets the number of units; at least one, because outside Apple's platforms Foundation crashes if a total becomes zero that was
    /// another number before.
    package func setTotal(_ count: Int) { totalUnitCount = Int64(max(count, 1)) }

    /// Sets the number of units, of which none is complete. If it is zero, the progress has one unit, which is complete.
    package func begin(_ count: Int) {
        setTotal(count)
        completedUnitCount = count == 0 ? 1 : 0
    }

    /// Throws `CocoaError.userCancelled` if the work has been cancelled.
    package func checkCancelled() throws {
        if isCancelled { throw CocoaError(.userCancelled) }
    }

    /// Reports work that is complete.
    package func complete(_ count: Int) {
        setTotal(count)
        completedUnitCount = totalUnitCount
    }
}

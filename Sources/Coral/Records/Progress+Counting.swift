import Foundation

extension Progress {
    /// Sets the number of units. If it is zero, the progress has one unit, which is complete: outside Apple's
    /// platforms Foundation crashes if a total becomes zero.
    package func begin(_ count: Int) {
        totalUnitCount = Int64(max(count, 1))
        completedUnitCount = count == 0 ? 1 : 0
    }

    /// Throws `CocoaError.userCancelled` if the work has been cancelled.
    package func checkCancelled() throws {
        if isCancelled { throw CocoaError(.userCancelled) }
    }

    /// Reports work that is complete.
    func complete(_ count: Int) {
        totalUnitCount = Int64(max(count, 1))
        completedUnitCount = totalUnitCount
    }
}

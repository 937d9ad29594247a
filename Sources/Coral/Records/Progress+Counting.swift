import Foundation

extension Progress {
    /// Begins to count. What has nothing to count is one step, which is done: off Apple's platforms Foundation stops the program
    /// when a total becomes zero.
    func begin(_ count: Int) {
        totalUnitCount = Int64(max(count, 1))
        completedUnitCount = count == 0 ? 1 : 0
    }

    /// Counts something that is done all at once.
    func complete(_ count: Int) {
        totalUnitCount = Int64(max(count, 1))
        completedUnitCount = totalUnitCount
    }
}

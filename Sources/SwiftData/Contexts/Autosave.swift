import Foundation

/// Saves a context after the work that changed it.
final class Autosave {
    /// Whether the context saves by itself.
    var isEnabled: Bool
    private var isScheduled = false
    private let isMain: Bool

    init(isEnabled: Bool) {
        self.isEnabled = isEnabled
        isMain = isEnabled
    }

    /// Schedules a save for the main context. Other contexts have no queue of which it is known when it is idle.
    func noteChange(in context: ModelContext) {
        guard isMain, isEnabled, !isScheduled else { return }
        isScheduled = true
        // Unsafe because a context is not Sendable: the main context is used on the main queue only, which the task runs on.
        nonisolated(unsafe) weak let weakContext = context
        nonisolated(unsafe) let autosave = self
        Task { @MainActor in
            autosave.isScheduled = false
            if let weakContext { autosave.save(weakContext) }
        }
    }

    func save(_ context: ModelContext) {
        guard isEnabled, context.hasChanges else { return }
        do {
            try context.save()
        } catch {
            FileHandle.standardError.write(Data("SwiftData: The context could not save by itself: \(error)\n".utf8))
        }
    }
}

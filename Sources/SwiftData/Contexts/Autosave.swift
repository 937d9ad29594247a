import Foundation

/// Saves a context after the work that changed it.
final class Autosave {
    /// Whether the context saves by itself.
    var isEnabled: Bool
    private var isScheduled = false
    /// Whether each change has to be noted.
    var notesChanges: Bool { isMain && isEnabled }
    private let isMain: Bool

    init(isEnabled: Bool) {
        self.isEnabled = isEnabled
        isMain = isEnabled
    }

    /// Schedules a save for the main context. Other contexts have no queue of which it is known when it is idle.
    func noteChange(in context: ModelContext) {
        guard notesChanges, !isScheduled else { return }
        isScheduled = true
        let scheduled = Scheduled(autosave: self, context: context)
        Task { @MainActor in
            scheduled.autosave.isScheduled = false
            if let context = scheduled.context { scheduled.autosave.save(context) }
        }
    }

    /// What the task saves.
    private struct Scheduled: @unchecked Sendable {  // because the main context and the task are on the main actor
        let autosave: Autosave
        weak var context: ModelContext?
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

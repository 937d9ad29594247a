import Foundation

/// Records operations so that they can be taken back and done again: Foundation's class, which it lacks off Apple's
/// platforms.
///
/// Operations registered between the outermost ``beginUndoGrouping()`` and ``endUndoGrouping()`` are taken back
/// together. Without a run loop there is no end of an event that could close a group: an operation registered outside of
/// any group is a group of its own.
open class UndoManager: NSObject, @unchecked Sendable {  // because it belongs to whoever registers with it
    private struct Operation {
        weak var target: AnyObject?
        var perform: () -> Void
    }

    private struct Group {
        var name = ""
        var operations: [Operation] = []
    }

    private var undoGroups: [Group] = []
    private var redoGroups: [Group] = []
    private var openGroups: [Group] = []
    private var disabledCount = 0
    /// Whether a step is being taken back.
    open private(set) var isUndoing = false
    /// Whether a step is being done again.
    open private(set) var isRedoing = false
    /// How many groups are kept; 0 is no limit.
    open var levelsOfUndo = 0 {
        didSet { trim() }
    }
    /// Whether all that is registered in one event is one step.
    open var groupsByEvent = true

    public override init() {}

    /// Whether there is a step to take back.
    open var canUndo: Bool { !undoGroups.isEmpty || openGroups.contains { !$0.operations.isEmpty } }
    /// Whether there is a step to do again.
    open var canRedo: Bool { !redoGroups.isEmpty }
    /// The number of groups that are open inside each other.
    open var groupingLevel: Int { openGroups.count }
    /// Whether registrations count.
    open var isUndoRegistrationEnabled: Bool { disabledCount == 0 }
    /// What the step is called that would be taken back; empty where it has no name.
    open var undoActionName: String { undoGroups.last?.name ?? "" }
    /// What the step is called that would be done again; empty where it has no name.
    open var redoActionName: String { redoGroups.last?.name ?? "" }

    /// Ignores registrations until they are enabled as often as they were disabled.
    open func disableUndoRegistration() { disabledCount += 1 }
    /// Takes back one `disableUndoRegistration()`.
    open func enableUndoRegistration() { disabledCount = max(0, disabledCount - 1) }

    /// Opens a group: what is registered until its end is taken back together.
    open func beginUndoGrouping() { openGroups.append(Group()) }

    /// Closes the group that was opened last.
    open func endUndoGrouping() {
        postCheckpoint()
        guard let group = openGroups.popLast() else { return }
        if openGroups.isEmpty {
            close(group)
        } else {
            openGroups[openGroups.count - 1].operations += group.operations
        }
    }

    /// Names the step that is being registered.
    open func setActionName(_ actionName: String) {
        if !openGroups.isEmpty {
            openGroups[openGroups.count - 1].name = actionName
        } else if !undoGroups.isEmpty {
            undoGroups[undoGroups.count - 1].name = actionName
        }
    }

    /// Records what takes an operation back. The target is not kept alive.
    public func registerUndo<Target: AnyObject>(withTarget target: Target, handler: @escaping (Target) -> Void) {
        guard isUndoRegistrationEnabled else { return }
        let operation = Operation(
            target: target,
            perform: { [weak target] in
                if let target { handler(target) }
            })
        if openGroups.isEmpty {
            close(Group(operations: [operation]))
        } else {
            openGroups[openGroups.count - 1].operations.append(operation)
        }
    }

    private func close(_ group: Group) {
        guard !group.operations.isEmpty else { return }
        if isUndoing {
            redoGroups.append(group)
        } else {
            undoGroups.append(group)
            if !isRedoing { redoGroups = [] }
            trim()
        }
    }

    private func trim() {
        if levelsOfUndo > 0, undoGroups.count > levelsOfUndo { undoGroups.removeFirst(undoGroups.count - levelsOfUndo) }
    }

    /// Takes back the last step, and registers what does it again.
    open func undo() {
        postCheckpoint()
        while !openGroups.isEmpty { endUndoGrouping() }
        guard let group = undoGroups.popLast() else { return }
        isUndoing = true
        run(group)
        isUndoing = false
    }

    /// Takes back the last group.
    open func undoNestedGroup() { undo() }

    /// Does the step again that was taken back last.
    open func redo() {
        postCheckpoint()
        guard let group = redoGroups.popLast() else { return }
        isRedoing = true
        run(group)
        isRedoing = false
    }

    /// Asks whoever has something to register that belongs to the open group to do so.
    private func postCheckpoint() {
        NotificationCenter.default.post(name: .NSUndoManagerCheckpoint, object: self)
    }

    private func run(_ group: Group) {
        beginUndoGrouping()
        for operation in group.operations.reversed() { operation.perform() }
        setActionName(group.name)
        endUndoGrouping()
    }

    /// Forgets all steps.
    open func removeAllActions() {
        undoGroups = []
        redoGroups = []
        openGroups = []
    }

    /// Forgets what was registered for a target.
    open func removeAllActions(withTarget target: Any) {
        func without(_ groups: [Group]) -> [Group] {
            groups.compactMap { group in
                var group = group
                group.operations.removeAll { $0.target === target as AnyObject || $0.target == nil }
                return group.operations.isEmpty ? nil : group
            }
        }
        undoGroups = without(undoGroups)
        redoGroups = without(redoGroups)
    }
}

extension Notification.Name {
    /// A group of undo operations is about to end, or to be taken back or done again. The object is the undo manager.
    public static let NSUndoManagerCheckpoint = Notification.Name("NSUndoManagerCheckpointNotification")
}

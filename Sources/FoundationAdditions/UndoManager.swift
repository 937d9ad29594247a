import Foundation

/// Records operations so that they can be undone and redone. A replacement for Foundation's class, which exists on
/// Apple's platforms only.
///
/// Operations registered between the outermost ``beginUndoGrouping()`` and ``endUndoGrouping()`` are undone together.
/// Without a run loop there is no end of an event that could close a group: an operation registered outside of any
/// group is a group of its own.
open class UndoManager: NSObject, @unchecked Sendable {  // because its users confine it to a queue
    fileprivate struct Operation {
        weak var target: AnyObject?
        var perform: () -> Void
    }

    fileprivate struct Group {
        var name = ""
        var operations: [Operation] = []
    }

    private var undoGroups: [Group] = []
    private var redoGroups: [Group] = []
    private var openGroups: [Group] = []

    /// All steps that are registered.
    package struct Steps {
        fileprivate let undo: [Group]
        fileprivate let redo: [Group]
        fileprivate let open: [Group]
    }

    /// Set to discard the steps that work has registered which has failed.
    package final var steps: Steps {
        get { Steps(undo: undoGroups, redo: redoGroups, open: openGroups) }
        set { (undoGroups, redoGroups, openGroups) = (newValue.undo, newValue.redo, newValue.open) }
    }

    private var disabledCount = 0
    /// Whether a step is being undone.
    open private(set) var isUndoing = false
    /// Whether a step is being redone.
    open private(set) var isRedoing = false
    /// The number of groups that are kept; 0 means no limit.
    open var levelsOfUndo = 0 {
        didSet { trim() }
    }
    /// Whether all operations that are registered in one event are one step.
    open var groupsByEvent = true

    public override init() {}

    /// Whether there is a step to undo.
    open var canUndo: Bool { !undoGroups.isEmpty || openGroups.contains { !$0.operations.isEmpty } }
    /// Whether there is a step to redo.
    open var canRedo: Bool { !redoGroups.isEmpty }
    /// The number of open nested groups.
    open var groupingLevel: Int { openGroups.count }
    /// Whether registrations are recorded.
    open var isUndoRegistrationEnabled: Bool { disabledCount == 0 }
    /// The name of the step that would be undone; empty if it has none.
    open var undoActionName: String { undoGroups.last?.name ?? "" }
    /// The name of the step that would be redone; empty if it has none.
    open var redoActionName: String { redoGroups.last?.name ?? "" }

    /// Ignores registrations until they are enabled as often as they were disabled.
    open func disableUndoRegistration() { disabledCount += 1 }
    /// Reverts one `disableUndoRegistration()`.
    open func enableUndoRegistration() { disabledCount = max(0, disabledCount - 1) }

    /// Opens a group: operations that are registered until its end are undone together.
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

    /// Records the operation that undoes another one. The target is not retained.
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

    /// Undoes the last step, and records it for redoing.
    open func undo() {
        postCheckpoint()
        while !openGroups.isEmpty { endUndoGrouping() }
        guard let group = undoGroups.popLast() else { return }
        isUndoing = true
        run(group)
        isUndoing = false
    }

    /// Undoes the last group.
    open func undoNestedGroup() { undo() }

    /// Redoes the step that was undone last.
    open func redo() {
        postCheckpoint()
        guard let group = redoGroups.popLast() else { return }
        isRedoing = true
        run(group)
        isRedoing = false
    }

    /// Lets observers register pending operations that belong to the open group.
    private func postCheckpoint() {
        NotificationCenter.default.post(name: .NSUndoManagerCheckpoint, object: self)
    }

    private func run(_ group: Group) {
        beginUndoGrouping()
        for operation in group.operations.reversed() { operation.perform() }
        setActionName(group.name)
        endUndoGrouping()
    }

    /// Removes all steps.
    open func removeAllActions() {
        undoGroups = []
        redoGroups = []
        openGroups = []
    }

    /// Removes the operations of a target. Open groups stay open.
    open func removeAllActions(withTarget target: Any) {
        func remain(_ groups: [Group]) -> [Group] {
            groups.map { group in
                var group = group
                group.operations.removeAll { $0.target === target as AnyObject || $0.target == nil }
                return group
            }
        }
        undoGroups = remain(undoGroups).filter { !$0.operations.isEmpty }
        redoGroups = remain(redoGroups).filter { !$0.operations.isEmpty }
        openGroups = remain(openGroups)
    }
}

extension Notification.Name {
    /// Posted before a group of undo operations ends, or is undone or redone. The object is the undo manager.
    public static let NSUndoManagerCheckpoint = Notification.Name("NSUndoManagerCheckpointNotification")
}

import CoreData
import ManagedMacros

/// A task, whose steps are chores themselves.
@Managed
public class Chore: NSManagedObject {
    public var title: String?
    public var isDone: Bool
    public var position: Int64
    public var labels: Set<Label>
    public var steps: NSOrderedSet?
    public var whole: Chore?

    /// Whether the chore is expanded in the user interface; not in the model.
    public var isExpanded = false

    /// Whether the chore and all of its steps are done.
    public var isComplete: Bool {
        isDone && (steps?.array as? [Chore] ?? []).allSatisfy(\.isComplete)
    }
}

/// A chore with a due date.
@Managed
public final class Reminder: Chore {
    public var due: Date?
}

/// A tag of chores. Its properties are generated; the class is hand-written.
public class Label: NSManagedObject {
    public override var description: String { name ?? "" }
}

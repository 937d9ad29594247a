import CoreData
import ManagedMacros

/// Something to do, in steps that are chores themselves.
@Managed
public class Chore: NSManagedObject {
    public var title: String?
    public var isDone: Bool
    public var position: Int64
    public var labels: Set<Label>
    public var steps: NSOrderedSet?
    public var whole: Chore?

    /// Shown opened; not in the model.
    public var isExpanded = false

    /// Whether the chore and all of its steps are done.
    public var isComplete: Bool {
        isDone && (steps?.array as? [Chore] ?? []).allSatisfy(\.isComplete)
    }
}

/// A chore with a day on which it is due.
@Managed
public final class Reminder: Chore {
    public var due: Date?
}

/// A word that chores are found by. Its properties are generated; the class is ours.
public class Label: NSManagedObject {
    public override var description: String { name ?? "" }
}

import Foundation
import StoreSupport

/// An actor with a context of its own. The macro `@ModelActor` writes the conformance.
///
/// ```swift
/// @ModelActor
/// actor Archive {
///     func add(_ name: String) throws -> PersistentIdentifier {
///         let trip = Trip(name: name)
///         modelContext.insert(trip)
///         try modelContext.save()
///         return trip.persistentModelID
///     }
/// }
/// ```
public protocol ModelActor: Actor {
    nonisolated var modelExecutor: any ModelExecutor { get }
    nonisolated var modelContainer: ModelContainer { get }
}

extension ModelActor {
    /// The context of the actor.
    public var modelContext: ModelContext { modelExecutor.modelContext }

    /// The executor of the actor: the queue of its context.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        guard let executor = modelExecutor as? any SerialModelExecutor else {
            preconditionFailure("The executor of \(Self.self) must be a SerialModelExecutor.")
        }
        return executor.asUnownedSerialExecutor()
    }

    /// The model with an identifier; nil if the store has none, or it is of another class.
    public subscript<T: PersistentModel>(id: PersistentIdentifier, as as: T.Type) -> T? {
        modelContext.knownModel(for: id) as? T
    }
}

/// Runs the work of a context.
public protocol ModelExecutor: Executor {
    var modelContext: ModelContext { get }
}

/// Runs the work of a context, one job after the other.
public protocol SerialModelExecutor: ModelExecutor, SerialExecutor {}

/// The executor of `@ModelActor`: a serial queue. Like the queues of contexts, those of actors share some threads.
public final class DefaultSerialModelExecutor: SerialModelExecutor,
    @unchecked Sendable  // because the context is used by the jobs of the queue only
{
    public let modelContext: ModelContext
    private let queue = SharedThreadQueue(DispatchQueue(label: "SwiftData.ModelActor"))

    public init(modelContext: ModelContext) { self.modelContext = modelContext }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}

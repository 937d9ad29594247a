import CoreData

/// Finds the objects of a graph: the roots, and the destinations of the followed relationships.
///
/// The walk uses a work list and proceeds generation by generation, so that a chain of a million objects uses no stack, and
/// the objects of one generation are loaded together.
final class GraphWalker {
    private let loader: ObjectLoader
    private let following: (NSManagedObject) throws -> [NSManagedObjectID]
    private let willLoad: (Int) throws -> Void

    /// - Parameter following: The objects that belong to the graph because of a given one. Called once for each object,
    ///   in the order of the walk.
    /// - Parameter willLoad: Called before each batch with the number of objects found so far; throws to cancel.
    init(
        loader: ObjectLoader, willLoad: @escaping (Int) throws -> Void,
        following: @escaping (NSManagedObject) throws -> [NSManagedObjectID]
    ) {
        self.loader = loader
        self.willLoad = willLoad
        self.following = following
    }

    /// Follows the relationships that a shape embeds.
    convenience init(recorder: ObjectRecorder, loader: ObjectLoader, willLoad: @escaping (Int) throws -> Void) {
        self.init(loader: loader, willLoad: willLoad) { object in
            try recorder.plan.plan(for: object.entity).relationships.filter(\.isEmbedded)
                .flatMap { try recorder.targets(of: object, by: $0) }
        }
    }

    /// The IDs of all objects of the graph, roots first, then in the order of the walk. Roots that do not exist are
    /// omitted.
    ///
    /// Cost: for each generation and batch one statement for each entity and each of its to-many relationships. Memory
    /// grows with the number of IDs, not with the contents of objects.
    ///
    /// - Parameter didMiss: Called if roots do not exist, with the first of a batch.
    @discardableResult
    func ids(
        from roots: [NSManagedObjectID], didMiss: (NSManagedObjectID) throws -> Void = { _ in }
    ) throws -> [NSManagedObjectID] {
        var met: Set<NSManagedObjectID> = []
        var order: [NSManagedObjectID] = []
        var generation = roots.filter { met.insert($0).inserted }
        var isOfRoots = true
        while !generation.isEmpty {
            var next: [NSManagedObjectID] = []
            for start in stride(from: 0, to: generation.count, by: loader.batchSize) {
                let batch = Array(generation[start..<min(start + loader.batchSize, generation.count)])
                try willLoad(order.count)
                let loaded = try loader.objects(with: batch)
                let objects = loaded.compactMap { $0 }
                if isOfRoots, objects.count < batch.count, let missing = loaded.firstIndex(where: { $0 == nil }) {
                    try didMiss(batch[missing])
                }
                order += objects.map(\.objectID)
                for object in objects {
                    for target in try following(object) where met.insert(target).inserted { next.append(target) }
                }
            }
            generation = next
            isOfRoots = false
        }
        return order
    }
}

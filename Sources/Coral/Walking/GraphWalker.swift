import CoreData
import Foundation

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

extension NSManagedObject {
    /// The IDs of the objects to which a relationship refers, in the order of an ordered relationship. Creates no
    /// objects; objects that do not exist are included.
    func destinations(of relationship: NSRelationshipDescription) -> [NSManagedObjectID] {
        guard relationship.isTransient else { return objectIDs(forRelationshipNamed: relationship.name) }
        // The store has no rows of a transient relationship.
        switch value(forKey: relationship.name) {
        case let object as NSManagedObject: return [object.objectID]
        case let members as NSOrderedSet: return members.array.compactMap { ($0 as? NSManagedObject)?.objectID }
        case let members as NSSet: return members.allObjects.compactMap { ($0 as? NSManagedObject)?.objectID }
        default: return []
        }
    }
}

/// The primary keys of one entity's rows, as ranges: stores assign consecutive keys, so that a million keys are a few
/// ranges.
struct PrimaryKeyRanges {
    private var ranges: [ClosedRange<Int64>] = []

    /// Adds a key; keys are added in ascending order.
    mutating func append(_ key: Int64) {
        if let last = ranges.last, key <= last.upperBound &+ 1, key > last.upperBound {
            ranges[ranges.count - 1] = last.lowerBound...key
        } else if ranges.last?.contains(key) != true {
            ranges.append(key...key)
        }
    }

    /// Whether there is a row with the key. Cost: logarithmic in the number of ranges.
    func contains(_ key: Int64) -> Bool {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < key { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(key)
    }
}

/// Runs the closure in an autorelease pool on Darwin; other platforms have none.
package func autoreleasing<Result>(_ body: () throws -> Result) rethrows -> Result {
    #if canImport(Darwin)
        try autoreleasepool(invoking: body)
    #else
        try body()
    #endif
}

import Foundation
import Synchronization

/// The option of stores that share connections and mappings. Its value is a ``SharedResources``.
package let SharedResourcesOption = "CoralSharedResources"

/// What the open stores of a pool share: connections to a server, and what depends on the model and the tables alone.
///
/// A resource lasts as long as a store has it. So connections are closed with the last store, and tenants whose tables differ
/// leave nothing behind.
package final class SharedResources: NSObject, Sendable {
    /// The maximum number of connections to one server.
    package let connectionLimit: Int

    private let resources = Mutex<[Key: Resource]>([:])

    private struct Key: Hashable, @unchecked Sendable {  // because its value is
        let value: AnyHashable

        init(_ value: some Hashable & Sendable) { self.value = AnyHashable(value) }
    }

    private struct Resource: Sendable {
        weak var object: (any AnyObject & Sendable)?
    }

    package init(connectionLimit: Int) { self.connectionLimit = connectionLimit }

    /// The number of resources that stores have, and of those that were released since one was added.
    package var count: Int { resources.withLock { $0.count } }

    /// The resource with a key. If no open store has it, it is created.
    package func resource<Object: AnyObject & Sendable>(
        of key: some Hashable & Sendable, create: () throws -> Object
    ) rethrows -> Object {
        let key = Key(key)
        if let shared = resources.withLock({ $0[key]?.object }) as? Object { return shared }
        let created = try create()
        return resources.withLock { resources in
            // Another thread may have created the resource since the lookup above.
            if let shared = resources[key]?.object as? Object { return shared }
            resources = resources.filter { $0.value.object != nil }
            resources[key] = Resource(object: created)
            return created
        }
    }
}

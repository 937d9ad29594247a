import Foundation
import Synchronization

/// The option of stores that share connections and mappings. Its value is a ``SharedResources``.
let SharedResourcesOption = "CoralSharedResources"

/// What the stores of several coordinators share: connections to a server, and what depends on the model alone.
final class SharedResources: NSObject, Sendable {
    /// The maximum number of connections to one server.
    let connectionLimit: Int

    private let resources = Mutex<[Key: any AnyObject & Sendable]>([:])

    private struct Key: Hashable, @unchecked Sendable {  // because its value is
        let value: AnyHashable

        init(_ value: some Hashable & Sendable) { self.value = AnyHashable(value) }
    }

    init(connectionLimit: Int) { self.connectionLimit = connectionLimit }

    /// The resource with a key, which the first store that asks for it makes.
    func resource<Resource: AnyObject & Sendable>(
        of key: some Hashable & Sendable, make: () throws -> Resource
    ) rethrows -> Resource {
        let key = Key(key)
        if let known = resources.withLock({ $0[key] }) as? Resource { return known }
        let made = try make()
        return resources.withLock { resources in
            // Another store may have made it meanwhile.
            if let known = resources[key] as? Resource { return known }
            resources[key] = made
            return made
        }
    }
}

import CoreDataErrors
import Foundation
import ManagedObjects
import Synchronization

/// Gives the requests of a server contexts of many stores with one model: a store for each tenant.
///
///     let tenants = TenantPool(managedObjectModel: model, limit: 20) { tenant in
///         .postgreSQL(url: "postgresql://db/app", schema: "tenant_\(tenant)")
///     }
///
///     let titles = try await tenants.withContext(for: "acme") { context in
///         try context.fetch(Note.fetchRequest()).map(\.title)
///     }
///
/// The first request of a tenant opens its store, which stays open for later ones. If more than ``openLimit`` stores are open, those
/// that have not been used for the longest time are closed. Stores on one server in PostgreSQL share at most ``limit`` connections,
/// and the mapping of the model to tables. At most ``limit`` requests run at the same time, of all tenants together; the others
/// are queued, as by ``ContextPool``.
///
/// Cost of a request whose store is open: that of a ``ContextPool``, and two round trips to the server if the connection was used
/// for another tenant before. An open store takes some kilobytes.
public final class TenantPool: Sendable {
    /// The maximum number of requests that have a context at the same time, and of connections to one server.
    public var limit: Int { requests.limit }

    /// The number of stores that stay open. More are open only while requests use them.
    public let openLimit: Int

    private let model: NSManagedObjectModel
    private let describe: @Sendable (String) throws -> NSPersistentStoreDescription
    private let requests: ContextPool
    let shared: SharedResources
    private let state = Mutex(State())

    /// What a lock guards, with the tenants' own counts.
    private struct State {
        var tenants: [String: Tenant] = [:]
        /// The tenants that no request uses, by the time when the last one left. Entries of earlier times are invalid.
        var unused: [(tenant: Tenant, time: Int)] = []
        /// The number of entries at the beginning of `unused` that have been removed.
        var removedCount = 0
        var time = 0

        mutating func leave(_ tenant: Tenant) {
            time += 1
            tenant.time = time
            unused.append((tenant, time))
            // At least half of the entries are invalid then: the cost is constant for each visit.
            guard unused.count > 2 * tenants.count + 100 else { return }
            unused = unused.dropFirst(removedCount).filter { Self.isValid($0) }
            removedCount = 0
        }

        static func isValid(_ entry: (tenant: Tenant, time: Int)) -> Bool {
            entry.tenant.time == entry.time && entry.tenant.userCount == 0 && !entry.tenant.isRemoved
        }

        mutating func remove(_ tenant: Tenant) {
            tenant.isRemoved = true
            if tenants[tenant.name] === tenant { tenants[tenant.name] = nil }
        }

        /// Removes tenants that no request uses, those that were left first, until at most `count` are open.
        mutating func removeUnused(beyond count: Int) -> [Tenant] {
            var removed: [Tenant] = []
            while tenants.count > count, removedCount < unused.count {
                let entry = unused[removedCount]
                removedCount += 1
                guard Self.isValid(entry) else { continue }
                remove(entry.tenant)
                removed.append(entry.tenant)
            }
            return removed
        }
    }

    /// Creates a pool. No store is opened.
    ///
    /// - Parameters:
    ///   - model: The model of all stores. It cannot be changed afterwards.
    ///   - limit: The maximum number of requests that have a context at the same time, and of connections to one server. Values
    ///     below 1 are treated as 1.
    ///   - openLimit: The number of stores that stay open. A store in a file has connections of its own while it is open.
    ///   - describe: Called when a tenant's store is opened, with the tenant's name. It returns the store's description, or throws an
    ///     error if there is no such tenant. `shouldAddStoreAsynchronously` has no effect.
    public init(
        managedObjectModel model: NSManagedObjectModel, limit: Int = 8, openLimit: Int = 100,
        store describe: @escaping @Sendable (_ tenant: String) throws -> NSPersistentStoreDescription
    ) {
        self.model = model
        self.openLimit = max(openLimit, 0)
        self.describe = describe
        // Not called: each request passes the function that creates its context.
        requests = ContextPool(limit: limit) { NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType) }
        shared = SharedResources(connectionLimit: max(limit, 1))
    }

    /// The number of stores that are open, or are being opened, now.
    public var openCount: Int { state.withLock { $0.tenants.count } }

    /// The number of entries about tenants that no request uses, the invalid ones included.
    var rememberedVisitCount: Int { state.withLock { $0.unused.count } }

    /// Runs a block with a new context of a tenant's store, on the queue of the context, and returns the block's result. See
    /// ``ContextPool/withContext(timeout:isolation:_:)``.
    ///
    /// If the store is not open, the request opens it. Other requests of the tenant wait for this, and try to open it themselves
    /// if it fails. The deadline is checked after the store was opened.
    ///
    /// - Parameters:
    ///   - tenant: The name of the tenant, with which the store's description is asked for.
    ///   - timeout: The maximum time in the queue and in the block together; nil means no limit.
    ///   - isolation: The actor to which the function returns; the caller's by default.
    ///   - block: Work with the context. It runs on the queue of the context.
    /// - Throws: The error of the description, errors of opening the store, and those of
    ///   ``ContextPool/withContext(timeout:isolation:_:)``.
    public func withContext<T>(
        for tenant: String, timeout: Duration? = nil, isolation: isolated (any Actor)? = #isolation,
        _ block: @escaping (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        let visit = Visit(tenant)
        defer { end(visit) }
        return try await requests.withContext(
            timeout: timeout, isolation: isolation, from: { self.begin(visit) }
        ) { context in
            try self.open(visit)
            do {
                return try block(context)
            } catch let error as CocoaError
                where error.code == .persistentStoreIncompatibleVersionHash
                || error.userInfo[MovedStoreURLErrorKey] != nil
            {
                // Another process has migrated or moved the store. A later request asks for its description again.
                self.close(visit.name)
                throw error
            }
        }
    }

    /// Closes a tenant's store, as soon as the requests that use it have ended. A later request asks for the description again: after
    /// the store was moved, or has got another version of the model.
    public func close(_ tenant: String) {
        let unused = state.withLock { state -> Tenant? in
            guard let found = state.tenants[tenant] else { return nil }
            state.remove(found)
            return found.userCount == 0 ? found : nil
        }
        unused?.close()
    }

    /// Accepts no more requests, waits until those that were accepted have ended, and closes all stores.
    package func shutDown() async {
        await requests.shutDown()
        let tenants = state.withLock { state in
            defer { state = State() }
            return Array(state.tenants.values)
        }
        for tenant in tenants { tenant.close() }
    }

    // MARK: - Visits

    /// The use of a tenant by one request.
    private final class Visit: Sendable {
        let name: String
        let tenant = Mutex<Tenant?>(nil)

        init(_ name: String) { self.name = name }
    }

    /// - Returns: A context of the tenant, whose store may not be open yet.
    private func begin(_ visit: Visit) -> NSManagedObjectContext {
        let tenant = state.withLock { state in
            let tenant = state.tenants[visit.name] ?? Tenant(visit.name, model)
            state.tenants[visit.name] = tenant
            tenant.userCount += 1
            return tenant
        }
        visit.tenant.withLock { $0 = tenant }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = tenant.coordinator
        return context
    }

    private func open(_ visit: Visit) throws {
        guard let tenant = visit.tenant.withLock({ $0 }), !tenant.isOpen else { return }
        closeUnused()
        do {
            try tenant.open {
                let description = try describe(visit.name).snapshot()
                description.setOption(shared, forKey: SharedResourcesOption)
                return description
            }
        } catch {
            // A later request asks for the description again.
            state.withLock { $0.remove(tenant) }
            throw error
        }
    }

    private func end(_ visit: Visit) {
        guard let tenant = visit.tenant.withLock({ $0 }) else { return }
        let isToClose = state.withLock { state in
            tenant.userCount -= 1
            guard tenant.userCount == 0, !tenant.isRemoved else { return tenant.userCount == 0 }
            state.leave(tenant)
            return false
        }
        if isToClose { tenant.close() }
        closeUnused()
    }

    private func closeUnused() {
        for unused in state.withLock({ $0.removeUnused(beyond: openLimit) }) { unused.close() }
    }

    /// A tenant with a store that is open, or will be opened by the first request.
    private final class Tenant: @unchecked Sendable {  // because the pool's lock guards the variables
        let name: String
        let coordinator: NSPersistentStoreCoordinator
        var userCount = 0
        /// When the last request left.
        var time = 0
        /// Whether the pool does not have the tenant any more. The last request closes the store.
        var isRemoved = false
        private let opening = Mutex(false)

        init(_ name: String, _ model: NSManagedObjectModel) {
            self.name = name
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        }

        var isOpen: Bool { opening.withLock { $0 } }

        /// Adds the store, unless another request has done so.
        func open(_ describe: () throws -> NSPersistentStoreDescription) throws {
            try opening.withLock { isOpen in
                if isOpen { return }
                let description = try describe()
                description.shouldAddStoreAsynchronously = false
                var failure: (any Error)?
                coordinator.addPersistentStore(with: description) { failure = $1 }
                if let failure { throw failure }
                isOpen = true
            }
        }

        func close() {
            opening.withLock { isOpen in
                for store in coordinator.persistentStores { try? coordinator.remove(store) }
                isOpen = false
            }
        }
    }
}

#if Observability
    import CoreData
    import ServiceLifecycle

    /// Closes the stores of a server's program at its end, in the `ServiceGroup` of its other services.
    ///
    /// At the shutdown the pools accept no more requests. Those that were accepted end, the queued ones too, and then the stores are
    /// removed from their coordinator, which closes their files and connections. Place it before the HTTP server in the list of
    /// services: a group ends its services in reverse order.
    public struct StoreService: Service {
        private let end: @Sendable () async throws -> Void

        /// - Parameters:
        ///   - container: A container whose stores are loaded.
        ///   - pools: All pools of the container.
        public init(_ container: NSPersistentContainer, pools: [ContextPool]) {
            end = {
                for pool in pools { await pool.shutDown() }
                let coordinator = container.persistentStoreCoordinator
                for store in coordinator.persistentStores { try coordinator.remove(store) }
            }
        }

        /// - Parameter tenants: A pool, whose stores are closed.
        public init(_ tenants: TenantPool) { end = { await tenants.shutDown() } }

        /// Waits for the shutdown, or for the cancellation of the task, and closes the stores.
        ///
        /// - Throws: The first error of a store that cannot be closed.
        public func run() async throws {
            // Cancellation ends the waiting with an error: the stores are closed as well.
            try? await gracefulShutdown()
            try await end()
        }
    }
#endif

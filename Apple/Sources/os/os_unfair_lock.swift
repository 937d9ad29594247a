#if canImport(Glibc)
    @_exported import Glibc
#elseif canImport(Musl)
    @_exported import Musl
#elseif canImport(Bionic)
    @_exported import Bionic
#endif

// The C interface of the unfair lock, which packages use where a module `os` can be imported: swift-argument-parser is one. Here the
// lock is a mutex of the system, so that code which chooses between the two by the system, and not by the module, works too. The
// functions are emitted into the modules that call them: such a module imports `os` because it can, and does not link this one.

#if canImport(Glibc) || canImport(Musl) || canImport(Bionic)
    /// A lock. It must not be moved after its first use: allocate it, or make it a stored property of a class.
    public typealias os_unfair_lock = pthread_mutex_t
    public typealias os_unfair_lock_s = os_unfair_lock
    public typealias os_unfair_lock_t = UnsafeMutablePointer<os_unfair_lock>

    /// Locks, and waits for the owner. Locking twice on one thread waits for ever.
    @_alwaysEmitIntoClient
    public func os_unfair_lock_lock(_ lock: os_unfair_lock_t) { pthread_mutex_lock(lock) }

    /// Locks if there is no owner; else returns false.
    @_alwaysEmitIntoClient
    public func os_unfair_lock_trylock(_ lock: os_unfair_lock_t) -> Bool { pthread_mutex_trylock(lock) == 0 }

    @_alwaysEmitIntoClient
    public func os_unfair_lock_unlock(_ lock: os_unfair_lock_t) { pthread_mutex_unlock(lock) }
#endif

import AtomicFiles
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Calls a closure when another coordinator or process has committed a transaction to a store.
///
/// The kernel says when a file of the folder is written to; whether another connection has committed a transaction is
/// then asked of SQLite. Where the kernel cannot watch the folder, SQLite is asked every second. On network file systems the
/// kernel says nothing of what other machines write.
final class StoreWatcher: @unchecked Sendable {  // because only its queue touches what changes
    private let queue: DispatchQueue
    private let names: Set<String>
    private let connection: SQLiteConnection
    private let post: @Sendable () -> Void
    private var source: (any DispatchSourceProtocol)?
    private var version: Int64?
    private var isLooking = false

    /// How long to wait for what else is written, before a look: one transaction writes many pages.
    private static let patience = DispatchTimeInterval.milliseconds(20)

    /// - Parameter queue: Where the closure is called.
    init(url: URL, connection: SQLiteConnection, queue: DispatchQueue, post: @escaping @Sendable () -> Void) {
        let url = url.withoutLinks
        self.queue = queue
        names = [url.lastPathComponent, url.lastPathComponent + "-wal"]
        self.connection = connection
        self.post = post
        version = try? connection.dataVersion()
        if !watch(url.deletingLastPathComponent()) { poll() }
    }

    deinit { source?.cancel() }

    /// Asks SQLite every second.
    private func poll() {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(100))
        timer.setEventHandler { [weak self] in self?.look() }
        timer.resume()
        source = timer
    }

    /// False where the kernel cannot watch the folder.
    private func watch(_ folder: URL) -> Bool {
        #if canImport(Glibc) || canImport(Musl)
            let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            guard descriptor >= 0 else { return false }
            guard inotify_add_watch(descriptor, folder.path, UInt32(IN_MODIFY)) >= 0 else {
                close(descriptor)
                return false
            }
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            source.setEventHandler { [weak self] in self?.readEvents(from: descriptor) }
            source.setCancelHandler { close(descriptor) }
            source.resume()
            self.source = source
            return true
        #else
            return false
        #endif
    }

    #if canImport(Glibc) || canImport(Musl)
        private func readEvents(from descriptor: Int32) {
            var isOurs = false
            withUnsafeTemporaryAllocation(byteCount: 4096, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
                guard let base = buffer.baseAddress else { return }
                while true {
                    let count = read(descriptor, base, buffer.count)
                    guard count > 0 else { return }
                    var offset = 0
                    while offset + MemoryLayout<inotify_event>.size <= count {
                        let event = base.load(fromByteOffset: offset, as: inotify_event.self)
                        let start = offset + MemoryLayout<inotify_event>.size
                        let name = UnsafeRawBufferPointer(start: base + start, count: Int(event.len)).prefix { $0 != 0 }
                        // Where events were lost, ours may be among them.
                        isOurs =
                            isOurs || names.contains(String(decoding: name, as: UTF8.self))
                            || event.mask & UInt32(IN_Q_OVERFLOW) != 0
                        offset = start + Int(event.len)
                    }
                }
            }
            guard isOurs, !isLooking else { return }
            isLooking = true
            queue.asyncAfter(deadline: .now() + Self.patience) { [weak self] in self?.look() }
        }
    #endif

    /// Asks whether others have committed anything.
    private func look() {
        isLooking = false
        guard let now = try? connection.dataVersion(), now != version else { return }
        version = now
        post()
    }
}

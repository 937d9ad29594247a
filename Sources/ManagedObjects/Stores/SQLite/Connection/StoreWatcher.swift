import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Tells when somebody writes to a store's files: another coordinator, or another process.
///
/// The kernel says when a file of the folder is written to; that a transaction has been committed by another connection is
/// then asked of SQLite. Where the kernel cannot watch, only a store's own saves are told.
final class StoreWatcher: @unchecked Sendable {  // because only its queue touches what changes
    private let queue = DispatchQueue(label: "NSPersistentStoreRemoteChange")
    private let names: Set<String>
    private let connection: SQLiteConnection
    private let post: @Sendable () -> Void
    private var source: (any DispatchSourceRead)?
    private var version: Int64?
    private var isLooking = false

    /// How long to wait for what else is written, before a look: one transaction writes many pages.
    private static let patience = DispatchTimeInterval.milliseconds(20)

    init(url: URL, connection: SQLiteConnection, post: @escaping @Sendable () -> Void) {
        let url = url.resolvingLinks
        names = [url.lastPathComponent, url.lastPathComponent + "-wal"]
        self.connection = connection
        self.post = post
        version = try? connection.dataVersion()
        watch(url.deletingLastPathComponent())
    }

    deinit { source?.cancel() }

    /// Tells of a save of the store's own.
    func didWrite() { queue.async(execute: post) }

    private func watch(_ folder: URL) {
        #if canImport(Glibc) || canImport(Musl)
            let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            guard descriptor >= 0 else { return }
            guard inotify_add_watch(descriptor, folder.path, UInt32(IN_MODIFY)) >= 0 else {
                close(descriptor)
                return
            }
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            source.setEventHandler { [weak self] in self?.readEvents(from: descriptor) }
            source.setCancelHandler { close(descriptor) }
            source.resume()
            self.source = source
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
                        isOurs = isOurs || names.contains(String(decoding: name, as: UTF8.self))
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

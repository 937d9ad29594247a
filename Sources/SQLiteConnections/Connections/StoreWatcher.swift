import AtomicFiles
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Calls a closure when another coordinator or process has committed a transaction to a store.
///
/// The kernel reports writes to files of the folder; SQLite is then queried whether another connection has committed a
/// transaction. A transaction is visible only when its writes have reached the disk, which can take a while after the
/// report: SQLite is queried again at growing intervals. If the kernel cannot watch the folder, SQLite is queried every
/// second. On network file systems the kernel does not report writes of other machines.
package final class StoreWatcher: @unchecked Sendable {  // because its state is used only on its queue
    private let queue: DispatchQueue
    private let names: Set<String>
    private let dataVersion: @Sendable () -> Int64?
    private let post: @Sendable () -> Void
    private var source: (any DispatchSourceProtocol)?
    private var version: Int64?
    /// Whether the first query after a report is to come.
    private var isLooking = false
    /// The number of reports that were followed by queries. A later report ends the queries of an earlier one.
    private var round = 0

    /// The milliseconds between a report of the kernel and the first query: one transaction writes many pages.
    private static let delay = 20
    /// The milliseconds before the last query. It comes some 40 seconds after the report, for disks that are very busy.
    private static let longestDelay = 20_480

    /// - Parameters:
    ///   - dataVersion: Returns a number that changes with each commit of another connection.
    ///   - queue: The queue on which the closure is called.
    package init(
        url: URL, queue: DispatchQueue, dataVersion: @escaping @Sendable () -> Int64?,
        post: @escaping @Sendable () -> Void
    ) {
        let url = url.withoutLinks
        self.queue = queue
        names = [url.lastPathComponent, url.lastPathComponent + "-wal"]
        self.dataVersion = dataVersion
        self.post = post
        version = dataVersion()
        if !watch(url.deletingLastPathComponent()) { poll() }
        // The kernel does not report writes before the watch begins.
        queue.async { [weak self] in self?.lookRepeatedly() }
    }

    deinit { source?.cancel() }

    /// Queries SQLite every second.
    private func poll() {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(100))
        timer.setEventHandler { [weak self] in self?.look() }
        timer.resume()
        source = timer
    }

    /// Watches a folder; false if the kernel cannot watch it.
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
                        // If events were lost, the store's may have been among them.
                        isOurs =
                            isOurs || names.contains(String(decoding: name, as: UTF8.self))
                            || event.mask & UInt32(IN_Q_OVERFLOW) != 0
                        offset = start + Int(event.len)
                    }
                }
            }
            guard isOurs, !isLooking else { return }
            lookRepeatedly()
        }
    #endif

    /// Queries SQLite after a report, until there is a commit, the next report, or little hope.
    private func lookRepeatedly() {
        isLooking = true
        round += 1
        look(in: round, after: Self.delay)
    }

    private func look(in round: Int, after delay: Int) {
        queue.asyncAfter(deadline: .now() + .milliseconds(delay)) { [weak self] in
            guard let self, round == self.round else { return }
            isLooking = false
            if !look(), delay < Self.longestDelay { look(in: round, after: 2 * delay) }
        }
    }

    /// Queries SQLite for commits of others; true if there was one.
    @discardableResult
    private func look() -> Bool {
        guard let now = dataVersion(), now != version else { return false }
        version = now
        post()
        return true
    }
}

import Logging
import OSLog
import Testing
import os

/// What the log handler of a test has received.
private final class Lines: @unchecked Sendable {  // because a lock protects the lines
    static let shared = Lines()
    private let lock = NSLock()
    private var lines: [String] = []
    func add(_ line: String) { lock.withLock { lines.append(line) } }
    func of(_ label: String) -> [String] { lock.withLock { lines.filter { $0.hasPrefix(label + " ") } } }

    static let bootstrap: Void = LoggingSystem.bootstrap { label in Handler(label: label) }

    struct Handler: LogHandler {
        let label: String
        var metadata: Logging.Logger.Metadata = [:]
        var logLevel = Logging.Logger.Level.debug
        subscript(metadataKey key: String) -> Logging.Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(
            level: Logging.Logger.Level, message: Logging.Logger.Message, metadata: Logging.Logger.Metadata?,
            source: String, file: String, function: String, line: UInt
        ) {
            Lines.shared.add("\(label) \(level): \(message)")
        }
    }
}

@Suite struct LoggerTests {
    init() { Lines.bootstrap }

    /// https://developer.apple.com/documentation/os/logger
    @Test func messagesHaveLevelsAndPrivateValues() {
        let logger = os.Logger(subsystem: "test", category: "levels")
        let name: String? = "Ada"
        logger.debug("value \(1, privacy: .private)")
        logger.error(
            "\(name, privacy: .public) has \(3, format: .hex, align: .right(columns: 3)) \(0.5, format: .fixed(precision: 2))"
        )
        logger.fault("\(name)")
        logger.log(level: .info, "plain")
        logger.trace("below the handler's level")
        #expect(
            Lines.shared.of("test:levels") == [
                "test:levels debug: value <private>", "test:levels error: Ada has   3 0.50",
                "test:levels critical: Ada", "test:levels info: plain",
            ])
    }

    /// https://developer.apple.com/documentation/os/os_log
    @Test func formatsAreFilled() {
        let log = OSLog(subsystem: "test", category: "formats")
        os_log("%{public}@ of %ld, %{private}@ %.1f%%", log: log, type: .error, "one", 2, "secret", 3.25)
        os_log("%@ and %@", log: log, "first")
        os_log(.info, log: log, "%x", 255)
        os_log("100%", log: log)
        os_log("nothing", log: .disabled)
        #expect(
            Lines.shared.of("test:formats") == [
                "test:formats error: one of 2, <private> 3.2%", "test:formats notice: first and %@",
                "test:formats info: ff", "test:formats notice: 100%",
            ])
    }

    @Test func aLockProtectsItsState() async {
        let lock = OSAllocatedUnfairLock(initialState: 0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { lock.withLock { $0 += 1 } } }
        }
        #expect(lock.withLock { $0 } == 100)
        let plain = OSAllocatedUnfairLock()
        #expect(plain.withLock { plain.lockIfAvailable() } == false)
        #expect(plain.lockIfAvailable())
        plain.unlock()
    }

    /// As packages use it where `canImport(os)` is true: allocated, or as a property of a class.
    @Test func theLockOfCProtectsAValue() async {
        final class Counter: @unchecked Sendable {  // because of the lock
            private let lock = os_unfair_lock_t.allocate(capacity: 1)
            private var own = os_unfair_lock_s()
            private var value = 0

            init() { lock.initialize(to: os_unfair_lock()) }
            deinit { lock.deallocate() }

            func add() -> Int {
                os_unfair_lock_lock(lock)
                defer { os_unfair_lock_unlock(lock) }
                value += 1
                return value
            }

            func trials() -> [Bool] {
                let trials = [os_unfair_lock_trylock(&own), os_unfair_lock_trylock(&own)]
                os_unfair_lock_unlock(&own)
                return trials
            }
        }
        let counter = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { _ = counter.add() } }
        }
        #expect(counter.add() == 101)
        #expect(counter.trials() == [true, false])
    }

    @Test func signpostsHaveNoEffect() {
        let poster = OSSignposter(subsystem: "test", category: .pointsOfInterest)
        let state = poster.beginInterval("save", id: poster.makeSignpostID())
        os_signpost(.event, log: .default, name: "event", "%d", 1)
        poster.endInterval("save", state)
        #expect(poster.withIntervalSignpost("save") { 1 } == 1)
    }

    /// As xctest-dynamic-overlay looks for the image of SwiftUI.
    @Test func noImageOfTheProcessIsListed() {
        let names = (0..<_dyld_image_count()).compactMap { _dyld_get_image_name($0).map(String.init(cString:)) }
        #expect(names.isEmpty)
        #expect(_dyld_get_image_header(0) == nil)
    }

    @Test func anErrorIsACArgument() {
        let error = NSError(domain: "test", code: 1)
        #expect((error as any CVarArg) is NSError)
    }
}

internal import CoreFoundation
import Foundation

/// A port within the process, for code that calls `Port()` on Apple's platforms.
///
///     let port = LocalPort()
///     RunLoop.current.add(port, forMode: .default)
///
/// Data layers wait with such a port for work of another thread: a run loop in which it is scheduled waits until a message is
/// sent to it, and `RunLoop.run(mode:before:)` then returns. The delegate gets the message in that run loop.
///
/// Messages do not leave the process. A run loop keeps the port until it is removed or invalidated.
public final class LocalPort: Port,
    @unchecked Sendable  // because the lock guards the variables
{
    private let lock = NSLock()
    private var source: CFRunLoopSource!
    private var runLoops: [(runLoop: CFRunLoop, mode: RunLoop.Mode)] = []
    private var messages: [(components: NSMutableArray?, sender: Port?)] = []
    private weak var receiver: (any PortDelegate)?
    /// The port itself, while a run loop has it: the program may keep no other reference.
    private var scheduled: LocalPort?

    /// What the source refers to, which may be informed of a message while another thread releases the port.
    private final class Target {
        weak var port: LocalPort?
    }

    /// A valid port, in no run loop.
    public override init() {
        super.init()
        let target = Target()
        target.port = self
        var context = CFRunLoopSourceContext()
        context.info = Unmanaged.passUnretained(target).toOpaque()
        context.retain = { info in
            info.map { UnsafeRawPointer(Unmanaged<Target>.fromOpaque($0).retain().toOpaque()) }
        }
        context.release = { info in
            if let info { Unmanaged<Target>.fromOpaque(info).release() }
        }
        context.perform = { info in
            if let info { Unmanaged<Target>.fromOpaque(info).takeUnretainedValue().port?.deliver() }
        }
        source = CFRunLoopSourceCreate(kCFAllocatorSystemDefault, 0, &context)
    }

    deinit { CFRunLoopSourceInvalidate(source) }

    /// False after ``invalidate()``: messages are not accepted then.
    public override var isValid: Bool { CFRunLoopSourceIsValid(source) }

    /// Removes the port from its run loops, and the messages that were not delivered. Posts `Port.didBecomeInvalidNotification`.
    public override func invalidate() {
        guard isValid else { return }
        CFRunLoopSourceInvalidate(source)
        lock.withLock { (runLoops, messages, scheduled) = ([], [], nil) }
        NotificationCenter.default.post(name: Port.didBecomeInvalidNotification, object: self)
    }

    /// Sets the receiver of the messages, which is not retained.
    public override func setDelegate(_ anObject: (any PortDelegate)?) { lock.withLock { receiver = anObject } }

    /// The receiver of the messages.
    public override func delegate() -> (any PortDelegate)? { lock.withLock { receiver } }

    // MARK: - Run loops

    /// Schedules the port in the run loop of this thread or of the main thread; in another one when that next executes blocks.
    public override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        perform(in: runLoop, mode) { port, loop in
            CFRunLoopAddSource(loop, port.source, mode.name)
            let hasMessages = port.lock.withLock {
                port.runLoops.append((loop, mode))
                port.scheduled = port
                return !port.messages.isEmpty
            }
            if hasMessages { port.signal() }
        }
    }

    /// Removes the port from a run loop: from that of this thread or of the main thread at once.
    public override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
        perform(in: runLoop, mode) { port, loop in
            CFRunLoopRemoveSource(loop, port.source, mode.name)
            port.lock.withLock {
                port.runLoops.removeAll { $0.runLoop === loop && $0.mode == mode }
                if port.runLoops.isEmpty { port.scheduled = nil }
            }
        }
    }

    private func perform(
        in runLoop: RunLoop, _ mode: RunLoop.Mode, _ body: @escaping @Sendable (LocalPort, CFRunLoop) -> Void
    ) {
        if runLoop === RunLoop.current {
            body(self, CFRunLoopGetCurrent())
        } else if runLoop === RunLoop.main {
            body(self, CFRunLoopGetMain())
        } else {
            // Foundation does not say which run loop of Core Foundation this is.
            runLoop.perform(inModes: [mode]) { body(self, CFRunLoopGetCurrent()) }
        }
    }

    // MARK: - Messages

    /// Sends a message to this port. It does not wait, so that it is not too late for any date.
    public override func send(
        before limitDate: Date, components: NSMutableArray?, from receivePort: Port?,
        reserved headerSpaceReserved: Int
    ) -> Bool {
        guard isValid else { return false }
        lock.withLock { messages.append((components, receivePort)) }
        signal()
        return true
    }

    private func signal() {
        CFRunLoopSourceSignal(source)
        for (runLoop, _) in lock.withLock({ runLoops }) { CFRunLoopWakeUp(runLoop) }
    }

    private func deliver() {
        let (waiting, receiver) = lock.withLock {
            let waiting = messages
            messages = []
            return (waiting, self.receiver)
        }
        guard let receiver else { return }
        for (components, sender) in waiting {
            let parts = components?.map { $0 as AnyObject }
            receiver.handle(PortMessage(sendPort: sender, receivePort: self, components: parts))
        }
    }
}

extension RunLoop.Mode {
    fileprivate var name: CFRunLoopMode {
        switch self {
        case .default: kCFRunLoopDefaultMode
        case .common: kCFRunLoopCommonModes
        default: unsafeBitCast(NSString(string: rawValue), to: CFString.self)
        }
    }
}

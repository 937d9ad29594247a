import Dispatch
import Foundation

// Observing the progress of migrations and of other work: `manager.observe(\.migrationProgress) { … }`,
// `progress.observe(\.fractionCompleted) { … }`. A migration manager announces its changes. Foundation's `Progress` does not outside
// Apple's platforms, so its values are compared at short intervals.

extension NSMigrationManager: KeyValueObservable {}

extension KeyValueObservable where Self: NSMigrationManager {
    /// Calls a block whenever the progress of a migration has changed, on the thread that migrates. That the progress is 0 again after
    /// the migration is not announced.
    ///
    /// - Returns: The observation. Keep a reference to it: it ends when it is deallocated.
    public func observe(
        _ keyPath: KeyPath<Self, Float>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, NSKeyValueObservedChange<Float>) -> Void
    ) -> NSKeyValueObservation {
        let observation = NSKeyValueObservation(
            of: self, key: "migrationProgress", options: options, value: { $0[keyPath: keyPath] }, changeHandler)
        add(observation)
        if options.contains(.initial) { observation.didChange?() }
        return observation
    }
}

extension Progress: KeyValueObservable {}

extension KeyValueObservable where Self: Progress {
    /// Calls a block when a property has changed: a hundredth of a second later, on a queue of the observation, and without the values
    /// in between. ``NSKeyValueObservation/invalidate()`` reports a change that has not been reported. There are no calls before changes.
    ///
    /// - Returns: The observation. Keep a reference to it: it ends when it is deallocated.
    @preconcurrency
    public func observe<Value: Equatable>(
        _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        let comparison = ProgressComparison(self, keyPath, options, changeHandler)
        comparison.begin()
        return NSKeyValueObservation { comparison.report() }
    }
}

/// Compares a property of a progress with the value that was reported last.
private final class ProgressComparison<Object: Progress, Value: Equatable>: @unchecked Sendable {
    // Unchecked because the lock guards what changes. Key paths to properties are immutable.
    private weak var progress: Object?
    private let keyPath: KeyPath<Object, Value>
    private let options: NSKeyValueObservingOptions
    private let handler: @Sendable (Object, NSKeyValueObservedChange<Value>) -> Void
    private let timer: any DispatchSourceTimer
    private let lock = NSLock()
    private var reported: Value

    init(
        _ progress: Object, _ keyPath: KeyPath<Object, Value>, _ options: NSKeyValueObservingOptions,
        _ handler: @escaping @Sendable (Object, NSKeyValueObservedChange<Value>) -> Void
    ) {
        (self.progress, self.keyPath, self.options, self.handler) = (progress, keyPath, options, handler)
        reported = progress[keyPath: keyPath]
        timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "CoreData.progress"))
    }

    deinit { timer.cancel() }

    func begin() {
        if options.contains(.initial) { call(old: nil, new: reported) }
        timer.schedule(deadline: .now() + .milliseconds(10), repeating: .milliseconds(10))
        timer.setEventHandler { [weak self] in self?.report() }
        timer.activate()
    }

    /// Calls the block if the value has changed.
    func report() {
        guard let new = progress?[keyPath: keyPath] else { return }
        let old: Value? = lock.withLock {
            guard reported != new else { return nil }
            defer { reported = new }
            return reported
        }
        if let old { call(old: old, new: new) }
    }

    private func call(old: Value?, new: Value) {
        guard let progress else { return }
        handler(
            progress,
            NSKeyValueObservedChange(
                oldValue: options.contains(.old) ? old : nil, newValue: options.contains(.new) ? new : nil,
                isPrior: false))
    }
}

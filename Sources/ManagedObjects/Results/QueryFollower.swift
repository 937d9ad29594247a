import Foundation

/// Computes a value in a context again whenever it may have changed, and writes each different one into the buffer of
/// an iteration.
final class QueryFollower<Value: Sendable & Equatable>: @unchecked Sendable {
    // because the context's queue guards it

    private let context: NSManagedObjectContext
    private let latest: LatestValue<Value>
    private let value: @Sendable (_ context: NSManagedObjectContext, _ othersHaveWritten: Bool) throws -> Value?
    private var last: Value?
    private var following: StoreFollowing?
    private var observers: [any NSObjectProtocol] = []

    /// - Parameters:
    ///   - dependsOnOthers: Whether a save can change the value although the objects changed before the save.
    ///   - concerns: Whether a change of an object can affect the value.
    ///   - value: Returns the value; nil ends the sequence.
    init(
        _ context: NSManagedObjectContext, _ latest: LatestValue<Value>, dependsOnOthers: Bool = false,
        concerns: @escaping @Sendable (NSManagedObject) -> Bool,
        value: @escaping @Sendable (NSManagedObjectContext, Bool) throws -> Value?
    ) {
        (self.context, self.latest, self.value) = (context, latest, value)
        context.followerCount.add(1, ordering: .relaxed)
        var names = [Notification.Name.NSManagedObjectContextObjectsDidChange]
        if dependsOnOthers { names.append(.NSManagedObjectContextDidSave) }
        observers = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) {
                [weak self] notification in
                let userInfo = notification.userInfo ?? [:]
                guard userInfo[NSInvalidatedAllObjectsKey] != nil || userInfo.changedObjects.contains(where: concerns)
                else { return }
                self?.refresh()
            }
        }
        following = StoreFollowing(context) { [weak self] in self?.refresh(othersHaveWritten: true) }
        context.perform { [weak self] in self?.refresh() }
    }

    deinit {
        context.followerCount.subtract(1, ordering: .relaxed)
        for observer in observers { NotificationCenter.default.removeObserver(observer) }
    }

    private func refresh(othersHaveWritten: Bool = false) {
        do {
            guard let value = try value(context, othersHaveWritten) else { return latest.finish() }
            guard value != last else { return }
            last = value
            latest.put(value)
        } catch {
            latest.finish(throwing: error)
        }
    }
}

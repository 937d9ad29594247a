import CoreData
import Foundation

final class Observer: NSObject {
    let center = NotificationCenter.default
    let author: Author
    let progress = Progress(totalUnitCount: 1)

    init(_ author: Author) { self.author = author }

    func begin() {
        center.addObserver(self, selector: #selector(didSave(_:)), name: .NSManagedObjectContextDidSave, object: nil)
        author.addObserver(self, forKeyPath: "name", options: [], context: nil)
        _ = progress.observe(\.fractionCompleted) { _, _ in }
        _ = progress.observe(\.completedUnitCount) { _, _ in }
        _ = progress.observe(\.isFinished) { _, _ in }
        _ = progress.observe(\.isCancelled) { _, _ in }
        _ = center.publisher(for: .NSManagedObjectContextDidSave)
        _ = author.objectWillChange
    }

    func didSave(_ notification: Notification) {}

    override func observeValue(forKeyPath keyPath: String?, of object: Any?, context: UnsafeMutableRawPointer?) {}

    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }

    override class func automaticallyNotifiesObservers(forKey key: String) -> Bool { false }

    func change(_ changes: [NSKeyValueChangeKey: Any]) {}
}

func watch(_ manager: NSMigrationManager) {
    _ = manager.observe(\.migrationProgress) { _, _ in }
}

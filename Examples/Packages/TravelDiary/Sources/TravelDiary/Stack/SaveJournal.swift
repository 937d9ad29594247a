import CoreData
import Foundation

/// Learns of the saves that a journal has recorded.
@objc public protocol SaveJournalDelegate {
    @objc optional func saveJournal(_ journal: SaveJournal, didRecord names: [String])
}

/// The names of new tags and trips by save. What a save inserts is staged when the save begins; a change after that discards it.
public final class SaveJournal: NSObject {
    private let context: NSManagedObjectContext
    private var staged: [String] = []
    /// The names that each save inserted, sorted.
    public private(set) var saves: [[String]] = []
    /// The number of notifications of changes.
    public private(set) var changeCount = 0
    public weak var delegate: SaveJournalDelegate?

    public init(context: NSManagedObjectContext) {
        self.context = context
        super.init()
        let center = NotificationCenter.default
        center.addObserver(
            self, selector: #selector(willSave), name: .NSManagedObjectContextWillSave, object: context)
        center.addObserver(
            self, selector: #selector(objectsDidChange(_:)), name: .NSManagedObjectContextObjectsDidChange,
            object: context)
        center.addObserver(
            self, selector: #selector(didSave), name: .NSManagedObjectContextDidSave, object: context)
    }

    deinit {
        NotificationCenter.default.removeObserver(self)
    }

    /// Records nothing more.
    public func close() {
        NotificationCenter.default.removeObserver(self)
    }

    @objc private func willSave() {
        staged = names(of: context.insertedObjects)
    }

    @objc private func objectsDidChange(_ notification: Notification) {
        changeCount += 1
        staged = []
        // Each object that is reported is complete.
        let inserted = notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
        assert(inserted.allSatisfy { ($0 as? Tag).map { !$0.name.isEmpty } ?? true })
    }

    @objc private func didSave() {
        saves.append(staged)
        delegate?.saveJournal?(self, didRecord: staged)
        staged = []
    }

    private func names(of objects: Set<NSManagedObject>) -> [String] {
        objects.compactMap { ($0 as? Tag)?.name ?? ($0 as? Trip)?.name }.sorted()
    }
}
